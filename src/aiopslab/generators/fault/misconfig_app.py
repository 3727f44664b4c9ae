"""A release has a wrong database address built in, so every new pod of the service fails at startup."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from aiopslab.apps.hotelres import BAD_GEO, RELEASE
from aiopslab.generators.fault.base import GroundTruth, Layer, fault
from aiopslab.generators.fault.deployed_container import DeployedContainerFault
from aiopslab.generators.site import Site
from simcloud.kubernetes.api import Object


@fault
@dataclass(frozen=True)
class MisconfigApp(DeployedContainerFault):
    """A bad release of a service of HotelReservation is rolled out."""

    image: str = BAD_GEO
    before: str = RELEASE
    name: ClassVar[str] = "misconfig_app"
    layer: ClassVar[Layer] = "application"

    @property
    def truth(self) -> GroundTruth:
        """A wrong setting inside the service."""
        return GroundTruth(self.service, "Application", "Misconfiguration", also_fault_types=("Code Defect",))

    def inject(self, site: Site) -> None:
        """Roll out the bad release."""
        self._roll_out(site, self.image)

    def recover(self, site: Site) -> None:
        """Roll out the previous release."""
        self._roll_out(site, self.before)

    def is_wrong(self, container: Object) -> bool:
        """Return whether the container runs the bad release."""
        return bool(container["image"] == self.image)

    def _roll_out(self, site: Site, image: str) -> None:
        site.operate(
            f"kubectl -n {site.namespace} set image deployment/{self.service} hotel-reserv-{self.service}={image}"
        )
