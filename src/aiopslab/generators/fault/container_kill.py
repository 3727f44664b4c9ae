"""A service's container is killed repeatedly, because its liveness probe uses a port that nothing listens on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from aiopslab.generators.fault.base import GroundTruth, Layer, fault
from aiopslab.generators.fault.deployed_container import DeployedContainerFault
from aiopslab.generators.fault.probes import RESTARTING, has_failing_probe
from aiopslab.generators.site import Site
from simcloud.kubernetes.api import Object


@fault
@dataclass(frozen=True)
class ContainerKill(DeployedContainerFault):
    """An operator adds a liveness probe with a wrong port to a service of HotelReservation."""

    port: int = 8080
    name: ClassVar[str] = "container_kill"
    layer: ClassVar[Layer] = "virtualization"
    symptomatic: ClassVar[bool] = True
    declared: ClassVar[bool] = False
    may_return: ClassVar[bool] = True

    @property
    def truth(self) -> GroundTruth:
        """A wrong setting of the service."""
        return GroundTruth(self.service, "Virtualization", "Misconfiguration")

    def inject(self, site: Site) -> None:
        """Roll out the probe."""
        probe = {"tcpSocket": {"port": self.port}, "periodSeconds": 5, "failureThreshold": 1}
        self.patch(site, {"livenessProbe": probe})

    def recover(self, site: Site) -> None:
        """Remove the probe."""
        self.patch(site, {"livenessProbe": None})

    def is_wrong(self, container: Object) -> bool:
        """Return whether the container has a probe that may restart it."""
        return any(kind in container for kind in RESTARTING)

    def present(self, site: Site) -> bool:
        """Return whether a probe that restarts the container fails when it is tried now, whatever its delay is."""
        return super().present(site) and has_failing_probe(site, self.service)
