"""A node drops what comes from the pods of other nodes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from aiopslab.generators.fault.base import fault
from aiopslab.generators.fault.drawn import draw_from
from aiopslab.generators.fault.packet_rules import UnregisteredPacketFault, delete_rule, list_drops
from aiopslab.generators.site import Site


@fault
@dataclass(frozen=True)
class PartitionedNode(UnregisteredPacketFault):
    """An administrator tightens the firewall of the node that runs a component and forgets the pods of the other nodes."""

    verb: str = draw_from("-A", "-I")
    name: ClassVar[str] = "partitioned_node"

    def inject(self, site: Site) -> None:
        """Add a rule for the pod range of each other node."""
        (node, *_) = site.nodes_of(self.target)
        site.struck_nodes[self.target] = (node,)
        for other in site.list_nodes():
            if other != node:
                pods = site.run(f"kubectl get node {other} -o jsonpath='{{.spec.podCIDR}}'")
                site.node_shell(node, f"iptables {self.verb} FORWARD -s {pods} -j DROP")

    def recover(self, site: Site) -> None:
        """Delete the rules."""
        for node, rule in list(self._find_rules(site)):
            delete_rule(site, node, rule)

    def present(self, site: Site) -> bool:
        """Return whether a node drops packets of other nodes' pods."""
        return any(True for _ in self._find_rules(site))

    def _find_rules(self, site: Site) -> Iterator[tuple[str, str]]:
        for node in site.list_nodes():
            yield from ((node, rule.removeprefix("-A ")) for rule in list_drops(site, node) if " -s " in rule)
