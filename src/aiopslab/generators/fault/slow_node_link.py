"""The link of a node is slow."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from aiopslab.generators.fault.base import Capability, fault
from aiopslab.generators.fault.drawn import draw_from
from aiopslab.generators.fault.node import NodeFault
from aiopslab.generators.site import Site


@fault
@dataclass(frozen=True)
class SlowNodeLink(NodeFault):
    """An operator shapes the traffic of a node for a test of another site's distance, and leaves it so."""

    shape: str = draw_from("delay 200ms", "delay 150ms 40ms", "delay 120ms loss 8%", "delay 300ms")
    name: ClassVar[str] = "slow_node_link"
    fault_type: ClassVar[str] = "Network/Storage Issue"
    also_fault_types: ClassVar[tuple[str, ...]] = ("Misconfiguration", "Operation Error")
    needs: ClassVar[tuple[Capability, ...]] = ("node access", "network tools")

    def strike(self, site: Site, node: str) -> None:
        """Shape what leaves the node."""
        site.node_shell(node, f"tc qdisc add dev eth0 root netem {self.shape}")

    def recover(self, site: Site) -> None:
        """Remove the discipline."""
        for node in self.machines_at_fault(site):
            if self.is_broken(site, node):
                site.node_shell(node, "tc qdisc del dev eth0 root")

    def is_broken(self, site: Site, node: str) -> bool:
        """Return whether packets are delayed or lost on purpose."""
        return " netem " in site.node_shell(node, "tc qdisc show dev eth0")
