"""A node's kernel has leaked its memory for mounts, so no container can be started there.

Running containers continue. A reboot repairs the kernel; other nodes are not affected.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from aiopslab.generators.fault.bad_node import BadNodeFault
from aiopslab.generators.fault.base import GroundTruth, Layer, fault
from aiopslab.generators.site import Site
from simcloud.machine import Machine


@fault
@dataclass(frozen=True)
class KernelFault(BadNodeFault):
    """The kernel of a node that runs a workload of HotelReservation cannot mount anything."""

    name: ClassVar[str] = "kernel_fault"
    layer: ClassVar[Layer] = "operating system"
    kernel_message: ClassVar[str] = "SLUB: Unable to allocate memory"

    @property
    def truth(self) -> GroundTruth:
        """A defect of the kernel; from the workload's view, a dependency problem."""
        return GroundTruth(
            self.workload, "Operating System", "Code Defect", also_fault_types=("Dependency Problem",)
        )

    def machines_at_fault(self, site: Site) -> tuple[str, ...]:
        """Return the broken nodes, including those that were rebooted since."""
        return tuple(
            name
            for name, machine in site.machines.items()
            if self.is_broken(machine) or machine.failed_mounts
        )

    def break_machine(self, machine: Machine) -> None:
        """Make all mounts fail."""
        machine.mounts_exhausted = True

    def is_broken(self, machine: Machine) -> bool:
        """Return whether mounts fail."""
        return machine.mounts_exhausted
