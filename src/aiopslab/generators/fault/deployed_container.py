"""Faults of what a Deployment of HotelReservation wants its container to be: an image, a command, a limit, a probe."""

from __future__ import annotations

import json
from abc import abstractmethod
from dataclasses import dataclass
from typing import Any

from aiopslab.generators.fault.base import Fault
from aiopslab.generators.site import Site
from simcloud.kubernetes.api.objects import Object, at


@dataclass(frozen=True)
class DeployedContainerFault(Fault):
    """A service runs as its Deployment says, and the Deployment says something wrong."""

    service: str

    @property
    def concerned(self) -> tuple[tuple[str, str], ...]:
        """The Deployment."""
        return (("deployments.apps", self.service),)

    @abstractmethod
    def is_wrong(self, container: Object) -> bool:
        """Whether that is what a container is wanted to be."""

    def present(self, site: Site) -> bool:
        """Whether it is wanted, or nothing is."""
        found = site.find("deployments.apps", self.service)
        containers = at(found, "spec", "template", "spec", "containers", default=[])
        return not containers or any(map(self.is_wrong, containers))

    def patch(self, site: Site, wanted: dict[str, Any]) -> None:
        """Roll a change of the container out; None takes a setting away."""
        container = {"name": f"hotel-reserv-{self.service}", **wanted}
        body = json.dumps({"spec": {"template": {"spec": {"containers": [container]}}}})
        site.operate(f"kubectl -n {site.namespace} patch deployment {self.service} -p '{body}'")
