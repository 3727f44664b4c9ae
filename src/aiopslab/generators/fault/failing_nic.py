"""A node's network card damages packets."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from aiopslab.generators.fault.base import fault
from aiopslab.generators.fault.drawn import draw_from
from aiopslab.generators.fault.node import HardwareFault
from aiopslab.generators.hardware import Defect
from aiopslab.generators.site import Site


@fault
@dataclass(frozen=True)
class FailingNic(HardwareFault):
    """The network card of a node damages a share of the packets that it receives, and drops them."""

    share: float = draw_from(0.3, 0.25, 0.4)
    name: ClassVar[str] = "failing_nic"
    defect: ClassVar[Defect] = "network card"
    fault_type: ClassVar[str] = "Network/Storage Issue"
    also_levels: ClassVar[tuple[str, ...]] = ("Operating System",)

    def strike(self, site: Site, node: str) -> None:
        """Damage packets."""
        site.hardware(node).damage_packets(self.share)
