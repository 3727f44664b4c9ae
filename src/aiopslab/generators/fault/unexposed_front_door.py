"""The front door can no longer be reached from outside."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from aiopslab.generators.fault.base import fault
from aiopslab.generators.fault.services import FrontDoorFault
from aiopslab.generators.site import Site


@fault
@dataclass(frozen=True)
class UnexposedFrontDoor(FrontDoorFault):
    """A security team makes every Service internal, the front door too."""

    name: ClassVar[str] = "unexposed_front_door"

    def change(self, site: Site) -> None:
        """Make the Service internal."""
        kind = {"op": "replace", "path": "/spec/type", "value": "ClusterIP"}
        port = {"op": "remove", "path": "/spec/ports/0/nodePort"}
        site.patch("service", self.target, [kind, port], "json")
