"""Data folders for images of databases that start with data."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from random import Random
from typing import Final

from simcloud.datastores.mongodb.auth.scram import MECHANISMS, credentials
from simcloud.datastores.mongodb.auth.users import USERS_INDEX
from simcloud.datastores.mongodb.bson import Binary, Document, ObjectIds, new_uuid
from simcloud.datastores.mongodb.encoding import encode, restore_value
from simcloud.datastores.mongodb.engine.catalog import Catalog
from simcloud.datastores.mongodb.storage.engine import CATALOG, description_of
from simcloud.datastores.mongodb.storage.layout import (
    FIRST_FILES,
    METADATA,
    SESSIONS,
    SESSIONS_INDEX,
    VERSION_DOCUMENT,
    pack_metadata,
)
from simcloud.datastores.mongodb.storage.records import (
    KEPT_BYTES,
    KNOWN_FILES,
    CollectionFile,
    pack_file,
    pack_index,
    pack_row,
)

SEQUENCE: Final = 1
SYSTEM: Final[dict[str, tuple[list[Document], list[Document]]]] = {
    "admin.system.version": ([VERSION_DOCUMENT], []),
    "local.startup_log": ([], []),
    SESSIONS: ([], [SESSIONS_INDEX]),
}
"""The collections that every server has."""
USERS: Final = "admin.system.users"
OWN_DATABASES: Final = ("admin.", "config.", "local.")


def data_files(
    folder: str, collections: Mapping[str, tuple[Iterable[Document], Iterable[Document]]], written_s: float
) -> dict[str, bytes]:
    """Build the files of a data folder from documents and indexes by namespace.

    The same collections make the same bytes. Documents without an ``_id`` get one with the time ``written_s``.
    """
    random = Random(",".join(collections))
    catalog, ids = Catalog(random), ObjectIds(random)
    collections = {**SYSTEM, **collections}
    files = {f"{folder}/{name}": data for name, data in FIRST_FILES.items()}
    # Users are created by a server that runs before the one of the application.
    later_run = Catalog(Random(folder)) if USERS in collections else catalog
    for namespace, (documents, indexes) in collections.items():
        run = catalog if namespace.startswith(OWN_DATABASES) else later_run
        collection = catalog.create(namespace, ident=run.new_ident("collection"))
        for index in indexes:
            collection.add_index(index)
        rows, packed = [], {}
        for row, document in enumerate(documents, 1):
            stored = document if "_id" in document else {"_id": ids.new(written_s), **document}
            data = encode(stored)
            packed[row] = pack_row(row, data)
            rows.append((row, restore_value(stored), len(data)))
        for index_name in collection.indexes:
            ident = collection.index_idents[index_name] = run.new_ident("index")
            files[f"{folder}/{ident}.wt"] = pack_index(ident, SEQUENCE, len(rows))
        data = files[f"{folder}/{collection.ident}.wt"] = pack_file(SEQUENCE, packed.values())
        if rows:
            KNOWN_FILES.add(data, CollectionFile(SEQUENCE, rows, packed if len(data) <= KEPT_BYTES else None))
    files[f"{folder}/{METADATA}"] = pack_metadata([*map(str, catalog.collections)], 1, written_s, 0)
    listed = [
        pack_row(at, encode(description_of(each))) for at, each in enumerate(catalog.collections.values())
    ]
    files[f"{folder}/{CATALOG}"] = pack_file(SEQUENCE, listed)
    return files


def build_users(users: Mapping[str, str], roles: list[Document]) -> tuple[list[Document], list[Document]]:
    """Return the collection of users with these passwords, all with the same roles, and its index."""
    random = Random(",".join(users))
    return [
        {
            "_id": f"admin.{user}",
            "userId": Binary(new_uuid(random), 4),
            "user": user,
            "db": "admin",
            "credentials": {kind: credentials(kind, user, password, random) for kind in MECHANISMS},
            "roles": roles,
        }
        for user, password in users.items()
    ], [USERS_INDEX]
