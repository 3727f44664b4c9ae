"""The password of a database user is changed, and the service that logs in with the old one is forgotten."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from aiopslab.apps import DatabaseUser
from aiopslab.generators.fault.base import fault
from aiopslab.generators.fault.drawn import draw_from
from aiopslab.generators.fault.store import UserFault


@fault
@dataclass(frozen=True)
class RotatedPassword(UserFault):
    """A security team rotates the password of the callers' user in the database only."""

    password: str = draw_from("rT7-kelp-92", "Autumn!2026", "q8Vd3mZp", "n0t-4dmin-anymore", "Xy7.harbour")
    name: ClassVar[str] = "rotated_password"

    def format_change(self, user: DatabaseUser) -> str:
        """Set the new password."""
        return f'db.changeUserPassword("{user.name}", "{self.password}")'

    def format_repair(self, user: DatabaseUser) -> str:
        """Set the password that the callers have."""
        return f'db.changeUserPassword("{user.name}", "{user.password}")'
