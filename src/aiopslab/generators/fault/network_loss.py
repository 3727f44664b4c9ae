"""Most packets to a service are lost: a test rule was left in the packet filters of the nodes.

The rule matches the port that the service's pods listen on, so it applies on whichever node they run, and restarting them does
not help. It can be found on the nodes with ``iptables``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from aiopslab.generators.fault.base import Fault, GroundTruth, Layer, fault
from aiopslab.generators.site import Site
from simcloud.kubernetes.api import at
from simcloud.machine.network import packet_filter


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
                f"share is the share of lost packets and must be above 0 and at most 1, not {self.share!r}."
            )

    @property
    def truth(self) -> GroundTruth:
        """A network issue at the service."""
        return GroundTruth(self.service, "Operating System", "Network/Storage Issue")

    @property
    def concerned(self) -> tuple[tuple[str, str], ...]:
        """No declared objects."""
        return ()

    def inject(self, site: Site) -> None:
        """Add the rule on every node."""
        for node in self._list_nodes(site):
            site.operate(f"ssh {node} iptables -A {self._format_rule(site)}")

    def recover(self, site: Site) -> None:
        """Delete the rule on every node."""
        for node in self._list_nodes(site):
            site.operate(f"ssh {node} 'while iptables -D {self._format_rule(site)} 2>/dev/null; do :; done'")

    def present(self, site: Site) -> bool:
        """Return whether a machine drops packets to the service's port, or the port is unknown."""
        port = self._find_port(site)
        filters = [machine.host.namespace.filter for machine in site.machines.values()]
        rules = [
            rule
            for firewall in filters
            if firewall is not None
            for name in packet_filter.CHAINS
            for rule in firewall.chains[name].rules
        ]
        return not port or any(
            rule.verdict == packet_filter.DROP and rule.target_ports == (port, port) for rule in rules
        )

    def _format_rule(self, site: Site) -> str:
        return f"FORWARD -p tcp --dport {self._find_port(site)} -m statistic --mode random --probability {self.share:g} -j DROP"

    def _find_port(self, site: Site) -> int:
        port: int = at(site.find("services", self.service), "spec", "ports", 0, "targetPort", default=0)
        return port

    def _list_nodes(self, site: Site) -> list[str]:
        return site.operate("kubectl get nodes -o name").stdout.decode().replace("node/", "").split()
