"""A workload asks for a device that no node has."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from aiopslab.generators.fault.base import fault
from aiopslab.generators.fault.declared import ReleasedFault
from aiopslab.generators.fault.drawn import draw_from
from aiopslab.generators.site import Site


@fault
@dataclass(frozen=True)
class MissingDevice(ReleasedFault):
    """A team tries a release that uses an accelerator, in a cluster without any."""

    device: str = draw_from("nvidia.com/gpu", "amd.com/gpu", "intel.com/qat", "smarter-devices/fuse")
    name: ClassVar[str] = "missing_device"
    fault_type: ClassVar[str] = "Dependency Problem"
    also_fault_types: ClassVar[tuple[str, ...]] = ("Misconfiguration", "Operation Error")

    def release(self, site: Site) -> None:
        """Ask for one device."""
        site.set_container(self.target, resources={"limits": {self.device: "1"}})
