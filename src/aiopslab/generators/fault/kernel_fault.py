"""A node's kernel has run out of memory for mounts, which it has lost bit by bit: no container can be started there.

What runs there runs on. A boot makes the kernel well again; another node is well anyway.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from aiopslab.generators.fault.bad_node import BadNodeFault
from aiopslab.generators.fault.base import GroundTruth, Layer, fault
from aiopslab.generators.site import Site
from simcloud.machine.computer import Machine


@fault
@dataclass(frozen=True)
class KernelFault(BadNodeFault):
    """The kernel of the node that a workload of HotelReservation runs on cannot mount anything."""

    name: ClassVar[str] = "kernel_fault"
    layer: ClassVar[Layer] = "operating system"
    told: ClassVar[str] = "SLUB: Unable to allocate memory"

    @property
    def truth(self) -> GroundTruth:
        """A kernel that loses memory is defective; to the workload it is something that it depends on."""
        return GroundTruth(
            self.workload, "Operating System", "Code Defect", also_fault_types=("Dependency Problem",)
        )

    def machines_at_fault(self, site: Site) -> tuple[str, ...]:
        """The bad one, also when somebody has booted it."""
        return tuple(name for name, one in site.machines.items() if self.is_broken(one) or one.failed_mounts)

    def break_machine(self, machine: Machine) -> None:
        """Nothing can be mounted."""
        machine.mounts_exhausted = True

    def is_broken(self, machine: Machine) -> bool:
        """Whether nothing can be mounted."""
        return machine.mounts_exhausted
