"""A service's container is killed again and again: a liveness probe asks at a port where nobody listens."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from aiopslab.generators.fault.base import GroundTruth, Layer, fault
from aiopslab.generators.fault.deployed_container import DeployedContainerFault
from aiopslab.generators.site import Site
from simcloud.kubernetes.api.objects import Object, at


@fault
@dataclass(frozen=True)
class ContainerKill(DeployedContainerFault):
    """Somebody adds a probe to a service of HotelReservation, with a wrong port and no patience."""

    port: int = 8080
    name: ClassVar[str] = "container_kill"
    layer: ClassVar[Layer] = "virtualization"
    symptomatic: ClassVar[bool] = True

    @property
    def truth(self) -> GroundTruth:
        """A wrong setting, at the service."""
        return GroundTruth(self.service, "Virtualization", "Misconfiguration")

    def inject(self, site: Site) -> None:
        """Roll the probe out."""
        probe = {"tcpSocket": {"port": self.port}, "periodSeconds": 5, "failureThreshold": 1}
        self.patch(site, {"livenessProbe": probe})

    def recover(self, site: Site) -> None:
        """Take it away."""
        self.patch(site, {"livenessProbe": None})

    def is_wrong(self, container: Object) -> bool:
        """Whether its probe asks there."""
        return bool(at(container, "livenessProbe", "tcpSocket", "port", default=0) == self.port)
