"""A pod's container gets an image that lacks its program, so it cannot start.

The image is changed in the pod itself, not in its Deployment. So this pod's container keeps failing, while new pods of
the Deployment are healthy.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from aiopslab.generators.fault.base import Fault, GroundTruth, Layer, fault
from aiopslab.generators.site import Site


@fault
@dataclass(frozen=True)
class PodFailure(Fault):
    """An operator changes the image of the wrong pods of HotelReservation by hand."""

    service: str
    image: str = "registry.k8s.io/pause:3.10"
    name: ClassVar[str] = "pod_failure"
    layer: ClassVar[Layer] = "virtualization"
    symptomatic: ClassVar[bool] = True
    restart_repairs: ClassVar[bool] = True

    @property
    def truth(self) -> GroundTruth:
        """An operator's error at the service."""
        return GroundTruth(self.service, "Virtualization", "Operation Error")

    @property
    def concerned(self) -> tuple[tuple[str, str], ...]:
        """No declared objects."""
        return ()

    def inject(self, site: Site) -> None:
        """Set the image of all current pods."""
        pods = f"$(kubectl -n {site.namespace} get pods -l {self._label} -o name)"
        site.operate(f"kubectl -n {site.namespace} set image {pods} hotel-reserv-{self.service}={self.image}")

    def recover(self, site: Site) -> None:
        """Delete the pods, so that the Deployment replaces them."""
        site.operate(f"kubectl -n {site.namespace} delete pods -l {self._label}")

    def present(self, site: Site) -> bool:
        """Return whether a pod has the wrong image."""
        images = f"kubectl -n {site.namespace} get pods -l {self._label} -o jsonpath='{{.items[*].spec.containers[*].image}}'"
        return self.image in site.operate(images).stdout.decode().split()

    @property
    def _label(self) -> str:
        return f"io.kompose.service={self.service}"
