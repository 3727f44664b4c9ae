"""The front door serves only at nodes that run its pods."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from aiopslab.generators.fault.base import fault
from aiopslab.generators.fault.services import FrontDoorFault
from aiopslab.generators.site import Site


@fault
@dataclass(frozen=True)
class LocalTrafficPolicy(FrontDoorFault):
    """A team wants to see the users' own addresses and keeps outside traffic on the node where it arrives."""

    name: ClassVar[str] = "local_traffic_policy"

    def change(self, site: Site) -> None:
        """Set the policy."""
        site.patch("service", self.target, {"spec": {"externalTrafficPolicy": "Local"}})
