"""A node loses its power."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from aiopslab.generators.fault.base import fault
from aiopslab.generators.fault.node import HardwareFault, list_pods_on
from aiopslab.generators.hardware import Defect
from aiopslab.generators.site import Site


@fault
@dataclass(frozen=True)
class LostNode(HardwareFault):
    """The power supply of a node fails; Kubernetes waits for its pods for five minutes, and for their end for ever."""

    name: ClassVar[str] = "lost_node"
    defect: ClassVar[Defect] = "power"
    fault_type: ClassVar[str] = "Dependency Problem"
    also_fault_types: ClassVar[tuple[str, ...]] = ("Network/Storage Issue", "Operation Error")
    also_levels: ClassVar[tuple[str, ...]] = ("Operating System",)

    def strike(self, site: Site, node: str) -> None:
        """Cut the power."""
        site.hardware(node).lose_power()

    def present(self, site: Site) -> bool:
        """Return whether pods are bound to a node that is off."""
        return any(
            list_pods_on(site, node) and self.is_broken(site, node) for node in self.machines_at_fault(site)
        )
