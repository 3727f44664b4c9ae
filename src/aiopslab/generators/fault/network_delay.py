"""What a pod sends comes late: the virtual cable between the pod and its node is bad.

It belongs to the pod. Containers that start anew in the pod have it still; a pod that is made anew gets another cable.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar, Final

from aiopslab.generators.fault.base import Fault, GroundTruth, Layer, fault
from aiopslab.generators.site import Site
from simcloud.machine.network.link import Impairment

MOST_S: Final = 3600.0


@fault
@dataclass(frozen=True)
class NetworkDelay(Fault):
    """Every packet that the pods of a service of HotelReservation send is held up."""

    service: str
    delay_s: float = 10.0
    name: ClassVar[str] = "network_delay"
    layer: ClassVar[Layer] = "operating system"
    symptomatic: ClassVar[bool] = True
    restart_repairs: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if not 0 < self.delay_s <= MOST_S:
            raise ValueError(f"delay_s is above 0 and at most {MOST_S:g} seconds, not {self.delay_s!r}.")

    @property
    def truth(self) -> GroundTruth:
        """Trouble of the network, at the service."""
        return GroundTruth(self.service, "Operating System", "Network/Storage Issue")

    @property
    def concerned(self) -> tuple[tuple[str, str], ...]:
        """Nothing that is declared."""
        return ()

    def inject(self, site: Site) -> None:
        """Hold up what leaves the pods that there are."""
        for cable in self._cables(site):
            cable.delay_s = self.delay_s

    def recover(self, site: Site) -> None:
        """Let the Deployment make its pods anew."""
        site.operate(f"kubectl -n {site.namespace} delete pods -l io.kompose.service={self.service}")

    def present(self, site: Site) -> bool:
        """Whether anything that the pods send is held up."""
        return any(cable.delay_s >= self.delay_s for cable in self._cables(site))

    def _cables(self, site: Site) -> Iterator[Impairment]:
        for machine in site.machines.values():
            for container in machine.containers.values():
                if container.name.startswith(f"{self.service}-"):
                    yield container.namespace.impairment
