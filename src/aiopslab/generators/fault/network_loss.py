"""Most packets to a service vanish: a rule that was set on the nodes for a trial, and that nobody took back.

It is a rule of the nodes' packet filters, for the port that the service's pods listen at; so it is met wherever the pods
run, and starting them anew does not help. Whoever looks at the nodes finds it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from aiopslab.generators.fault.base import Fault, GroundTruth, Layer, fault
from aiopslab.generators.site import Site
from simcloud.kubernetes.api.objects import at
from simcloud.machine.network.packet_filter import CHAINS, DROP


@fault
@dataclass(frozen=True)
class NetworkLoss(Fault):
    """A share of the packets to a service is dropped on every node."""

    service: str
    share: float = 0.9
    name: ClassVar[str] = "network_loss"
    layer: ClassVar[Layer] = "operating system"
    symptomatic: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if not 0 < self.share <= 1:
            raise ValueError(
                f"share is the part of the packets that is lost, above 0 and at most 1, not {self.share!r}."
            )

    @property
    def truth(self) -> GroundTruth:
        """Trouble of the network, at the service."""
        return GroundTruth(self.service, "Operating System", "Network/Storage Issue")

    @property
    def concerned(self) -> tuple[tuple[str, str], ...]:
        """Nothing that is declared."""
        return ()

    def inject(self, site: Site) -> None:
        """Set the rule on every node."""
        for node in self._nodes(site):
            site.operate(f"ssh {node} iptables -A {self._rule(site)}")

    def recover(self, site: Site) -> None:
        """Take the rule back, wherever it is."""
        for node in self._nodes(site):
            site.operate(f"ssh {node} 'while iptables -D {self._rule(site)} 2>/dev/null; do :; done'")

    def present(self, site: Site) -> bool:
        """Whether packets to the service's port are dropped on any machine, or nobody can tell which port that is."""
        port = self._port(site)
        filters = [machine.host.namespace.filter for machine in site.machines.values()]
        rules = [
            rule for one in filters if one is not None for name in CHAINS for rule in one.chains[name].rules
        ]
        return not port or any(rule.verdict == DROP and rule.target_ports == (port, port) for rule in rules)

    def _rule(self, site: Site) -> str:
        return f"FORWARD -p tcp --dport {self._port(site)} -m statistic --mode random --probability {self.share:g} -j DROP"

    def _port(self, site: Site) -> int:
        port: int = at(site.find("services", self.service), "spec", "ports", 0, "targetPort", default=0)
        return port

    def _nodes(self, site: Site) -> list[str]:
        return site.operate("kubectl get nodes -o name").stdout.decode().replace("node/", "").split()
