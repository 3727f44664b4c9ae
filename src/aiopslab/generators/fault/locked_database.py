"""A database is left locked against writes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from aiopslab.apps import Application, Component, Role
from aiopslab.generators.fault.base import fault
from aiopslab.generators.fault.store import StoreFault
from aiopslab.generators.site import Site


@fault
@dataclass(frozen=True)
class LockedDatabase(StoreFault):
    """A backup script locks a database for a snapshot, and ends without unlocking it."""

    name: ClassVar[str] = "locked_database"
    roles: ClassVar[tuple[Role, ...]] = ("mongodb",)
    fault_type: ClassVar[str] = "Operation Error"
    also_fault_types: ClassVar[tuple[str, ...]] = ("Network/Storage Issue", "Misconfiguration")
    restart_repairs: ClassVar[bool] = True

    @classmethod
    def suits(cls, app: Application, component: Component) -> bool:
        """Return whether users write to it."""
        return component.written and super().suits(app, component)

    def inject(self, site: Site) -> None:
        """Lock the database."""
        site.database(self.target, "db.fsyncLock()")

    def recover(self, site: Site) -> None:
        """Unlock the database, as often as it was locked."""
        site.database(self.target, "while (db.currentOp().fsyncLock) db.fsyncUnlock()")

    def present(self, site: Site) -> bool:
        """Return whether the database is locked."""
        return "true" in site.database(self.target, "print(Boolean(db.currentOp().fsyncLock))").split()
