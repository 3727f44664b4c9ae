"""Faults of packets, and the packet filter rules that operators leave on nodes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from aiopslab.apps import Application, Component
from aiopslab.generators.fault.base import Capability, Layer
from aiopslab.generators.fault.drawn import DrawnFault
from aiopslab.generators.site import Site


@dataclass(frozen=True)
class PacketFault(DrawnFault):
    """Packets of the target are delayed, lost or sent elsewhere, by settings that an operator left on nodes."""

    layer: ClassVar[Layer] = "operating system"
    fault_type: ClassVar[str] = "Network/Storage Issue"
    also_fault_types: ClassVar[tuple[str, ...]] = ("Misconfiguration", "Operation Error")
    needs: ClassVar[tuple[Capability, ...]] = ("node access", "network tools")


@dataclass(frozen=True)
class UnregisteredPacketFault(PacketFault):
    """Such a fault that ends programs before they can leave a registry; applications with one keep stale entries."""

    @classmethod
    def suits(cls, app: Application, component: Component) -> bool:
        """Return whether users notice, and the application has no registry."""
        has_registry = any(other.role == "registry" for other in app.components)
        return not has_registry and super().suits(app, component)


def list_drops(site: Site, node: str) -> list[str]:
    """Return the rules of a node that drop or reject forwarded packets, as ``iptables -S`` prints them."""
    rules = site.node_shell(node, "iptables -S FORWARD").splitlines()
    return [rule for rule in rules if rule.endswith(" -j DROP") or " -j REJECT" in rule]


def delete_rule(site: Site, node: str, rule: str) -> None:
    """Delete a rule as often as a node has it; ``rule`` is its chain and its conditions."""
    site.node_shell(node, f"while iptables -D {rule} 2>/dev/null; do :; done")
