"""A service's container is killed again and again: a liveness probe asks at a port where nobody listens."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, ClassVar

from aiopslab.cluster.api.objects import at
from aiopslab.generators.fault.base import Fault, GroundTruth, Layer, fault
from aiopslab.generators.site import Site


@fault
@dataclass(frozen=True)
class ContainerKill(Fault):
    """Somebody adds a probe to a service of HotelReservation, with a wrong port and no patience."""

    service: str
    port: int = 8080
    name: ClassVar[str] = "container_kill"
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
        """Roll the probe out."""
        self._set(site, {"tcpSocket": {"port": self.port}, "periodSeconds": 5, "failureThreshold": 1})

    def recover(self, site: Site) -> None:
        """Take it away."""
        self._set(site, None)

    def present(self, site: Site) -> bool:
        """Whether the probe asks there, or nothing is wanted at all."""
        found = site.find("deployments.apps", self.service)
        containers = at(found, "spec", "template", "spec", "containers", default=[])
        ports = [at(one, "livenessProbe", "tcpSocket", "port", default=0) for one in containers]
        return not containers or self.port in ports

    def _set(self, site: Site, probe: dict[str, Any] | None) -> None:
        container = {"name": f"hotel-reserv-{self.service}", "livenessProbe": probe}
        patch = json.dumps({"spec": {"template": {"spec": {"containers": [container]}}}})
        site.operate(f"kubectl -n {site.namespace} patch deployment {self.service} -p '{patch}'")
