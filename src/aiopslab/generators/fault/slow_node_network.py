"""Packets that leave a node are delayed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from aiopslab.generators.fault.base import fault
from aiopslab.generators.fault.drawn import draw_from
from aiopslab.generators.fault.packet_rules import PacketFault
from aiopslab.generators.fault.pod_network import REMOVE, SHOW, does_harm
from aiopslab.generators.site import Site


@fault
@dataclass(frozen=True)
class SlowNodeNetwork(PacketFault):
    """An administrator tries how a node bears a slow network, and leaves the packets that it sends delayed."""

    delay_ms: int = draw_from(250, 400, 700)
    name: ClassVar[str] = "slow_node_network"

    def inject(self, site: Site) -> None:
        """Delay the packets of the first node that runs the target."""
        (node, *_) = site.nodes_of(self.target)
        site.struck_nodes[self.target] = (node,)
        site.node_shell(node, f"tc qdisc replace dev eth0 root netem delay {self.delay_ms}ms")

    def recover(self, site: Site) -> None:
        """Remove the delay."""
        for node in self.machines_at_fault(site):
            site.node_shell(node, REMOVE)

    def present(self, site: Site) -> bool:
        """Return whether a node delays packets."""
        return any(does_harm(site.node_shell(node, SHOW)) for node in site.list_nodes())
