"""A service's pods are evicted repeatedly, because their ephemeral storage limit is far too low.

Each time the Deployment creates a new pod, and until that pod is ready and discovered, requests fail.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from aiopslab.generators.fault.base import GroundTruth, Layer, fault
from aiopslab.generators.fault.deployed_container import DeployedContainerFault
from aiopslab.generators.fault.storage_limits import STORAGE, is_reached_by_log
from aiopslab.generators.site import Site
from simcloud.kubernetes.api import Object


@fault
@dataclass(frozen=True)
class PodKill(DeployedContainerFault):
    """An operator limits the ephemeral storage of a service of HotelReservation and mistypes the unit."""

    limit: str = "1Ki"
    name: ClassVar[str] = "pod_kill"
    layer: ClassVar[Layer] = "virtualization"
    symptomatic: ClassVar[bool] = True
    may_return: ClassVar[bool] = True

    @property
    def truth(self) -> GroundTruth:
        """A wrong setting of the service."""
        return GroundTruth(self.service, "Virtualization", "Misconfiguration")

    def inject(self, site: Site) -> None:
        """Roll out the limit."""
        self._set_limit(site, self.limit)

    def recover(self, site: Site) -> None:
        """Remove the limit."""
        self._set_limit(site, None)

    def is_wrong(self, container: Object) -> bool:
        """Return whether the program's log still reaches the limit."""
        return is_reached_by_log(container)

    def _set_limit(self, site: Site, limit: str | None) -> None:
        self.patch(site, {"resources": {"limits": {STORAGE: limit}}})
