"""A quota allows fewer pods than the application has."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from aiopslab.generators.fault.base import fault
from aiopslab.generators.fault.blocked_pods import BlockedPods
from aiopslab.generators.fault.drawn import draw_from
from aiopslab.generators.site import Site


@fault
@dataclass(frozen=True)
class QuotaOnPods(BlockedPods):
    """The platform team limits the namespace to fewer pods than run there; a pod that ends does not come back."""

    limit: int = draw_from(12, 8, 10, 15)
    quota: str = draw_from("team-quota", "namespace-budget", "pods-per-team", "capacity-plan")
    name: ClassVar[str] = "quota_on_pods"
    also_fault_types: ClassVar[tuple[str, ...]] = ("Operation Error",)

    @property
    def causes(self) -> tuple[tuple[str, ...], ...]:
        """The quota."""
        return (("resourcequotas", self.quota),)

    def release(self, site: Site) -> None:
        """Create the quota."""
        site.kubectl(f"create quota {self.quota} --hard=pods={self.limit}")
