"""A node's disk fails all writes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from aiopslab.generators.fault.base import fault
from aiopslab.generators.fault.node import HardwareFault
from aiopslab.generators.hardware import Defect
from aiopslab.generators.site import Site


@fault
@dataclass(frozen=True)
class ReadOnlyDisk(HardwareFault):
    """The disk of a node fails all writes, so its file system is read-only; a container that crashes does not start again."""

    name: ClassVar[str] = "read_only_disk"
    defect: ClassVar[Defect] = "failed writes"
    fault_type: ClassVar[str] = "Network/Storage Issue"
    also_levels: ClassVar[tuple[str, ...]] = ("Operating System",)

    def inject(self, site: Site) -> None:
        """Break the disk, then let the target's program crash."""
        processes = site.find_processes(self.target)
        super().inject(site)
        for node, pid in processes:
            site.node_shell(node, f"kill -9 {pid}")

    def strike(self, site: Site, node: str) -> None:
        """Break the disk."""
        site.hardware(node).fail_writes()
