"""A quota on memory refuses the pods of a namespace that name no memory limit."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from aiopslab.generators.fault.base import fault
from aiopslab.generators.fault.blocked_pods import BlockedPods
from aiopslab.generators.fault.drawn import draw_from
from aiopslab.generators.site import Site


@fault
@dataclass(frozen=True)
class QuotaOnMemory(BlockedPods):
    """The platform team limits the memory of the namespace generously; from then on every pod must say what it needs."""

    bound: str = draw_from("limits.memory", "requests.memory")
    size: str = draw_from("64Gi", "32Gi", "48Gi", "96Gi")
    quota: str = draw_from("memory-budget", "team-memory", "fair-memory", "ram-quota")
    name: ClassVar[str] = "quota_on_memory"
    also_fault_types: ClassVar[tuple[str, ...]] = ("Operation Error",)

    @property
    def causes(self) -> tuple[tuple[str, ...], ...]:
        """The quota."""
        return (("resourcequotas", self.quota),)

    def release(self, site: Site) -> None:
        """Create the quota."""
        site.kubectl(f"create quota {self.quota} --hard={self.bound}={self.size}")
