"""The sort order of documents: an array sorts by its least element, or by its greatest if descending."""

from __future__ import annotations

from functools import partial
from typing import Any, Final

from simcloud.datastores.mongodb.bson import Document, is_number
from simcloud.datastores.mongodb.engine.paths import MISSING, leaves, split
from simcloud.datastores.mongodb.failures import bad_value
from simcloud.datastores.mongodb.order import sort_key

BEFORE_NULL: Final = (2,)
"""Where an empty array sorts: after MinKey, before null."""


def sort_documents(documents: list[Document], specification: Document) -> list[Document]:
    """Sort documents by a sort specification. The sort is stable."""
    result = documents
    for path, way in reversed(specification.items()):
        if way.__class__ is dict or not is_number(way) or int(way) not in (1, -1):
            raise bad_value("bad sort specification")
        if path == "$natural":
            result = result[::-1] if way < 0 else list(result)
            continue
        descending = way < 0
        result = sorted(result, key=partial(_key, split(path), descending), reverse=descending)
    return result


def _key(parts: tuple[str, ...], descending: bool, document: Document) -> tuple[Any, ...]:
    keys: list[tuple[Any, ...]] = []
    for leaf in leaves(document, parts):
        if leaf.__class__ is list:
            keys.extend(map(sort_key, leaf)) if leaf else keys.append(BEFORE_NULL)
        else:
            keys.append(sort_key(None if leaf is MISSING else leaf))
    if not keys:
        return sort_key(None)
    return max(keys) if descending else min(keys)
