"""A node's kernel has leaked its memory for mounts, so no container can be started there.

Running containers continue. A reboot repairs the kernel; other nodes are not affected.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from aiopslab.generators.fault.bad_node import BadNodeFault
from aiopslab.generators.fault.base import GroundTruth, Layer, fault
from aiopslab.generators.hardware import Defect
from aiopslab.generators.site import Site


@fault
@dataclass(frozen=True)
class KernelFault(BadNodeFault):
    """The kernel of a node that runs a workload of HotelReservation cannot mount anything."""

    name: ClassVar[str] = "kernel_fault"
    layer: ClassVar[Layer] = "operating system"
    defect: ClassVar[Defect] = "mounts"
    kernel_message: ClassVar[str] = "SLUB: Unable to allocate memory"

    @property
    def truth(self) -> GroundTruth:
        """A defect of the kernel; from the workload's view, a dependency problem."""
        return GroundTruth(
            self.workload, "Operating System", "Code Defect", also_fault_types=("Dependency Problem",)
        )

    def break_node(self, site: Site, node: str) -> None:
        """Make all mounts fail."""
        site.hardware(node).exhaust_mounts()
