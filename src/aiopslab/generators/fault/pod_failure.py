"""A pod's container is given an image that has not got its program: it cannot start, and the Deployment knows nothing of it.

The image is changed at the pod itself, in place. So its container fails again and again, while every pod that the Deployment
makes anew is well.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from aiopslab.generators.fault.base import Fault, GroundTruth, Layer, fault
from aiopslab.generators.site import Site


@fault
@dataclass(frozen=True)
class PodFailure(Fault):
    """Somebody sets the image of a pod of HotelReservation by hand, and means another one."""

    service: str
    image: str = "registry.k8s.io/pause:3.10"
    name: ClassVar[str] = "pod_failure"
    layer: ClassVar[Layer] = "virtualization"
    symptomatic: ClassVar[bool] = True
    restart_repairs: ClassVar[bool] = True

    @property
    def truth(self) -> GroundTruth:
        """An operator's error, at the service."""
        return GroundTruth(self.service, "Virtualization", "Operation Error")

    @property
    def concerned(self) -> tuple[tuple[str, str], ...]:
        """Nothing that is declared."""
        return ()

    def inject(self, site: Site) -> None:
        """Set the image of every pod that there is."""
        pods = f"$(kubectl -n {site.namespace} get pods -l {self._label} -o name)"
        site.operate(f"kubectl -n {site.namespace} set image {pods} hotel-reserv-{self.service}={self.image}")

    def recover(self, site: Site) -> None:
        """Let the Deployment make its pods anew."""
        site.operate(f"kubectl -n {site.namespace} delete pods -l {self._label}")

    def present(self, site: Site) -> bool:
        """Whether a pod has the image."""
        images = f"kubectl -n {site.namespace} get pods -l {self._label} -o jsonpath='{{.items[*].spec.containers[*].image}}'"
        return self.image in site.operate(images).stdout.decode().split()

    @property
    def _label(self) -> str:
        return f"io.kompose.service={self.service}"
