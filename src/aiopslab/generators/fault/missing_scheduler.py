"""A workload names a scheduler that the cluster does not have, so nothing schedules its pods."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from aiopslab.generators.fault.base import fault
from aiopslab.generators.fault.declared import ReleasedFault
from aiopslab.generators.fault.drawn import draw_from
from aiopslab.generators.site import Site


@fault
@dataclass(frozen=True)
class MissingScheduler(ReleasedFault):
    """A team copies the specification of pods from a cluster with a scheduler of its own."""

    scheduler: str = draw_from("volcano", "bin-packer", "batch-scheduler", "cost-aware")
    name: ClassVar[str] = "missing_scheduler"
    fault_type: ClassVar[str] = "Dependency Problem"
    also_fault_types: ClassVar[tuple[str, ...]] = ("Misconfiguration", "Operation Error")

    def release(self, site: Site) -> None:
        """Name the scheduler."""
        site.set_pods(self.target, schedulerName=self.scheduler)
