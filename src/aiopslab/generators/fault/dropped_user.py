"""A database user that a service still needs is dropped."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from aiopslab.apps import DatabaseUser
from aiopslab.generators.fault.base import fault
from aiopslab.generators.fault.store import UserFault, format_roles


@fault
@dataclass(frozen=True)
class DroppedUser(UserFault):
    """An operator tidies up accounts and drops the callers' user."""

    name: ClassVar[str] = "dropped_user"

    def format_change(self, user: DatabaseUser) -> str:
        """Drop the user."""
        return f'db.dropUser("{user.name}")'

    def format_repair(self, user: DatabaseUser) -> str:
        """Create the user again, with its password and its roles."""
        document = f'{{user: "{user.name}", pwd: "{user.password}", roles: {format_roles(user)}}}'
        return f'db.dropUser("{user.name}"); db.createUser({document})'
