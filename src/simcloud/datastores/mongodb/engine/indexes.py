"""An index of a collection: row numbers by the value of its first field, and whole keys if unique.

Look-ups by value are dictionary look-ups. Most values have a single row, which is stored as a bare number. Range
queries use a sorted list of the distinct values, built on demand and kept until a new value appears.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Collection, Iterator
from itertools import product
from typing import Any

from simcloud.datastores.mongodb.bson import Document
from simcloud.datastores.mongodb.document_text import show
from simcloud.datastores.mongodb.engine.filters import compile_query
from simcloud.datastores.mongodb.engine.paths import MISSING, leaves, split
from simcloud.datastores.mongodb.failures import DuplicateKey, MongoFailure
from simcloud.datastores.mongodb.order import identity, sort_key

Rows = int | dict[int, None]
"""Of one value: its only row, or all of them in the order they came."""
MAX_KEYS = 10_000


class Index:
    """An index; ``spec`` is its document in ``listIndexes``."""

    def __init__(self, spec: Document) -> None:
        self.spec = spec
        self.name: str = spec["name"]
        self.key: Document = spec["key"]
        self.unique = bool(spec.get("unique")) or self.name == "_id_"
        self.sparse = bool(spec.get("sparse"))
        self.multikey = False
        self.first = next(iter(self.key))
        self.accesses = 0
        self._parts = [split(path) for path in self.key]
        self._compound = len(self._parts) > 1
        self._simple = not self._compound and len(self._parts[0]) == 1
        filter = spec.get("partialFilterExpression")
        self._covers: Callable[[Any], bool] | None = compile_query(filter) if filter else None
        self._rows: dict[Any, Rows] = {}
        self._values: dict[Any, Any] = {}
        """Those that are not their own identity."""
        self._owners: dict[Any, int] = {}
        """Of a unique index of several fields: who has which values."""
        self._ordered: list[tuple[tuple[Any, ...], Any]] | None = None

    @property
    def partial(self) -> bool:
        """Whether some documents are not in it, so that a search by it may miss them."""
        return self.sparse or self._covers is not None

    def __len__(self) -> int:
        return sum(map(len, map(_list_rows, self._rows.values())))

    # -- changing ------------------------------------------------------------------------------

    def check(self, namespace: str, document: Document, row: int | None = None) -> None:
        """Raise what would make ``add`` impossible: ``DuplicateKey``, or arrays that cannot be indexed together."""
        entries = self._entries(document)
        if not self.unique:
            return
        for values in entries:
            owner = self._owner(values)
            if owner is not None and owner != row:
                value = dict(zip(self.key, values, strict=True))
                raise DuplicateKey(namespace, self.name, self.key, value, show(value))

    def _owner(self, values: tuple[Any, ...]) -> int | None:
        """Whose values they are in a unique index."""
        if self._compound:
            return self._owners.get(tuple(map(identity, values)))
        return next(iter(self.equal_to(identity(values[0]))), None)

    def add(self, row: int, document: Document) -> None:
        """Enter a document."""
        for values in self._entries(document):
            first = identity(values[0])
            rows = self._rows.get(first)
            if rows is None:
                self._rows[first] = row
                if values[0] is not first:
                    self._values[first] = values[0]
                self._ordered = None
            elif isinstance(rows, dict):
                rows[row] = None
            elif rows != row:
                self._rows[first] = {rows: None, row: None}
            if self.unique and self._compound:
                self._owners[tuple(map(identity, values))] = row

    def discard(self, row: int, document: Document) -> None:
        """Take a document out."""
        for values in self._entries(document):
            first = identity(values[0])
            rows = self._rows.get(first)
            if isinstance(rows, dict):
                rows.pop(row, None)
            if rows in (row, {}):  # no other row has the value
                del self._rows[first]
                self._values.pop(first, None)
                self._ordered = None
            if self.unique and self._compound:
                self._owners.pop(tuple(map(identity, values)), None)

    def _entries(self, document: Document) -> list[tuple[Any, ...]]:
        if self._covers is not None and not self._covers(document):
            return []
        if self._simple:
            value = document.get(self.first, MISSING)
            if value.__class__ is not list:
                if value is MISSING:
                    return [] if self.sparse else [(None,)]
                return [(value,)]
        columns = [self._column(document, parts) for parts in self._parts]
        if self.sparse and all(column == [MISSING] for column in columns):
            return []
        filled = [[None if value is MISSING else value for value in column] for column in columns]
        several = [path for path, column in zip(self.key, filled, strict=True) if len(column) > 1]
        if len(several) > 1:
            raise MongoFailure(171, f"cannot index parallel arrays [{several[1]}] [{several[0]}]")
        entries = list(product(*filled))
        if len(entries) > MAX_KEYS:
            raise MongoFailure(10334, "too many keys for one document in an index")
        return entries

    def _column(self, document: Document, parts: tuple[str, ...]) -> list[Any]:
        """Return the distinct values of one field: the elements of an array count each for itself."""
        found: dict[Any, Any] = {}
        for leaf in leaves(document, parts):
            if leaf.__class__ is list:
                self.multikey = True
                for element in leaf:
                    found.setdefault(identity(element), element)
                found.setdefault(identity(leaf), leaf)
            elif leaf is MISSING:
                found.setdefault(MISSING, MISSING)
            else:
                found.setdefault(identity(leaf), leaf)
        return list(found.values()) or [MISSING]

    # -- looking up ----------------------------------------------------------------------------

    def equal_to(self, key: Any) -> Collection[int]:
        """The rows whose first field has the value of that identity."""
        rows = self._rows.get(key)
        return () if rows is None else _list_rows(rows)

    def between(self, low: Any, high: Any) -> Iterator[int]:
        """Rows whose first field lies in a range, ends included, in the values' order."""
        ordered = self._in_order()
        start = 0 if low is MISSING else bisect_left(ordered, (sort_key(low),))
        end = len(ordered)
        if high is not MISSING:
            limit = sort_key(high)
            end = bisect_right(ordered, limit, key=lambda each: each[0])
        for _, first in ordered[start:end]:
            yield from self.equal_to(first)

    def _in_order(self) -> list[tuple[tuple[Any, ...], Any]]:
        if self._ordered is None:
            values = self._values
            pairs = [(sort_key(values.get(first, first)), first) for first in self._rows]
            pairs.sort(key=lambda pair: pair[0])
            self._ordered = pairs
        return self._ordered


def _list_rows(rows: Rows) -> Collection[int]:
    return rows if isinstance(rows, dict) else (rows,)
