"""A collection: documents in insertion order, and indexes.

Documents are never changed in place: an update puts a new document in the row, so readers of the old one are not
affected. Every change is passed to ``on_change`` (the journal).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final

from msgspec import Struct

from simcloud.datastores.mongodb.bson import Document
from simcloud.datastores.mongodb.encoding import encode
from simcloud.datastores.mongodb.engine.filters import Predicate, compile_query, is_operators
from simcloud.datastores.mongodb.engine.indexes import Index
from simcloud.datastores.mongodb.engine.paths import MISSING
from simcloud.datastores.mongodb.failures import MongoFailure
from simcloud.datastores.mongodb.order import PLAIN, identity
from simcloud.datastores.mongodb.version import MAX_DOCUMENT_BYTES

Change = Callable[["Collection", int, bytes | None], None]
"""Called with every row that changed, and the document's bytes; None when it is gone."""

ID_INDEX: Final = {"v": 2, "key": {"_id": 1}, "name": "_id_"}
PRESENT: Final = PLAIN - {type(None)}
"""Types of values that are their own identity and that no missing field matches."""
RANGES: Final = frozenset({"$gt", "$gte", "$lt", "$lte"})


class Plan(Struct):
    """The plan of a query: its index (None: a scan), and the test that remains for each row."""

    index: Index | None
    rows: Iterable[int]
    test: Predicate | None
    bounds: Document | None = None


class Collection:
    """The documents of one namespace (``database.collection``)."""

    def __init__(self, namespace: str, ident: str, options: Document | None = None) -> None:
        self.namespace = namespace
        self.ident = ident
        self.options = options or {}
        self.uuid = b""
        self.index_idents: dict[str, str] = {}
        self.rows: dict[int, Document] = {}
        self.indexes: dict[str, Index] = {}
        self.on_change: Change | None = None
        self.size_bytes = 0
        self._sizes: dict[int, int] = {}
        self._last_row = 0
        self._by_first: dict[str, Index] = {}
        self.add_index(ID_INDEX)

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def database(self) -> str:
        """The database's name."""
        return self.namespace.partition(".")[0]

    @property
    def name(self) -> str:
        """The collection's name within its database."""
        return self.namespace.partition(".")[2]

    # -- changing ------------------------------------------------------------------------------

    def insert(self, document: Document) -> None:
        """Add a document; ``DuplicateKey`` when a unique index has its key."""
        indexes = self.indexes.values()
        data = _encode(document)
        for index in indexes:
            index.check(self.namespace, document)
        row = self._last_row + 1
        self._last_row = row
        for index in indexes:
            index.add(row, document)
        self.rows[row] = document
        self._report_change(row, data)

    def replace(self, row: int, document: Document) -> None:
        """Put another document in a row."""
        old, data = self.rows[row], _encode(document)
        for index in self.indexes.values():
            index.check(self.namespace, document, row)
        for index in self.indexes.values():
            index.discard(row, old)
            index.add(row, document)
        self.rows[row] = document
        self._report_change(row, data)

    def delete(self, row: int) -> None:
        """Take a document out."""
        old = self.rows.pop(row)
        for index in self.indexes.values():
            index.discard(row, old)
        self._report_change(row, None)

    def _report_change(self, row: int, data: bytes | None) -> None:
        self.size_bytes -= self._sizes.pop(row, 0)
        if data is not None:
            self._sizes[row] = len(data)
            self.size_bytes += len(data)
        if self.on_change is not None:
            self.on_change(self, row, data)

    def restore(self, row: int, document: Document | None, size_bytes: int) -> None:
        """Set a row from a file or the journal, without calling ``on_change``."""
        self.size_bytes += size_bytes - self._sizes.pop(row, 0)
        old = self.rows.pop(row, None)
        for index in self.indexes.values():
            if old is not None:
                index.discard(row, old)
            if document is not None:
                index.add(row, document)
        if document is not None:
            self.rows[row] = document
            self._sizes[row] = size_bytes
            self._last_row = max(self._last_row, row)

    def settle(self) -> None:
        """After restoring: rows in their natural order."""
        self.rows = dict(sorted(self.rows.items()))

    def add_index(self, spec: Document) -> None:
        """Build an index; ``DuplicateKey`` leaves everything as it was."""
        index = Index(spec)
        for row, document in self.rows.items():
            index.check(self.namespace, document)
            index.add(row, document)
        self.indexes[index.name] = index
        self._by_first.setdefault(index.first, index)

    def drop_index(self, name: str) -> None:
        """Forget an index."""
        del self.indexes[name]
        self._by_first = {}
        for index in self.indexes.values():
            self._by_first.setdefault(index.first, index)

    # -- finding -------------------------------------------------------------------------------

    def find(self, query: Document) -> Iterator[tuple[int, Document]]:
        """Rows and documents that match, in the order the plan meets them."""
        plan = self.plan(query)
        rows, test = self.rows, plan.test
        for row in list(plan.rows):
            document = rows.get(row)
            if document is not None and (test is None or test(document)):
                yield row, document

    def plan(self, query: Document, hint: Index | None = None) -> Plan:
        """Return the way to answer a query. A read of some values of an indexed field needs no test at all."""
        if not query:
            return Plan(None, self.rows, None)
        if len(query) == 1 and hint is None:
            ((name, wanted),) = query.items()
            index = self._by_first.get(name)
            if index is not None and not index.partial:
                if wanted.__class__ in PRESENT:
                    index.accesses += 1
                    return Plan(index, index.equal_to(wanted), None, {name: wanted})
                # Of the plans for ``_id``, only that of a point read has no test.
                if name != "_id" and _is_choice(wanted):
                    index.accesses += 1
                    return Plan(index, _rows_of(index, wanted["$in"]), None, {name: wanted["$in"]})
        test = compile_query(query)
        best = self._by_condition(query, hint)
        if best is None:
            return Plan(None, self.rows, test)
        index, rows, bounds = best
        index.accesses += 1
        return Plan(index, rows, test, bounds)

    def _by_condition(
        self, query: Document, hint: Index | None
    ) -> tuple[Index, Iterable[int], Document] | None:
        ranged: tuple[Index, Iterable[int], Document] | None = None
        for name, wanted in _conditions(query):
            index = hint if hint is not None and hint.first == name else self._by_first.get(name)
            if index is None or index.partial or (hint is not None and index is not hint):
                continue
            if wanted.__class__ is dict and is_operators(wanted):
                if "$eq" in wanted and wanted["$eq"].__class__ in PLAIN and wanted["$eq"] is not None:
                    return index, index.equal_to(wanted["$eq"]), {name: wanted["$eq"]}
                if wanted.get("$in").__class__ is list and all(
                    each.__class__ in PLAIN for each in wanted["$in"]
                ):
                    return index, _rows_of(index, wanted["$in"]), {name: wanted["$in"]}
                if RANGES & wanted.keys() and not index.multikey and ranged is None:
                    low = wanted.get("$gte", wanted.get("$gt", MISSING))
                    high = wanted.get("$lte", wanted.get("$lt", MISSING))
                    if low is not None and high is not None:
                        ranged = index, index.between(low, high), {name: wanted}
            elif wanted.__class__ in PLAIN and wanted is not None:
                return index, index.equal_to(identity(wanted)), {name: wanted}
        return ranged

    def index_of(self, hint: Any) -> Index:
        """Return the index a hint names by its name or its key."""
        for index in self.indexes.values():
            if index.name == hint or (
                hint.__class__ is dict and list(index.key.items()) == list(hint.items())
            ):
                return index
        raise MongoFailure(2, "error processing query: planner returned error: bad hint")


def _encode(document: Document) -> bytes:
    data = encode(document)
    if len(data) > MAX_DOCUMENT_BYTES:
        raise MongoFailure(
            10334,
            f"BSONObj size: {len(data)} (0x{len(data):X}) is invalid. Size must be between 0 and 16793600(16MB)",
        )
    return data


def _conditions(query: Document) -> Iterator[tuple[str, Any]]:
    """Yield all conditions that must hold: the top level and what an ``$and`` there holds."""
    for name, wanted in query.items():
        if name == "$and" and wanted.__class__ is list:
            for each in wanted:
                yield from _conditions(each)
        elif not name.startswith("$"):
            yield name, wanted


def _is_choice(wanted: Any) -> bool:
    """Return whether a condition is ``$in`` alone, with values that an index has exactly where documents have them."""
    if wanted.__class__ is not dict or len(wanted) != 1:
        return False
    values = wanted.get("$in")
    return values.__class__ is list and PRESENT.issuperset(map(type, values))


def _rows_of(index: Index, values: list[Any]) -> list[int]:
    return list(dict.fromkeys([row for value in values for row in index.equal_to(value)]))
