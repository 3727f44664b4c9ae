"""A node's disk is worn out: reads succeed, writes fail.

Running containers continue as long as they write nothing; new containers cannot be created. The databases of HotelReservation
keep their data on a file server, so a database that moves to another node keeps its data.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from aiopslab.generators.fault.bad_node import BadNodeFault
from aiopslab.generators.fault.base import GroundTruth, Layer, fault
from simcloud.machine import Machine


@fault
@dataclass(frozen=True)
class DiskWoreout(BadNodeFault):
    """The disk of a node that runs a workload of HotelReservation fails all writes."""

    name: ClassVar[str] = "disk_woreout"
    layer: ClassVar[Layer] = "hardware"
    kernel_message: ClassVar[str] = "I/O error, dev sda"

    @property
    def truth(self) -> GroundTruth:
        """A storage issue under the workload."""
        return GroundTruth(self.workload, "Hardware", "Network/Storage Issue")

    def break_machine(self, machine: Machine) -> None:
        """Make all writes fail."""
        machine.disk.fail_writes = True

    def is_broken(self, machine: Machine) -> bool:
        """Return whether writes fail."""
        return bool(machine.disk.fail_writes)
