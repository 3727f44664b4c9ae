"""Connections of a component are redirected to a proxy that does not exist."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from aiopslab.apps import Application, Component, Role
from aiopslab.generators.fault.base import fault
from aiopslab.generators.fault.drawn import draw_from
from aiopslab.generators.fault.packet_rules import UnregisteredPacketFault
from aiopslab.generators.site import Site


@fault
@dataclass(frozen=True)
class OrphanedRedirect(UnregisteredPacketFault):
    """A team tries a service mesh: its redirection stays in the network of a component's pods, its proxy does not."""

    port: int = draw_from(15001, 4140, 20000, 15101)
    name: ClassVar[str] = "orphaned_redirect"
    roles: ClassVar[tuple[Role, ...]] = ("service", "front end")
    also_levels: ClassVar[tuple[str, ...]] = ("Virtualization",)
    restart_repairs: ClassVar[bool] = True

    @classmethod
    def suits(cls, app: Application, component: Component) -> bool:
        """Return whether the component cannot work without what it calls."""
        return bool(app.find_needed(component.name)) and super().suits(app, component)

    def inject(self, site: Site) -> None:
        """Add the rule and restart the containers inside their pods, so that they dial again."""
        rule = f"OUTPUT -p tcp -j REDIRECT --to-ports {self.port}"
        site.run_in_networks(self.target, f"iptables -t nat -A {rule}")
        for pod, node in site.places_of(self.target):
            running = f"$(crictl ps -q --label io.kubernetes.pod.name={pod})"
            site.node_shell(node, f"crictl stop -t 2 {running}")

    def recover(self, site: Site) -> None:
        """Remove the rules."""
        site.run_in_networks(self.target, "iptables -t nat -F OUTPUT")

    def present(self, site: Site) -> bool:
        """Return whether a pod's connections are sent elsewhere."""
        rules = site.run_in_networks(self.target, "iptables -t nat -S OUTPUT")
        return any(" -j REDIRECT" in text or " -j DNAT" in text for text in rules)
