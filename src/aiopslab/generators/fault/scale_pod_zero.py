"""A workload is scaled to zero, so its Service has no endpoints."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from aiopslab.generators.fault.base import Fault, GroundTruth, Layer, fault
from aiopslab.generators.site import Site
from simcloud.kubernetes.api import at


@fault
@dataclass(frozen=True)
class ScalePodZero(Fault):
    """An operator scales down a workload that is still needed."""

    workload: str
    before: int = 1
    name: ClassVar[str] = "scale_pod_zero"
    layer: ClassVar[Layer] = "virtualization"
    known_as: ClassVar[str] = "scale_pods_to_zero"
    declared: ClassVar[bool] = True

    @property
    def truth(self) -> GroundTruth:
        """An operator's error at the workload."""
        return GroundTruth(self.workload, "Virtualization", "Operation Error")

    @property
    def concerned(self) -> tuple[tuple[str, str], ...]:
        """The Deployment; a repair may have to recreate it."""
        return (("deployments.apps", self.workload),)

    def inject(self, site: Site) -> None:
        """Scale the workload to zero."""
        site.operate(f"kubectl -n {site.namespace} scale deployment/{self.workload} --replicas=0")

    def recover(self, site: Site) -> None:
        """Scale the workload back."""
        site.operate(f"kubectl -n {site.namespace} scale deployment/{self.workload} --replicas={self.before}")

    def present(self, site: Site) -> bool:
        """Return whether the Deployment has zero replicas or is missing."""
        found = site.find("deployments.apps", self.workload)
        return found is None or at(found, "spec", "replicas", default=1) == 0
