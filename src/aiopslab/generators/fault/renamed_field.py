"""The documents of a database have a field under another name than its callers use."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Final

from aiopslab.generators.fault.base import fault
from aiopslab.generators.fault.drawn import draw_from
from aiopslab.generators.fault.migrated_data import MigrationFault, find_collection
from aiopslab.generators.site import Site

MOVE: Final = """
function move(from, to, index) {{
  docs.dropIndex(index.name);
  docs.updateMany({{[from]: {{$exists: true}}}}, {{$rename: {{[from]: to}}}});
  docs.createIndex({{[to]: 1}}, {{unique: Boolean(index.unique)}});
}}
const docs = db.getSiblingDB("{database}")["{collection}"];
"""
"""Renames a field with its index."""
FORTH: Final = """
const index = docs.getIndexes().find(i => i.name !== "_id_"), field = Object.keys(index.key)[0];
move(field, field + "{suffix}", index);
"""
BACK: Final = """
docs.getIndexes().filter(i => Object.keys(i.key)[0].endsWith("{suffix}")).forEach(index => {{
  const field = Object.keys(index.key)[0];
  move(field, field.slice(0, -{length}), index);
}});
"""
COMPARE: Final = """
print(docs.getIndexes().map(i => Object.keys(i.key)[0]).filter(field => field.endsWith("{suffix}")).some(field => (
  docs.find({{[field]: {{$exists: true}}}}).count() > docs.find({{[field.slice(0, -{length})]: {{$exists: true}}}}).count()
)));
"""


@fault
@dataclass(frozen=True)
class RenamedField(MigrationFault):
    """A migration renames the field by which callers find documents, before the release that knows the new name."""

    suffix: str = draw_from("_v2", "_new", "_key", "_ref")
    name: ClassVar[str] = "renamed_field"

    def inject(self, site: Site) -> None:
        """Rename the field that has an index."""
        self.migrate(site, self._format(site, MOVE + FORTH))

    def recover(self, site: Site) -> None:
        """Rename the field back."""
        self.migrate(site, self._format(site, MOVE + BACK))

    def present(self, site: Site) -> bool:
        """Return whether more documents have the new name than the old one."""
        return "true" in site.database(self.target, self._format(site, MOVE + COMPARE)).split()

    def _format(self, site: Site, script: str) -> str:
        database, collection = find_collection(site, self.target)
        names = {"database": database, "collection": collection}
        return script.format(**names, suffix=self.suffix, length=len(self.suffix))
