"""A LimitRange allows pods less CPU than those of the application ask for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from aiopslab.generators.fault.base import fault
from aiopslab.generators.fault.blocked_pods import BlockedPods
from aiopslab.generators.fault.drawn import draw_from
from aiopslab.generators.site import Site


@fault
@dataclass(frozen=True)
class StrictLimitRange(BlockedPods):
    """The platform team bounds the size of pods; those of the application have larger limits, or none."""

    cpu: str = draw_from("500m", "250m", "400m", "750m")
    limit_range: str = draw_from("pod-sizes", "small-pods", "default-limits", "fair-share")
    name: ClassVar[str] = "strict_limit_range"
    also_fault_types: ClassVar[tuple[str, ...]] = ("Operation Error",)

    @property
    def causes(self) -> tuple[tuple[str, ...], ...]:
        """The LimitRange."""
        return (("limitranges", self.limit_range),)

    def release(self, site: Site) -> None:
        """Create the LimitRange."""
        spec = {"limits": [{"type": "Pod", "max": {"cpu": self.cpu}}]}
        site.add("v1", "LimitRange", self.limit_range, {"spec": spec})
