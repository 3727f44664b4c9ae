"""Faults by a migration of a database's documents that its callers do not expect."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Final

from aiopslab.apps import Application, Component, Role
from aiopslab.generators.fault.store import StoreFault, empty_caches
from aiopslab.generators.site import Site

LIST: Final = """
db.getMongo().getDBNames().filter(name => !["admin", "config", "local"].includes(name)).forEach(name => {
  const own = db.getSiblingDB(name);
  own.getCollectionNames().forEach(each => print([own[each].count(), name, each].join(" ")));
})
"""


@dataclass(frozen=True)
class MigrationFault(StoreFault):
    """Somebody migrates the largest collection of a database before the release that needs it."""

    roles: ClassVar[tuple[Role, ...]] = ("mongodb",)
    fault_type: ClassVar[str] = "Operation Error"
    also_fault_types: ClassVar[tuple[str, ...]] = ("Dependency Problem", "Code Defect", "Misconfiguration")
    restart_repairs: ClassVar[bool] = True

    @classmethod
    def suits(cls, app: Application, component: Component) -> bool:
        """Return whether users notice when data cannot be found, and write nothing that the migration back would meet."""
        return component.needs_data and not component.written and super().suits(app, component)

    def migrate(self, site: Site, script: str) -> None:
        """Run a script in the database, and empty the caches."""
        site.database(self.target, script)
        empty_caches(site)


def find_collection(site: Site, target: str) -> tuple[str, str]:
    """Return the database and the collection with the most documents; the first of equals."""
    lines = (line.split() for line in site.database(target, LIST).splitlines())
    sizes = {(words[1], words[2]): int(words[0]) for words in lines if len(words) == 3}
    return max(sizes, key=lambda name: sizes[name])
