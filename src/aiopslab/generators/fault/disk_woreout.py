"""A node's disk is worn out where the directory of containerd's snapshots is: its block cannot be read any more.

Everything else on the disk can be read and written, so running containers, the kubelet and containerd continue; new
containers cannot be created. The databases of HotelReservation
keep their data on a file server, so a database that moves to another node keeps its data.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Final

from aiopslab.generators.fault.bad_node import BadNodeFault
from aiopslab.generators.fault.base import GroundTruth, Layer, fault
from aiopslab.generators.hardware import Defect
from aiopslab.generators.site import Site

SNAPSHOTS: Final = "/var/lib/containerd/io.containerd.snapshotter.v1.overlayfs/snapshots"


@fault
@dataclass(frozen=True)
class DiskWoreout(BadNodeFault):
    """The disk of a node that runs a workload of HotelReservation has lost a directory."""

    name: ClassVar[str] = "disk_woreout"
    layer: ClassVar[Layer] = "hardware"
    defect: ClassVar[Defect] = "lost directory"
    kernel_message: ClassVar[str] = "I/O error, dev sda"

    @property
    def truth(self) -> GroundTruth:
        """A storage issue under the workload."""
        return GroundTruth(self.workload, "Hardware", "Network/Storage Issue")

    def break_node(self, site: Site, node: str) -> None:
        """Make the directory of the snapshots unreadable."""
        site.hardware(node).lose_directory(SNAPSHOTS)
