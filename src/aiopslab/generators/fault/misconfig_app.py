"""A release with a wrong address of its database inside: every new pod of the service gives up at its start."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from aiopslab.cluster.api.objects import at
from aiopslab.generators.fault.base import Fault, GroundTruth, Layer, fault
from aiopslab.generators.site import Site
from aiopslab.service.apps.hotelres.images import BAD_GEO, RELEASE


@fault
@dataclass(frozen=True)
class MisconfigApp(Fault):
    """A bad release of a service of HotelReservation is rolled out."""

    service: str
    image: str = BAD_GEO
    before: str = RELEASE
    name: ClassVar[str] = "misconfig_app"
    layer: ClassVar[Layer] = "application"

    @property
    def truth(self) -> GroundTruth:
        """A wrong setting, inside the service."""
        return GroundTruth(self.service, "Application", "Misconfiguration")

    @property
    def concerned(self) -> tuple[tuple[str, str], ...]:
        """The Deployment."""
        return (("deployments.apps", self.service),)

    def inject(self, site: Site) -> None:
        """Roll the bad release out."""
        self._roll_out(site, self.image)

    def recover(self, site: Site) -> None:
        """Roll the one before out."""
        self._roll_out(site, self.before)

    def present(self, site: Site) -> bool:
        """Whether the bad release is wanted, or nothing is."""
        found = site.find("deployments.apps", self.service)
        containers = at(found, "spec", "template", "spec", "containers", default=[])
        return not containers or any(one["image"] == self.image for one in containers)

    def _roll_out(self, site: Site, image: str) -> None:
        site.operate(
            f"kubectl -n {site.namespace} set image deployment/{self.service} hotel-reserv-{self.service}={image}"
        )
