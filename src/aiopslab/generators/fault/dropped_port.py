"""A node drops the packets to a component's pod."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from aiopslab.apps import Role
from aiopslab.generators.fault.base import fault
from aiopslab.generators.fault.drawn import draw_from
from aiopslab.generators.fault.packet_rules import PacketFault, delete_rule, list_drops
from aiopslab.generators.site import Site


@fault
@dataclass(frozen=True)
class DroppedPort(PacketFault):
    """An operator cuts a pod off with a rule on its node, to look at it in peace, and forgets the rule."""

    verdict: str = draw_from("DROP", "REJECT")
    name: ClassVar[str] = "dropped_port"
    roles: ClassVar[tuple[Role, ...]] = ("service", "memcached")
    restart_repairs: ClassVar[bool] = True

    def inject(self, site: Site) -> None:
        """Add a rule on the node of each pod."""
        site.struck_nodes[self.target] = tuple(site.nodes_of(self.target))
        for pod, node in site.places_of(self.target):
            address = site.kubectl(f"get pod {pod} -o jsonpath='{{.status.podIP}}'")
            site.node_shell(
                node,
                f"iptables -I FORWARD -d {address} -p tcp --dport {site.get_port(self.target)} -j {self.verdict}",
            )

    def recover(self, site: Site) -> None:
        """Delete the rules."""
        for node, rule in self._find_rules(site):
            delete_rule(site, node, rule)

    def present(self, site: Site) -> bool:
        """Return whether a node drops packets to a present pod."""
        return any(True for _ in self._find_rules(site))

    def _find_rules(self, site: Site) -> Iterator[tuple[str, str]]:
        selector = site.get_selector(self.target)
        addresses = site.kubectl(f"get pods -l {selector} -o jsonpath='{{.items[*].status.podIP}}'").split()
        for node in site.list_nodes():
            for rule in list_drops(site, node):
                if any(f"-d {address}/32 " in rule for address in addresses):
                    yield node, rule.removeprefix("-A ")
