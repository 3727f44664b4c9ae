"""The hypervisor takes most of a node's CPU time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from aiopslab.apps import Role
from aiopslab.generators.fault.base import fault
from aiopslab.generators.fault.drawn import draw_from
from aiopslab.generators.fault.node import HardwareFault
from aiopslab.generators.hardware import Defect
from aiopslab.generators.site import Site


@fault
@dataclass(frozen=True)
class StolenCpu(HardwareFault):
    """A virtual machine beside the node's takes most of the CPU time of their host; the node shows it as steal."""

    share: float = draw_from(0.97, 0.96, 0.98)
    name: ClassVar[str] = "stolen_cpu"
    roles: ClassVar[tuple[Role, ...]] = ("front end", "service")
    defect: ClassVar[Defect] = "stolen cpu"
    fault_type: ClassVar[str] = "Dependency Problem"
    also_fault_types: ClassVar[tuple[str, ...]] = ("Operation Error", "Misconfiguration")
    also_levels: ClassVar[tuple[str, ...]] = ("Virtualization", "Operating System")

    def strike(self, site: Site, node: str) -> None:
        """Steal the time."""
        site.hardware(node).steal_cpu(self.share)
