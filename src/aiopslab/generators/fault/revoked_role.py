"""A role that a service still needs is revoked from its database user."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from aiopslab.apps import DatabaseUser
from aiopslab.generators.fault.base import fault
from aiopslab.generators.fault.drawn import draw_from
from aiopslab.generators.fault.store import UserFault


@fault
@dataclass(frozen=True)
class RevokedRole(UserFault):
    """An operator reduces the rights of the callers' user, to reading at most."""

    left: str = draw_from("", "read")
    name: ClassVar[str] = "revoked_role"

    def format_change(self, user: DatabaseUser) -> str:
        """Revoke the role for the callers' database; leave the smaller one, if any."""
        role, database = user.roles[-1]
        script = f'db.revokeRolesFromUser("{user.name}", [{{role: "{role}", db: "{database}"}}])'
        smaller = f'; db.grantRolesToUser("{user.name}", [{{role: "{self.left}", db: "{database}"}}])'
        return script + (smaller if self.left else "")

    def format_repair(self, user: DatabaseUser) -> str:
        """Give the user its original roles."""
        role, database = user.roles[-1]
        script = f'db.grantRolesToUser("{user.name}", [{{role: "{role}", db: "{database}"}}])'
        smaller = f'; db.revokeRolesFromUser("{user.name}", [{{role: "{self.left}", db: "{database}"}}])'
        return script + (smaller if self.left else "")
