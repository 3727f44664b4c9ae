"""A service's pods are killed again and again: they may use next to nothing of their node's disk, and are thrown out for it.

Each time the Deployment makes a new pod, and until that one is found by the others, users are turned away.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import ClassVar

from aiopslab.cluster.api.objects import at
from aiopslab.generators.fault.base import Fault, GroundTruth, Layer, fault
from aiopslab.generators.site import Site

STORAGE = "ephemeral-storage"


@fault
@dataclass(frozen=True)
class PodKill(Fault):
    """Somebody limits what a service of HotelReservation may store, and mistypes the unit."""

    service: str
    limit: str = "1Ki"
    name: ClassVar[str] = "pod_kill"
    layer: ClassVar[Layer] = "virtualization"
    symptomatic: ClassVar[bool] = True

    @property
    def truth(self) -> GroundTruth:
        """A wrong setting, at the service."""
        return GroundTruth(self.service, "Virtualization", "Misconfiguration")

    @property
    def concerned(self) -> tuple[tuple[str, str], ...]:
        """The Deployment."""
        return (("deployments.apps", self.service),)

    def inject(self, site: Site) -> None:
        """Roll the limit out."""
        self._set(site, self.limit)

    def recover(self, site: Site) -> None:
        """Take it away."""
        self._set(site, None)

    def present(self, site: Site) -> bool:
        """Whether the limit is wanted, or nothing is."""
        found = site.find("deployments.apps", self.service)
        containers = at(found, "spec", "template", "spec", "containers", default=[])
        limits = [at(one, "resources", "limits", STORAGE, default="") for one in containers]
        return not containers or self.limit in limits

    def _set(self, site: Site, limit: str | None) -> None:
        container = {"name": f"hotel-reserv-{self.service}", "resources": {"limits": {STORAGE: limit}}}
        patch = json.dumps({"spec": {"template": {"spec": {"containers": [container]}}}})
        site.operate(f"kubectl -n {site.namespace} patch deployment {self.service} -p '{patch}'")
