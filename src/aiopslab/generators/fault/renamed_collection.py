"""A collection of a database has another name than its callers use."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Final

from aiopslab.generators.fault.base import fault
from aiopslab.generators.fault.drawn import draw_from
from aiopslab.generators.fault.migrated_data import MigrationFault, find_collection
from aiopslab.generators.site import Site

EACH: Final = """
db.getMongo().getDBNames().map(name => db.getSiblingDB(name)).forEach(own => {
  own.getCollectionNames().filter(name => name.endsWith("%s")).forEach(name => { %s; });
})
"""
"""Does something with each renamed collection."""


@fault
@dataclass(frozen=True)
class RenamedCollection(MigrationFault):
    """A migration gives a collection the name that the next release will use; the release has not come."""

    suffix: str = draw_from("_v2", "_2026", "_next", "_archive")
    name: ClassVar[str] = "renamed_collection"

    def inject(self, site: Site) -> None:
        """Rename the collection."""
        database, collection = find_collection(site, self.target)
        own = f'db.getSiblingDB("{database}")'
        self.migrate(site, f'{own}["{collection}"].renameCollection("{collection}{self.suffix}")')

    def recover(self, site: Site) -> None:
        """Rename the collection back, in place of one that callers made since."""
        script = f"own[name].renameCollection(name.slice(0, -{len(self.suffix)}), true)"
        self.migrate(site, EACH % (self.suffix, script))

    def present(self, site: Site) -> bool:
        """Return whether a collection has fewer documents than are kept under the other name."""
        now = f"own[name.slice(0, -{len(self.suffix)})]"
        script = EACH % (self.suffix, f"print({now}.count() < own[name].count())")
        return "true" in site.database(self.target, script).split()
