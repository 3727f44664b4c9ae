"""A node's disk is worn out: it can be read, and takes no more writes.

What runs there runs on as long as it writes nothing; containers cannot be made any more. The hotels' databases keep their data
on a file server, so that one that moves has its data again.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from aiopslab.generators.fault.bad_node import BadNodeFault
from aiopslab.generators.fault.base import GroundTruth, Layer, fault
from simcloud.machine.computer import Machine


@fault
@dataclass(frozen=True)
class DiskWoreout(BadNodeFault):
    """The disk of the node that a workload of HotelReservation runs on has come to the end of its life."""

    name: ClassVar[str] = "disk_woreout"
    layer: ClassVar[Layer] = "hardware"
    told: ClassVar[str] = "I/O error, dev sda"

    @property
    def truth(self) -> GroundTruth:
        """Trouble of the storage, under the workload."""
        return GroundTruth(self.workload, "Hardware", "Network/Storage Issue")

    def break_machine(self, machine: Machine) -> None:
        """No write succeeds."""
        machine.disk.fail_writes = True

    def is_broken(self, machine: Machine) -> bool:
        """Whether writes fail."""
        return bool(machine.disk.fail_writes)
