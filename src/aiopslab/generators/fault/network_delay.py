"""A pod's packets are delayed: the virtual link between the pod and its node is bad.

The link belongs to the pod. Restarted containers of the pod are still affected; a new pod gets a new link.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar, Final

from aiopslab.generators.fault.base import Fault, GroundTruth, Layer, fault
from aiopslab.generators.site import Site
from simcloud.machine.network import Impairment

MAX_DELAY_S: Final = 3600.0


@fault
@dataclass(frozen=True)
class NetworkDelay(Fault):
    """Every packet that the pods of a service of HotelReservation send is delayed."""

    service: str
    delay_s: float = 10.0
    name: ClassVar[str] = "network_delay"
    layer: ClassVar[Layer] = "operating system"
    symptomatic: ClassVar[bool] = True
    restart_repairs: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if not 0 < self.delay_s <= MAX_DELAY_S:
            raise ValueError(
                f"delay_s must be above 0 and at most {MAX_DELAY_S:g} seconds, not {self.delay_s!r}."
            )

    @property
    def truth(self) -> GroundTruth:
        """A network issue at the service."""
        return GroundTruth(self.service, "Operating System", "Network/Storage Issue")

    @property
    def concerned(self) -> tuple[tuple[str, str], ...]:
        """No declared objects."""
        return ()

    def inject(self, site: Site) -> None:
        """Delay the packets of all current pods."""
        for link in self._find_links(site):
            link.delay_s = self.delay_s

    def recover(self, site: Site) -> None:
        """Delete the pods, so that the Deployment replaces them."""
        site.operate(f"kubectl -n {site.namespace} delete pods -l io.kompose.service={self.service}")

    def present(self, site: Site) -> bool:
        """Return whether packets of a pod are delayed."""
        return any(link.delay_s >= self.delay_s for link in self._find_links(site))

    def _find_links(self, site: Site) -> Iterator[Impairment]:
        for machine in site.machines.values():
            for container in machine.containers.values():
                if container.name.startswith(f"{self.service}-"):
                    yield container.namespace.impairment
