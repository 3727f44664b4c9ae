"""Faults in the container spec of a Deployment of HotelReservation: image, command, limits or probes."""

from __future__ import annotations

import json
from abc import abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar

from aiopslab.generators.fault.base import Fault
from aiopslab.generators.site import Site
from simcloud.kubernetes.api import Object, at


@dataclass(frozen=True)
class DeployedContainerFault(Fault):
    """The Deployment of a service specifies its container wrongly."""

    service: str
    declared: ClassVar[bool] = True

    @property
    def concerned(self) -> tuple[tuple[str, str], ...]:
        """The Deployment."""
        return (("deployments.apps", self.service),)

    @abstractmethod
    def is_wrong(self, container: Object) -> bool:
        """Return whether a container spec has the defect."""

    def present(self, site: Site) -> bool:
        """Return whether the Deployment has the defect or is missing."""
        found = site.find("deployments.apps", self.service)
        containers = at(found, "spec", "template", "spec", "containers", default=[])
        return not containers or any(map(self.is_wrong, containers))

    def patch(self, site: Site, changes: dict[str, Any]) -> None:
        """Roll out changes of the container spec; None removes a field."""
        container = {"name": f"hotel-reserv-{self.service}", **changes}
        body = json.dumps({"spec": {"template": {"spec": {"containers": [container]}}}})
        site.operate(f"kubectl -n {site.namespace} patch deployment {self.service} -p '{body}'")
