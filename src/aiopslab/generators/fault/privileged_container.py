"""A container was made privileged to debug something, and stayed so."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from aiopslab.generators.fault.base import fault
from aiopslab.generators.fault.declared import DeclaredFault
from aiopslab.generators.fault.drawn import Purpose
from aiopslab.generators.site import Site


@fault
@dataclass(frozen=True)
class PrivilegedContainer(DeclaredFault):
    """The container of a service runs privileged."""

    name: ClassVar[str] = "privileged_container"
    purpose: ClassVar[Purpose] = "policy"

    def release(self, site: Site) -> None:
        """Make the container privileged."""
        site.set_container(self.target, securityContext={"privileged": True})
