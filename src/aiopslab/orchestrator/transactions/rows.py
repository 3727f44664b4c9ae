"""Rows, indexes, users and roles of databases before a command, and how they are restored by the databases' own shells.

Users keep writing while a transaction is open, and their rows must stay. So a database is read before and after each
command of the agent that may change it, and only what differs between the two is taken back: a row that was deleted or
changed is written as it was, one that was inserted is deleted. A user's write within the fraction of a second that such a
command takes counts as part of it.

A database without a volume loses its rows when its pod ends. Its rows are read before objects change; those that are missing
after an undo are inserted again.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Final

from aiopslab.apps import Component
from aiopslab.generators import OperationFailed, Site

ACCOUNTS: Final = 'db.getSiblingDB("admin")'
BATCH_CHARS: Final = 60_000
"""Length of the scripts by which rows are restored: a command line has a limit."""
PAUSES_S: Final = (0, 5, 10, 20)
"""Pauses before each attempt to read a database, whose pod may have to start first."""
_LOGIN: Final = re.compile(r"-u (\S+) -p (\S+)")
_DUMP: Final = r"""
var text = function (value) { return tojson(value, "", true); };
var walk = function (value, path, visit) {
  if (typeof value == "number") return visit(value, path);
  if (Array.isArray(value)) return value.map(function (item) { return walk(item, path, visit); });
  if (value === null || typeof value != "object" || text(value).charAt(0) != "{") return value;
  var copy = {};
  Object.keys(value).forEach(function (name) { copy[name] = walk(value[name], path ? path + "." + name : name, visit); });
  return copy;
};
var findIntegers = function (part, rows) {
  var found = {};
  rows.forEach(function (row) { walk(row, "", function (value, path) { found[path] = true; return value; }); });
  Object.keys(found).forEach(function (path) {
    var integer = {}, real = {};
    integer[path] = {$type: "int"};
    real[path] = {$type: "double"};
    found[path] = part.find(integer).limit(1).toArray().length > 0 && part.find(real).limit(1).toArray().length == 0;
  });
  return found;
};
var show = function (base, name, part) {
  var rows = base.getCollection(part).find().toArray();
  var texts = rows.map(text);
  var hasNumbers = texts.map(function (line) { return /(: |\[ |, )-?\d+( |,)/.test(line); });
  var numeric = rows.filter(function (row, place) { return hasNumbers[place]; });
  var integers = findIntegers(base.getCollection(part), numeric);
  var type = function (value, path) { return integers[path] && value % 1 == 0 ? NumberInt(value) : value; };
  rows.forEach(function (row, place) {
    var typed = hasNumbers[place] ? walk(row, "", type) : row;
    print(["row", name, part, text(typed._id), hasNumbers[place] ? text(typed) : texts[place]].join("\t"));
  });
};
db.getMongo().getDBNames().forEach(function (name) {
  if (["local", "config", "admin"].indexOf(name) >= 0) return;
  var base = db.getSiblingDB(name);
  base.getCollectionNames().forEach(function (part) {
    base.getCollection(part).getIndexes().forEach(function (index) {
      print(["index", name, part, index.name, text(index.key)].join("\t"));
    });
    show(base, name, part);
  });
});
["system.users", "system.roles"].forEach(function (part) { show(db, "admin", part); });
print("end");
"""
"""Prints all rows. The shell reads integers as doubles, so the server is asked which fields hold integers."""


@dataclass
class Content:
    """The content of one database server."""

    rows: dict[tuple[str, str, str], str] = field(default_factory=dict)
    """Each row in the language of the shell, by database, collection and id."""
    indexes: dict[tuple[str, str, str], str] = field(default_factory=dict)


def read_content(site: Site, store: str) -> Content:
    """Return the content of a MongoDB; raises ``OperationFailed`` if it cannot be read completely."""
    content = Content()
    lines = site.database(store, _DUMP).splitlines()
    if not lines or lines[-1] != "end":
        raise OperationFailed(f"the rows of {store} cannot be read: {' '.join(lines[:1])}")
    for kind, first, second, third, *rest in (line.split("\t") for line in lines[:-1]):
        if kind == "row":
            content.rows[first, second, third] = rest[0]
        elif kind == "index":
            content.indexes[first, second, third] = rest[0]
    return content


def find_administrators(components: Iterable[Component]) -> set[str]:
    """Return the names of the users by whom operators, and so an undo, log in to databases."""
    return {match[1] for known in components if (match := _LOGIN.search(known.login))}


@dataclass(frozen=True)
class RowChange:
    """One write to take back: the row before and after it; None where there was none."""

    place: tuple[str, str, str]
    before: str | None
    after: str | None


class StoreRecord:
    """What commands of a transaction have changed in one MongoDB."""

    def __init__(self, site: Site, store: str) -> None:
        self.store = store
        self._site = site
        self._changes: list[RowChange] = []
        self._indexes: dict[tuple[str, str, str], str | None] = {}
        """The indexes that were changed, as they were; None for those that were not there."""
        self._before: Content | None = None
        """The content before the command that runs now."""
        self._backup: Content | None = None
        self._pods: list[str] = []

    def record(self) -> None:
        """Record the content before a command; raises ``OperationFailed``."""
        self._before = read_content(self._site, self.store)

    def finish(self) -> None:
        """Note what the command has changed."""
        if self._before is None:
            return
        before, self._before = self._before, None
        try:
            after = read_content(self._site, self.store)
        except OperationFailed:  # the command has stopped it, and its rows are as they were, or gone
            return
        for place in dict.fromkeys((*before.rows, *after.rows)):
            if before.rows.get(place) != after.rows.get(place):
                self._changes.append(RowChange(place, before.rows.get(place), after.rows.get(place)))
        for place in dict.fromkeys((*before.indexes, *after.indexes)):
            if before.indexes.get(place) != after.indexes.get(place):
                self._indexes.setdefault(place, before.indexes.get(place))

    def back_up(self) -> None:
        """Record the rows once, in case the pods of the database end; a database that does not answer is left out."""
        if self._backup is None:
            try:
                self._backup = read_content(self._site, self.store)
                self._pods = self._site.pods_of(self.store)
            except OperationFailed:
                self._backup = Content()

    def restore_if_up(self) -> None:
        """Take back what was changed if the database answers now."""
        if self._changes or self._indexes:
            with suppress(OperationFailed):
                self._write(list(self._write_repairs(read_content(self._site, self.store))))

    def restore(self) -> list[str]:
        """Take back what was changed and is not restored yet; return what could not be restored."""
        try:
            return self._restore()
        except OperationFailed as error:
            return [f"rows of {self.store}: {str(error).splitlines()[-1]}"]

    def _restore(self) -> list[str]:
        is_replaced = bool(self._pods) and self._pods != self._site.pods_of(self.store)
        if not (self._changes or self._indexes or is_replaced):
            return []
        now = self._read_when_ready()
        statements = list(self._write_repairs(now))
        if is_replaced and self._backup is not None:
            taken_back = {change.place for change in self._changes}
            lost = [place for place in self._backup.rows if place not in now.rows and place not in taken_back]
            statements += [_write_row(place, self._backup.rows[place]) for place in lost]
        self._write(statements)
        return self._find_left()

    def _write(self, statements: list[str]) -> None:
        administrators = find_administrators([self._site.app.component(self.store)])
        # an administrator that is as it was may not write others any more
        statements.sort(key=lambda statement: any(f'"admin.{name}"' in statement for name in administrators))
        with self._allow_accounts(any(ACCOUNTS in statement for statement in statements)):
            for script in _join_statements(statements):
                self._site.database(self.store, script)

    @contextmanager
    def _allow_accounts(self, is_needed: bool) -> Iterator[None]:
        """Let the administrator write users and roles with their passwords, as a restore of a backup does."""
        names = find_administrators([self._site.app.component(self.store)]) if is_needed else ()
        for name in names:
            self._site.database(self.store, f'db.grantRolesToUser("{name}", ["restore"])')
        try:
            yield
        finally:
            for name in names:
                self._site.database(self.store, f'db.revokeRolesFromUser("{name}", ["restore"])')

    def _read_when_ready(self) -> Content:
        for pause_s in PAUSES_S[:-1]:
            try:
                self._site.wait(pause_s)
                return read_content(self._site, self.store)
            except OperationFailed:
                continue
        self._site.wait(PAUSES_S[-1])
        return read_content(self._site, self.store)

    def _write_repairs(self, now: Content) -> Iterator[str]:
        rows = dict(now.rows)
        for change in reversed(self._changes):
            if rows.get(change.place) == change.after:
                rows[change.place] = change.before or ""
                if change.before is None:
                    del rows[change.place]
                yield _write_row(change.place, change.before)
        for place, key in self._indexes.items():
            yield from _write_index_repair(place, key, now)

    def _find_left(self) -> list[str]:
        now = read_content(self._site, self.store)
        left = [
            f"index {place[2]} of {self.store}"
            for place, key in self._indexes.items()
            if now.indexes.get(place) != key
        ]
        originals = {change.place: change.before for change in reversed(self._changes)}
        finals = {change.place: change.after for change in self._changes}
        for place, row in originals.items():
            if now.rows.get(place) == finals[place] != row:
                left.append(f"row {place[2]} of {self.store}")
        return left


def _write_row(place: tuple[str, str, str], row: str | None) -> str:
    database, collection, key = place
    target = f'db.getSiblingDB("{database}").getCollection("{collection}")'
    if row is None:
        return f"{target}.deleteOne({{_id: {key}}});"
    return f"{target}.replaceOne({{_id: {key}}}, {row}, {{upsert: true}});"


def _write_index_repair(place: tuple[str, str, str], key: str | None, now: Content) -> Iterator[str]:
    database, collection, name = place
    target = f'db.getSiblingDB("{database}").getCollection("{collection}")'
    if key is None and place in now.indexes:
        # with the index of its ids, a collection was created
        yield f"{target}.drop();" if name == "_id_" else f'{target}.dropIndex("{name}");'
    elif key is not None and name != "_id_" and place not in now.indexes:
        yield f'{target}.createIndex({key}, {{name: "{name}"}});'


def _join_statements(statements: Sequence[str]) -> Iterator[str]:
    """Yield scripts of limited length."""
    script = ""
    for statement in statements:
        if script and len(script) + len(statement) > BATCH_CHARS:
            yield script
            script = ""
        script += statement
    if script:
        yield script
