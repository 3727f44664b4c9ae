"""An autoscaler keeps many pods of a service that one pod could serve."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Final

from aiopslab.generators.fault.base import fault
from aiopslab.generators.fault.declared import DeclaredFault
from aiopslab.generators.fault.drawn import Purpose, draw_from
from aiopslab.generators.site import DEPLOYMENTS, Site

AUTOSCALER: Final = "horizontalpodautoscalers.autoscaling"


@fault
@dataclass(frozen=True)
class RunawayAutoscaler(DeclaredFault):
    """A HorizontalPodAutoscaler has a far too high minimum of replicas."""

    least: int = draw_from(7, 8, 9)
    name: ClassVar[str] = "runaway_autoscaler"
    purpose: ClassVar[Purpose] = "cost"

    @property
    def concerned(self) -> tuple[tuple[str, ...], ...]:
        """The autoscaler and the Deployment."""
        return (AUTOSCALER, self.target), (DEPLOYMENTS, self.target)

    def release(self, site: Site) -> None:
        """Request what an autoscaler needs to know, and create it."""
        site.set_container(self.target, resources={"requests": {"cpu": "400m"}})
        site.kubectl(f"autoscale deployment {self.target} --min={self.least} --max=14 --cpu-percent=60")

    def present(self, site: Site) -> bool:
        """Return whether the autoscaler is still as it was created."""
        return site.is_as_injected(AUTOSCALER, self.target)
