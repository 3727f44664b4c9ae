"""Pods must not run as root, and their image does."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from aiopslab.apps import Role
from aiopslab.generators.fault.base import fault
from aiopslab.generators.fault.declared import ReleasedFault
from aiopslab.generators.fault.drawn import draw_from
from aiopslab.generators.site import Site


@fault
@dataclass(frozen=True)
class RootForbidden(ReleasedFault):
    """A team hardens its pods, and does not check which user their image has."""

    everywhere: bool = draw_from(True, False)
    name: ClassVar[str] = "root_forbidden"
    roles: ClassVar[tuple[Role, ...]] = ("front end", "service", "mongodb")
    also_fault_types: ClassVar[tuple[str, ...]] = ("Authentication Issue", "Operation Error")

    def release(self, site: Site) -> None:
        """Roll out the security context, of the pods or of their container."""
        change = site.set_pods if self.everywhere else site.set_container
        change(self.target, securityContext={"runAsNonRoot": True})
