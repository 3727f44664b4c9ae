"""A workload is scaled to nothing: its Service stays, with nobody behind it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from aiopslab.generators.fault.base import Fault, GroundTruth, Layer, fault
from aiopslab.generators.site import Site
from simcloud.kubernetes.api.objects import at


@fault
@dataclass(frozen=True)
class ScalePodZero(Fault):
    """Somebody saves resources in the wrong place."""

    workload: str
    before: int = 1
    name: ClassVar[str] = "scale_pod_zero"
    layer: ClassVar[Layer] = "virtualization"
    known_as: ClassVar[str] = "scale_pods_to_zero"

    @property
    def truth(self) -> GroundTruth:
        """An operator's error, at the workload."""
        return GroundTruth(self.workload, "Virtualization", "Operation Error")

    @property
    def concerned(self) -> tuple[tuple[str, str], ...]:
        """The Deployment; a repair may have to renew it as a whole."""
        return (("deployments.apps", self.workload),)

    def inject(self, site: Site) -> None:
        """Scale it to zero."""
        site.operate(f"kubectl -n {site.namespace} scale deployment/{self.workload} --replicas=0")

    def recover(self, site: Site) -> None:
        """Scale it to what it had."""
        site.operate(f"kubectl -n {site.namespace} scale deployment/{self.workload} --replicas={self.before}")

    def present(self, site: Site) -> bool:
        """Whether nothing of it is wanted."""
        found = site.find("deployments.apps", self.workload)
        return found is None or at(found, "spec", "replicas", default=1) == 0
