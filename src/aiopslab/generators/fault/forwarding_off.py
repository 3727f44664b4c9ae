"""A node does not forward packets."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from aiopslab.generators.fault.base import fault
from aiopslab.generators.fault.drawn import draw_from
from aiopslab.generators.fault.node import NodeFault
from aiopslab.generators.site import Site


@fault
@dataclass(frozen=True)
class ForwardingOff(NodeFault):
    """Somebody hardens a node by the book for plain servers and turns forwarding off, which its pods need."""

    setting: str = draw_from("net.ipv4.ip_forward", "net.ipv4.conf.all.forwarding")
    name: ClassVar[str] = "forwarding_off"
    fault_type: ClassVar[str] = "Misconfiguration"
    also_fault_types: ClassVar[tuple[str, ...]] = ("Network/Storage Issue", "Operation Error")

    def strike(self, site: Site, node: str) -> None:
        """Turn forwarding off."""
        site.node_shell(node, f"sysctl -w {self.setting}=0")

    def recover(self, site: Site) -> None:
        """Turn forwarding on."""
        for node in self.machines_at_fault(site):
            site.node_shell(node, "sysctl -w net.ipv4.ip_forward=1")

    def is_broken(self, site: Site, node: str) -> bool:
        """Return whether forwarding is off."""
        return site.node_shell(node, "cat /proc/sys/net/ipv4/ip_forward").strip() == "0"
