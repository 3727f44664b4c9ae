"""Your own problem in one file: a fault, a family of problems, and an agent that solves one of them.

Run the file directly, or load its problems on the command line:

    python examples/01_own_problem.py
    aiopslab list --load examples/01_own_problem.py
    aiopslab play closed_door-mitigation-1 --load examples/01_own_problem.py

An installed package needs no ``--load``: it names a module like this one as an entry point in the group
``aiopslab.problems``. docs/problems.md explains how to write faults, families and problems.
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
    """A network policy blocks all traffic to a component."""

    component: str
    name: ClassVar[str] = "closed_door"
    layer: ClassVar[Layer] = "virtualization"

    @property
    def truth(self) -> GroundTruth:
        """Return the right answer."""
        return GroundTruth(self.component, "Virtualization", "Misconfiguration")

    @property
    def concerned(self) -> tuple[tuple[str, str], ...]:
        """Return the objects that a repair may change."""
        return (("networkpolicies.networking.k8s.io", "hardening"),)

    def inject(self, site: Site) -> None:
        """Apply the policy from the operators' own host."""
        policy = POLICY.format(target=self.component)
        site.operate(f"kubectl -n {site.namespace} apply -f - <<'END'\n{policy}END")
        # A policy does not cut established connections, so replace the pod.
        site.operate(f"kubectl -n {site.namespace} delete pod -l io.kompose.service={self.component}")

    def recover(self, site: Site) -> None:
        """Undo the fault. Idempotent."""
        site.operate(f"kubectl -n {site.namespace} delete networkpolicy hardening --ignore-not-found")

    def present(self, site: Site) -> bool:
        """Return whether the cause is present, judged by the state of the cluster."""
        return site.find("networkpolicies.networking.k8s.io", "hardening") is not None


FAMILY = Family("closed_door", HotelReservation, (ClosedDoor("recommendation"), ClosedDoor("user")))
"""The problems ``closed_door-detection-1`` to ``closed_door-mitigation-2``."""


class Engineer:
    """A scripted agent. An agent that uses a model has the same single method."""

    lines = (
        'exec_shell("kubectl -n test-hotel-reservation get networkpolicies")',
        'exec_shell("kubectl -n test-hotel-reservation delete networkpolicy hardening")',
        "submit()",
    )

    def __init__(self) -> None:
        self._remaining = iter(self.lines)

    async def get_action(self, state: str) -> str:
        """Return the next action; ``state`` is the last observation."""
        print(state)
        line = next(self._remaining)
        print(f">>> {line}")
        return line


def main() -> None:
    """Run the agent on one of the problems and print the results."""
    orchestrator = Orchestrator(results=None)
    orchestrator.probs.load(__file__)
    orchestrator.init_problem("closed_door-mitigation-1")
    orchestrator.register_agent(Engineer(), name="engineer")
    outcome = asyncio.run(orchestrator.start_problem(max_steps=10))
    print(*outcome["results"]["findings"], sep="\n")
    print(f"success: {outcome['results']['success']}")


if __name__ == "__main__":
    main()
