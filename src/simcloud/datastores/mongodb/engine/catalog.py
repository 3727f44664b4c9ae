"""The databases of a server: collections by namespace, created by their first write."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from random import Random
from typing import Final

from simcloud.datastores.mongodb.bson import Document, new_uuid
from simcloud.datastores.mongodb.engine.collection import Change, Collection
from simcloud.datastores.mongodb.failures import MongoFailure

MAX_NAMESPACE_BYTES: Final = 255
MAX_DATABASE_BYTES: Final = 63
FORBIDDEN_IN_DATABASE: Final = frozenset('/\\. "$\0')
MAX_COLLECTIONS: Final = 10_000

Event = Callable[[str, Collection], None]
"""Called with ``create``, ``drop`` or ``indexes`` and the collection."""


class Catalog:
    """The collections of a server. The storage listens with ``on_event`` and ``on_change``.

    Every run of a server names new files anew: with a suffix of its own, and numbers from 0 on.
    """

    def __init__(self, random: Random) -> None:
        self.collections: dict[str, Collection] = {}
        self.on_event: Event | None = None
        self.on_change: Change | None = None
        self._random = random
        self._unique = str(random.randrange(10**18, 10**19))
        self._last_ident = -1

    def find(self, namespace: str) -> Collection | None:
        """Return the collection, if there is one."""
        return self.collections.get(namespace)

    def need(self, namespace: str) -> Collection:
        """Return the collection, made if there is none."""
        found = self.collections.get(namespace)
        return found if found is not None else self.create(namespace)

    def create(self, namespace: str, options: Document | None = None, ident: str = "") -> Collection:
        """Make a collection; refuses names that cannot be and what is there already. ``ident`` names its file."""
        check_namespace(namespace)
        if namespace in self.collections:
            raise MongoFailure(48, f"a collection '{namespace}' already exists")
        if len(self.collections) >= MAX_COLLECTIONS:
            raise MongoFailure(67, "cannot create a new collection -- this server has too many of them")
        collection = Collection(namespace, ident or self.new_ident("collection"), options)
        collection.uuid = new_uuid(self._random)
        return self.adopt(collection, tell=True)

    def adopt(self, collection: Collection, tell: bool = False) -> Collection:
        """Take in a collection, as made or as found on the disk."""
        collection.on_change = self.on_change
        self.collections[collection.namespace] = collection
        if tell and self.on_event is not None:
            self.on_event("create", collection)
        return collection

    def drop(self, namespace: str) -> Collection:
        """Forget a collection; ``ns not found`` if there is none."""
        found = self.collections.pop(namespace, None)
        if found is None:
            raise MongoFailure(26, "ns not found")
        if self.on_event is not None:
            self.on_event("drop", found)
        return found

    def rename(self, source: str, target: str) -> Collection:
        """Give a collection another name; refuses names that cannot be or are taken."""
        check_namespace(target)
        found = self.collections.get(source)
        if found is None:
            raise MongoFailure(26, f"Source collection {source} does not exist")
        if target in self.collections:
            raise MongoFailure(48, "target namespace exists")
        del self.collections[source]
        found.namespace = target
        self.collections[target] = found
        self.indexes_changed(found)
        return found

    def indexes_changed(self, collection: Collection) -> None:
        """Notify the storage of a changed description of a collection."""
        if self.on_event is not None:
            self.on_event("indexes", collection)

    def of(self, database: str) -> list[Collection]:
        """Return a database's collections by name."""
        prefix = f"{database}."
        names = sorted(name for name in self.collections if name.startswith(prefix))
        return [self.collections[name] for name in names]

    def databases(self) -> list[str]:
        """Return the names of all databases that hold anything."""
        return sorted({collection.database: None for collection in self.collections.values()})

    def new_ident(self, kind: str) -> str:
        """Return the name of one more file, of a collection or an index."""
        self._last_ident += 1
        return f"{kind}-{self._last_ident}-{self._unique}"


@lru_cache(maxsize=256)
def check_database(name: str) -> None:
    """Reject an invalid database name."""
    if not name or len(name.encode()) > MAX_DATABASE_BYTES or FORBIDDEN_IN_DATABASE & set(name):
        raise MongoFailure(73, f"Invalid database name: '{name}'")


def check_namespace(namespace: str) -> None:
    """Refuse what cannot be a collection's name."""
    database, _, name = namespace.partition(".")
    if not name or name.startswith(".") or "$" in name or "\0" in name:
        raise MongoFailure(73, f"Invalid namespace specified '{namespace}'")
    check_database(database)
    if len(namespace.encode()) > MAX_NAMESPACE_BYTES:
        raise MongoFailure(73, f"Fully qualified namespace is too long. Namespace: {namespace} Max: 255")
