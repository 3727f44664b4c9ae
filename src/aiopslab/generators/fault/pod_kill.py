"""A service's pods are killed again and again: they may use next to nothing of their node's disk, and are thrown out for it.

Each time the Deployment makes a new pod, and until that one is found by the others, users are turned away.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from aiopslab.generators.fault.base import GroundTruth, Layer, fault
from aiopslab.generators.fault.deployed_container import DeployedContainerFault
from aiopslab.generators.site import Site
from simcloud.kubernetes.api.objects import Object, at

STORAGE = "ephemeral-storage"


@fault
@dataclass(frozen=True)
class PodKill(DeployedContainerFault):
    """Somebody limits what a service of HotelReservation may store, and mistypes the unit."""

    limit: str = "1Ki"
    name: ClassVar[str] = "pod_kill"
    layer: ClassVar[Layer] = "virtualization"
    symptomatic: ClassVar[bool] = True

    @property
    def truth(self) -> GroundTruth:
        """A wrong setting, at the service."""
        return GroundTruth(self.service, "Virtualization", "Misconfiguration")

    def inject(self, site: Site) -> None:
        """Roll the limit out."""
        self._set(site, self.limit)

    def recover(self, site: Site) -> None:
        """Take it away."""
        self._set(site, None)

    def is_wrong(self, container: Object) -> bool:
        """Whether it has the limit."""
        return bool(at(container, "resources", "limits", STORAGE, default="") == self.limit)

    def _set(self, site: Site, limit: str | None) -> None:
        self.patch(site, {"resources": {"limits": {STORAGE: limit}}})
