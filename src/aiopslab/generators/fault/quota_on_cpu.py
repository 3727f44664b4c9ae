"""A quota limits the CPU of a namespace to less than its pods may use, or its pods name no limit."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from aiopslab.generators.fault.base import fault
from aiopslab.generators.fault.blocked_pods import BlockedPods
from aiopslab.generators.fault.drawn import draw_from
from aiopslab.generators.site import Site


@fault
@dataclass(frozen=True)
class QuotaOnCpu(BlockedPods):
    """The platform team caps the sum of CPU limits of the namespace, without a look at the limits that its pods have."""

    limit: int = draw_from(6, 4, 8)
    quota: str = draw_from("compute-quota", "cpu-budget", "team-compute", "cost-cap")
    name: ClassVar[str] = "quota_on_cpu"
    also_fault_types: ClassVar[tuple[str, ...]] = ("Operation Error",)

    @property
    def causes(self) -> tuple[tuple[str, ...], ...]:
        """The quota."""
        return (("resourcequotas", self.quota),)

    def release(self, site: Site) -> None:
        """Create the quota."""
        site.kubectl(f"create quota {self.quota} --hard=limits.cpu={self.limit}")
