"""Most packets to a service are lost: a test rule was left in the packet filters of the nodes.

The rule matches the port that the service's pods listen on, so it applies on whichever node they run, and restarting them does
not help. It can be found on the nodes with ``iptables``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from aiopslab.apps import Application, Component
from aiopslab.generators.fault.base import fault
from aiopslab.generators.fault.drawn import draw_from
from aiopslab.generators.fault.packet_rules import PacketFault, delete_rule, list_drops
from aiopslab.generators.site import Site


@fault
@dataclass(frozen=True)
class NetworkLoss(PacketFault):
    """A share of the packets to a service is dropped on every node."""

    share: float = draw_from(0.9, 0.8, 0.95)
    name: ClassVar[str] = "network_loss"
    symptomatic: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if not 0 < self.share <= 1:
            raise ValueError(
                f"share is the share of lost packets and must be above 0 and at most 1, not {self.share!r}."
            )

    @classmethod
    def suits(cls, app: Application, component: Component) -> bool:
        """Return whether the component listens on a port of its own."""
        services = {each["metadata"]["name"]: each for each in app.manifests() if each["kind"] == "Service"}
        ports = {name: _find_port(service) for name, service in services.items()}
        own = ports.get(component.name)
        return super().suits(app, component) and list(ports.values()).count(own) == 1

    def inject(self, site: Site) -> None:
        """Add the rule on every node."""
        for node in site.list_nodes():
            site.node_shell(node, f"iptables -A {self._format_rule(site)}")

    def recover(self, site: Site) -> None:
        """Delete the rule on every node."""
        for node in site.list_nodes():
            delete_rule(site, node, self._format_rule(site))

    def present(self, site: Site) -> bool:
        """Return whether a node drops packets to the service's port, or the port is unknown."""
        port = site.get_port(self.target)
        return not port or any(
            f"--dport {port} " in rule for node in site.list_nodes() for rule in list_drops(site, node)
        )

    def _format_rule(self, site: Site) -> str:
        return f"FORWARD -p tcp --dport {site.get_port(self.target)} -m statistic --mode random --probability {self.share:g} -j DROP"


def _find_port(service: Mapping[str, Any]) -> object:
    """Return the first target port of a Service."""
    first = service["spec"]["ports"][0]
    return first.get("targetPort", first["port"])
