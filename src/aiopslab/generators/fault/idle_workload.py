"""Copies of a workload that were made for a load test were never removed: nothing calls them, and they reserve much."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from aiopslab.generators.fault.base import fault
from aiopslab.generators.fault.declared import DeclaredFault
from aiopslab.generators.fault.drawn import Purpose, draw_from
from aiopslab.generators.site import DEPLOYMENTS, Site
from simcloud.kubernetes.api import at


@fault
@dataclass(frozen=True)
class IdleWorkload(DeclaredFault):
    """A second Deployment of a service idles with many pods."""

    suffix: str = draw_from("blue", "next", "v2")
    pods: int = draw_from(4, 5, 6)
    name: ClassVar[str] = "idle_workload"
    fault_type: ClassVar[str] = "Operation Error"
    purpose: ClassVar[Purpose] = "cost"

    @property
    def concerned(self) -> tuple[tuple[str, ...], ...]:
        """The second Deployment."""
        return ((DEPLOYMENTS, f"{self.target}-{self.suffix}"),)

    def release(self, site: Site) -> None:
        """Create the copy, with pods that only wait."""
        name = self.concerned[0][1]
        site.kubectl(
            f"create deployment {name} --image=busybox:1.36 --replicas={self.pods} -- sleep infinity"
        )
        site.kubectl(f"set resources deployment {name} --requests=cpu=700m,memory=512Mi")

    def present(self, site: Site) -> bool:
        """Return whether the copy has pods."""
        found = site.find(*self.concerned[0])
        return found is not None and at(found, "spec", "replicas", default=1) > 0
