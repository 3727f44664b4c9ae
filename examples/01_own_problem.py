"""A problem of one's own in one file: a fault, the family of problems it makes, and an agent that works on one of them.

Run it as it is, or let the command line find its problems:

    python examples/01_own_problem.py
    aiopslab list --load examples/01_own_problem.py
    aiopslab play closed_door-mitigation-1 --load examples/01_own_problem.py

A package that is installed needs no ``--load``: it names a module like this one as an entry point of the group
``aiopslab.problems``. How faults, families and problems are written is told in docs/problems.md.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import ClassVar

from aiopslab.apps.hotelres import HotelReservation
from aiopslab.generators.fault.base import Fault, GroundTruth, Layer, Site, fault
from aiopslab.orchestrator.orchestrator import Orchestrator
from aiopslab.orchestrator.problems import Family

POLICY = """\
apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata:
  name: hardening
spec:
  podSelector:
    matchLabels:
      io.kompose.service: {target}
  policyTypes: [Ingress]
"""


@fault
@dataclass(frozen=True)
class ClosedDoor(Fault):
    """Somebody hardens the network, and forgets who must be let in."""

    component: str
    name: ClassVar[str] = "closed_door"
    layer: ClassVar[Layer] = "virtualization"

    @property
    def truth(self) -> GroundTruth:
        """What a good engineer would find."""
        return GroundTruth(self.component, "Virtualization", "Misconfiguration")

    @property
    def concerned(self) -> tuple[tuple[str, str], ...]:
        """What a repair may change."""
        return (("networkpolicies.networking.k8s.io", "hardening"),)

    def inject(self, site: Site) -> None:
        """As an operator would: typed, at the operators' own host."""
        policy = POLICY.format(target=self.component)
        site.operate(f"kubectl -n {site.namespace} apply -f - <<'END'\n{policy}END")
        # Connections that stand are let be; those of the new pod are not.
        site.operate(f"kubectl -n {site.namespace} delete pod -l io.kompose.service={self.component}")

    def recover(self, site: Site) -> None:
        """The way back. It may be gone twice."""
        site.operate(f"kubectl -n {site.namespace} delete networkpolicy hardening --ignore-not-found")

    def present(self, site: Site) -> bool:
        """Whether the cause is still there: look at the world, not at what was done."""
        return site.find("networkpolicies.networking.k8s.io", "hardening") is not None


FAMILY = Family("closed_door", HotelReservation, (ClosedDoor("recommendation"), ClosedDoor("user")))
"""Its problems are ``closed_door-detection-1`` to ``closed_door-mitigation-2``."""


class Engineer:
    """An agent that knows what it wants to type. One with a model behind it has the same single method."""

    lines = (
        'exec_shell("kubectl -n test-hotel-reservation get networkpolicies")',
        'exec_shell("kubectl -n test-hotel-reservation delete networkpolicy hardening")',
        "submit()",
    )

    def __init__(self) -> None:
        self._left = iter(self.lines)

    async def get_action(self, state: str) -> str:
        """What to do next; ``state`` is what came of the last thing."""
        print(state)
        line = next(self._left)
        print(f">>> {line}")
        return line


def main() -> None:
    """Pose one of the problems to the agent, and print what it was worth."""
    orchestrator = Orchestrator(results=None)
    orchestrator.probs.load(__file__)
    orchestrator.init_problem("closed_door-mitigation-1")
    orchestrator.register_agent(Engineer(), name="engineer")
    told = asyncio.run(orchestrator.start_problem(max_steps=10))
    print(*told["results"]["findings"], sep="\n")
    print(f"success: {told['results']['success']}")


if __name__ == "__main__":
    main()
