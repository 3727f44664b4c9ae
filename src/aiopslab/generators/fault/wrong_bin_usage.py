"""A service's pods run another service's program: they look healthy but do not serve the service's calls."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from aiopslab.generators.fault.base import GroundTruth, Layer, fault
from aiopslab.generators.fault.deployed_container import DeployedContainerFault
from aiopslab.generators.site import Site
from simcloud.kubernetes.api import Object


@fault
@dataclass(frozen=True)
class WrongBinUsage(DeployedContainerFault):
    """An operator copies a manifest of HotelReservation, whose image has all programs, and keeps the wrong command."""

    program: str = "geo"
    name: ClassVar[str] = "wrong_bin_usage"
    layer: ClassVar[Layer] = "application"

    @property
    def truth(self) -> GroundTruth:
        """The papers' label; the more obvious one is also accepted."""
        return GroundTruth(
            self.service, "Application", "Network/Storage Issue", also_fault_types=("Misconfiguration",)
        )

    def inject(self, site: Site) -> None:
        """Roll out the wrong command."""
        self._set_command(site, self.program)

    def recover(self, site: Site) -> None:
        """Roll out the right command."""
        self._set_command(site, self.service)

    def is_wrong(self, container: Object) -> bool:
        """Return whether the container runs the wrong program."""
        return container.get("command") == [self.program]

    def _set_command(self, site: Site, program: str) -> None:
        patch = f'[{{"op": "replace", "path": "/spec/template/spec/containers/0/command", "value": ["{program}"]}}]'
        site.operate(f"kubectl -n {site.namespace} patch deployment {self.service} --type=json -p '{patch}'")
