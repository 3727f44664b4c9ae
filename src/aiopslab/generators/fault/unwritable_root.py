"""A database may not write to its root file system, where its socket is."""

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
class UnwritableRoot(ReleasedFault):
    """A team hardens its database, and makes more read-only than its data folder needs."""

    drops: bool = draw_from(True, False)
    name: ClassVar[str] = "unwritable_root"
    roles: ClassVar[tuple[Role, ...]] = ("mongodb",)
    also_fault_types: ClassVar[tuple[str, ...]] = ("Network/Storage Issue", "Operation Error")
    also_levels: ClassVar[tuple[str, ...]] = ("Operating System", "Application")

    def release(self, site: Site) -> None:
        """Roll out the security context, perhaps without privilege escalation."""
        more = {"allowPrivilegeEscalation": False} if self.drops else {}
        site.set_container(self.target, securityContext={"readOnlyRootFilesystem": True, **more})
