"""``db`` and ``db.collection``: objects with dynamic properties."""

from __future__ import annotations

from typing import Final

from simcloud.datastores.mongodb.shell.javascript.engine import Engine
from simcloud.datastores.mongodb.shell.javascript.values import MISSING, JsObject, Value

_NOT_NAMES: Final = frozenset({"toJSON", "then", "inspect", "hasNext", "next", "length", "size", "prompt"})
"""Properties that JavaScript itself asks objects for: they name no collection."""


class Handle(JsObject):
    """A database or a collection. Any property that it does not have is a collection below it."""

    __slots__ = ("_engine", "db", "full_name")

    def __init__(self, engine: Engine, kind: str, db: Handle | None, name: str) -> None:
        super().__init__(engine.prototype(kind))
        self._engine = engine
        self.db = db
        self.full_name = name

    def find(self, key: str) -> Value:
        found = super().find(key)
        if found is not MISSING or key.startswith("_") or key in _NOT_NAMES or not key:
            return found
        if self.db is None:
            return collection_handle(self._engine, self, key)
        return collection_handle(self._engine, self.db, f"{self.properties['_shortName']}.{key}")


def database_handle(engine: Engine, mongo: Value, name: str) -> Handle:
    """``db`` for a database on a connection."""
    made = Handle(engine, "DB", None, name)
    made.hide("_mongo", mongo)
    made.hide("_name", name)
    return made


def collection_handle(engine: Engine, db: Handle, name: str) -> Handle:
    """``db.name``."""
    made = Handle(engine, "DBCollection", db, f"{db.full_name}.{name}")
    made.hide("_mongo", db.properties["_mongo"])
    made.hide("_db", db)
    made.hide("_shortName", name)
    made.hide("_fullName", made.full_name)
    return made
