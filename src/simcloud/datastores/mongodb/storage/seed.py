"""Data folders for images of databases that start with data."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from random import Random
from typing import Final

from simcloud.datastores.mongodb.bson import Document, ObjectIds
from simcloud.datastores.mongodb.encoding import encode
from simcloud.datastores.mongodb.engine.catalog import Catalog
from simcloud.datastores.mongodb.storage.engine import CATALOG, description_of
from simcloud.datastores.mongodb.storage.layout import FIRST_FILES
from simcloud.datastores.mongodb.storage.records import pack_file

SEQUENCE: Final = 1


def data_files(
    folder: str,
    collections: Mapping[str, tuple[Iterable[Document], Iterable[Document]]],
    written_s: float,
) -> dict[str, bytes]:
    """Build the files of a data folder from documents and indexes by namespace.

    The same collections make the same bytes. Documents without an ``_id`` get one with the time ``written_s``.
    """
    random = Random(",".join(collections))
    catalog, ids = Catalog(random), ObjectIds(random)
    files = {f"{folder}/{name}": data for name, data in FIRST_FILES.items()}
    for namespace, (documents, indexes) in collections.items():
        collection = catalog.create(namespace)
        for index in indexes:
            collection.add_index(index)
        for index_name in collection.indexes:
            ident = collection.index_idents[index_name] = catalog.new_ident("index")
            files[f"{folder}/{ident}.wt"] = pack_file(0, ())
        rows = (
            (row, encode(document if "_id" in document else {"_id": ids.new(written_s), **document}))
            for row, document in enumerate(documents, 1)
        )
        files[f"{folder}/{collection.ident}.wt"] = pack_file(SEQUENCE, rows)
    listed = [(at, encode(description_of(each))) for at, each in enumerate(catalog.collections.values())]
    files[f"{folder}/{CATALOG}"] = pack_file(SEQUENCE, listed)
    return files
