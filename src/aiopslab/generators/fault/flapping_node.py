"""A node loses its power again and again."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from aiopslab.generators.fault.base import Course, fault
from aiopslab.generators.fault.drawn import draw_from
from aiopslab.generators.fault.node import HardwareFault
from aiopslab.generators.hardware import Defect
from aiopslab.generators.site import Site


@fault
@dataclass(frozen=True)
class FlappingNode(HardwareFault):
    """The power supply of a node is failing: the node goes off and boots every few minutes."""

    on_s: float = draw_from(140.0, 110.0, 180.0)
    off_s: float = draw_from(55.0, 40.0, 70.0)
    name: ClassVar[str] = "flapping_node"
    defect: ClassVar[Defect] = "unsteady power"
    course: ClassVar[Course] = "intermittent"
    fault_type: ClassVar[str] = "Dependency Problem"
    also_fault_types: ClassVar[tuple[str, ...]] = ("Network/Storage Issue", "Operation Error")
    also_levels: ClassVar[tuple[str, ...]] = ("Operating System",)

    def strike(self, site: Site, node: str) -> None:
        """Cut the power now, and again whenever the node has run for a while."""
        site.hardware(node).lose_power_often(self.on_s, self.off_s)
