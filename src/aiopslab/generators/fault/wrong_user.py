"""A database runs as a user that may not read its files."""

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
class WrongUser(ReleasedFault):
    """A team hardens its database, and chooses another user than the owner of its files."""

    user: int = draw_from(1000, 1001, 10001, 65534)
    name: ClassVar[str] = "wrong_user"
    roles: ClassVar[tuple[Role, ...]] = ("mongodb",)
    also_fault_types: ClassVar[tuple[str, ...]] = (
        "Authentication Issue",
        "Network/Storage Issue",
        "Operation Error",
    )
    also_levels: ClassVar[tuple[str, ...]] = ("Operating System", "Application")

    def release(self, site: Site) -> None:
        """Roll out the user."""
        site.set_pods(self.target, securityContext={"runAsUser": self.user, "runAsNonRoot": True})
