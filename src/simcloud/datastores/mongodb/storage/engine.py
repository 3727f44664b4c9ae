"""The storage engine: a journal of all changes, and checkpoints of whole collections.

A write is in memory at once and in the journal within 100 ms, or before its reply if the client requests it; a kill
or a power loss loses what is not in the journal. Every minute the changed collections are written to their files
and the journal is truncated. Each data file has the sequence number of its last change, so opening replays only the
newer part of the journal. If writing the journal or a checkpoint fails, ``StorageFailed`` is raised.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from simcloud.datastores.mongodb.bson import Binary, Document
from simcloud.datastores.mongodb.encoding import NotBson, decode, encode
from simcloud.datastores.mongodb.engine.catalog import Catalog
from simcloud.datastores.mongodb.engine.collection import ID_INDEX, Collection
from simcloud.datastores.mongodb.engine.indexes import Index
from simcloud.datastores.mongodb.failures import MongoFailure
from simcloud.datastores.mongodb.storage.errors import CannotOpen, Corrupt, StorageFailed, errno_of
from simcloud.datastores.mongodb.storage.layout import (
    FIRST_FILES,
    JOURNAL,
    JOURNAL_FILE_BYTES,
    LOCK,
    METADATA,
    SIZES,
    TURTLE,
    describe_table,
    format_turtle,
    pack_metadata,
    preallocate_journal,
    release_lock,
    take_lock,
)
from simcloud.datastores.mongodb.storage.records import (
    CATALOG_ROW,
    KEPT_BYTES,
    KNOWN_FILES,
    Change,
    CollectionFile,
    measure_records,
    pack_file,
    pack_index,
    pack_row,
    record,
    records,
    unpack_file,
)
from simcloud.machine.files import FileError, OpenFile
from simcloud.machine.process import Context

CATALOG: Final = "_mdb_catalog.wt"
MAX_JOURNAL_BYTES: Final = 32 * 1024 * 1024
PIECE_BYTES: Final = 1 << 20


class Storage:
    """The files below ``folder``. Opening loads a catalog; its changes are then written to the journal."""

    def __init__(self, ctx: Context, folder: str, catalog: Catalog) -> None:
        self._ctx = ctx
        self._folder = folder.rstrip("/") or "/"
        self._catalog = catalog
        self._pending: list[bytes] = []
        self._dirty: dict[str, Collection] = {}
        # The packed rows of small and of changed collections: a checkpoint writes a whole collection and must not pack it again.
        self._packed: dict[str, dict[int, bytes]] = {}
        self._described = False
        self._journal: OpenFile | None = None
        self._sequence = 0
        self.journal_bytes = 0
        self._checkpoints = 0
        self.background_transactions = 0
        """Transactions of the engine itself: each checkpoint takes some."""
        self.on_pending: Callable[[], None] | None = None
        self.was_empty = True
        self.unclean = False

    # -- opening and closing -------------------------------------------------------------------

    def lock(self) -> None:
        """Lock the folder. Raise ``CannotOpen`` if it is in use."""
        self.unclean = take_lock(self._ctx, self._folder)
        self.was_empty = not self._ctx.files.exists(self._path("WiredTiger.wt"))

    def open(self) -> None:
        """Read what is there and replay the journal.

        ``CannotOpen`` when the disk refuses, ``Corrupt`` when a file is damaged, ``StorageFailed`` when nothing can be
        written: WiredTiger writes its own turtle anew whenever it opens.
        """
        files = self._ctx.files
        try:
            if self.was_empty:
                for name, data in FIRST_FILES.items():
                    files.mkdir(self._path(name).rpartition("/")[0], 0o700, parents=True)
                    self._create(self._path(name), data)
            self._load()
        except FileError as error:
            raise CannotOpen("UnknownError", f"{errno_of(error)}: {error}") from None
        try:
            self._write_turtle()
        except FileError as error:
            raise StorageFailed("connection", f"{self._path(TURTLE)}.set", error, 1254, 0) from None
        preallocate_journal(self._ctx, self._folder)
        self._catalog.on_change = self._record_change
        self._catalog.on_event = self._event
        for collection in self._catalog.collections.values():
            collection.on_change = self._record_change

    def close(self) -> float:
        """Bring everything to the disk and unlock; how long the disk takes. ``StorageFailed``."""
        delay_s = self.checkpoint()
        release_lock(self._ctx, self._folder)
        return delay_s

    def _load(self) -> None:
        files = self._ctx.files
        complete: dict[str, int] = {}
        by_ident: dict[str, Collection] = {}
        described = 0
        if files.exists(self._path(CATALOG)):
            described, rows = unpack_file(self._path(CATALOG), files.read(self._path(CATALOG)))
            for _, data in rows:
                collection = self._adopt(decode(data))
                by_ident[collection.ident] = collection
        self._sequence = described
        journal = self._read_journal()
        self.journal_bytes = measure_records(journal)
        changes = list(records(journal))
        for change in changes:
            if change.row == CATALOG_ROW and change.sequence > described:
                self._replay_description(change, by_ident)
        for ident, collection in by_ident.items():
            complete[ident] = self._load_rows(collection)
        for change in changes:
            found = by_ident.get(change.ident)
            self._sequence = max(self._sequence, change.sequence)
            if found is not None and change.row != CATALOG_ROW and change.sequence > complete[change.ident]:
                document = _decode_row(self._path(f"{found.ident}.wt"), change.data)
                found.restore(change.row, document, len(change.data))
                self._dirty[change.ident] = found
                self._packed.pop(change.ident, None)
        for collection in by_ident.values():
            collection.settle()
            self._sequence = max(self._sequence, complete[collection.ident])

    def _replay_description(self, change: Change, by_ident: dict[str, Collection]) -> None:
        old = by_ident.pop(change.ident, None)
        if old is not None:
            self._catalog.collections.pop(old.namespace, None)
        if change.data:
            by_ident[change.ident] = self._adopt(decode(change.data))

    def _adopt(self, description: Document) -> Collection:
        collection = Collection(description["ns"], description["ident"], description.get("options"))
        collection.uuid = description["uuid"].data
        for spec in description["indexes"]:
            if spec["name"] != ID_INDEX["name"]:
                collection.add_index(spec)
        collection.index_idents = dict(description["idents"])
        return self._catalog.adopt(collection)

    def _load_rows(self, collection: Collection) -> int:
        path = self._path(f"{collection.ident}.wt")
        if not self._ctx.files.exists(path):
            raise Corrupt(path, "No such file or directory")
        content = self._ctx.files.read(path)
        file = KNOWN_FILES.find(content) or _parse_file(path, content)
        for row, document, size_bytes in file.rows:
            collection.restore(row, document, size_bytes)
        if file.packed is not None:
            self._packed[collection.ident] = file.packed.copy()
        return file.sequence

    # -- following -----------------------------------------------------------------------------

    def _record_change(self, collection: Collection, row: int, data: bytes | None) -> None:
        self._sequence += 1
        ident = collection.ident
        self._follow(Change(self._sequence, row, ident, data or b""))
        self._dirty[ident] = collection
        packed = self._packed.get(ident)
        if packed is not None:
            if data is None:
                packed.pop(row, None)
            else:
                packed[row] = pack_row(row, data)

    def _follow(self, change: Change) -> None:
        if not self._pending and self.on_pending is not None:
            self.on_pending()
        self._pending.append(record(change))

    def _event(self, event: str, collection: Collection) -> None:
        self._sequence += 1
        path = self._path(f"{collection.ident}.wt")
        try:
            if event == "create":
                self._create(path, pack_file(0, ()))
            elif event == "drop":
                self._dirty.pop(collection.ident, None)
                self._packed.pop(collection.ident, None)
                self._remove(path)
            self._match_index_files(collection, {} if event == "drop" else collection.indexes)
        except FileError as error:
            if event == "create":
                self._remove(path)
                self._catalog.collections.pop(collection.namespace, None)
            raise MongoFailure(8, f"{errno_of(error)}: {error}") from None
        description = b"" if event == "drop" else encode(description_of(collection))
        self._follow(Change(self._sequence, CATALOG_ROW, collection.ident, description))
        self._described = True

    def _match_index_files(self, collection: Collection, wanted: Mapping[str, Index]) -> None:
        """Every index has a file, and no other has."""
        idents = collection.index_idents
        for name in wanted:
            if name not in idents:
                ident = self._catalog.new_ident("index")
                self._create(self._path(f"{ident}.wt"), pack_file(0, ()))
                idents[name] = ident
        for name in [each for each in idents if each not in wanted]:
            self._remove(self._path(f"{idents.pop(name)}.wt"))

    def _remove(self, path: str) -> None:
        try:
            self._ctx.files.remove(path)
        except FileError:
            pass  # it does not exist or cannot be removed, and is not used again

    @property
    def has_pending(self) -> bool:
        """Whether changes wait for the journal."""
        return bool(self._pending)

    def flush(self) -> float:
        """Bring all changes to the journal on the disk; how long the disk takes. ``StorageFailed``."""
        if not self._pending:
            return 0.0
        data, self._pending = b"".join(self._pending), []
        path = self._path(JOURNAL)
        offset = 0
        try:
            if self._journal is None or self._journal.closed:
                self._journal = self._ctx.files.open(path, write=True, create=True, mode=0o600)
            offset = self.journal_bytes
            self._journal.seek(offset)
            self._journal.write_all(data)
            self._journal.sync()
        except FileError as error:
            raise StorageFailed("WT_SESSION.log_flush", path, error, len(data), offset) from None
        self.journal_bytes += len(data)
        return self._journal.io_delay_s(len(data))

    def checkpoint(self) -> float:
        """Write changed collections to their files and begin a new journal. ``StorageFailed``."""
        self.flush()
        files = self._ctx.files
        written = 0
        path = self._path(CATALOG)
        try:
            changed = bool(self._dirty) or self._described
            for collection in self._dirty.values():
                path = self._path(f"{collection.ident}.wt")
                written += self._replace(path, pack_file(self._sequence, self._rows(collection).values()))
                written += self._write_indexes(collection)
            if self._described or not files.exists(self._path(CATALOG)):
                path = self._path(CATALOG)
                described = [
                    pack_row(at, encode(description_of(each)))
                    for at, each in enumerate(self._catalog.collections.values())
                ]
                written += self._replace(path, pack_file(self._sequence, described))
            if self._journal is not None and self.journal_bytes:
                path = self._path(JOURNAL)
                self._journal.truncate(0)
                self._journal.truncate(JOURNAL_FILE_BYTES)
                self._journal.sync()
                self.journal_bytes = 0
            if changed:
                path = self._path(METADATA)
                written += self._write_metadata()
            else:
                self._date([self._path(METADATA), self._path(TURTLE), self._folder], self._ctx.now)
        except FileError as error:
            raise StorageFailed("WT_SESSION.checkpoint", path, error, 4096, 4096) from None
        self._dirty = {}
        self._described = False
        return self._journal.io_delay_s(written) if self._journal is not None and written else 0.0

    def checkpoint_in_past(self, time_s: float) -> None:
        """Write a checkpoint of that time, which has passed unobserved. ``StorageFailed``."""
        changed = [self._path(CATALOG)] if self._described else []
        changed += [self._path(SIZES)] if self._described or self._dirty else []
        for collection in self._dirty.values():
            changed += [
                self._path(f"{ident}.wt") for ident in (collection.ident, *collection.index_idents.values())
            ]
        self.checkpoint()
        self._date(changed, time_s)

    def _date(self, paths: list[str], time_s: float) -> None:
        for path in paths:
            try:
                self._ctx.files.utime(path, time_s, time_s)
            except FileError:
                pass  # the next write will report what is wrong

    def _rows(self, collection: Collection) -> dict[int, bytes]:
        packed = self._packed.get(collection.ident)
        if packed is None:
            packed = {row: pack_row(row, encode(document)) for row, document in collection.rows.items()}
            self._packed[collection.ident] = packed
        return packed

    def _replace(self, path: str, data: bytes) -> int:
        """Put a new version of a file in the old one's place, whole or not at all."""
        fresh = f"{path}.set"
        self._create(fresh, data)
        self._ctx.files.rename(fresh, path)
        return len(data)

    def _create(self, path: str, data: bytes) -> None:
        """Write a file and bring it to the disk; nothing is left of it when that fails."""
        files = self._ctx.files
        try:
            files.write(path, data, mode=0o600)
            files.sync(path)
        except FileError:
            self._remove(path)
            raise

    @property
    def wants_checkpoint(self) -> bool:
        """Return whether the journal is so long that a checkpoint is due."""
        return self.journal_bytes > MAX_JOURNAL_BYTES

    def _write_indexes(self, collection: Collection) -> int:
        """Write the files of a collection's indexes."""
        written = 0
        for name, ident in collection.index_idents.items():
            if name in collection.indexes and len(collection):
                data = pack_index(ident, self._sequence, len(collection))
                written += self._replace(self._path(f"{ident}.wt"), data)
        return written

    def _write_metadata(self) -> int:
        """Write the files that describe all tables, and the turtle that describes these."""
        self._checkpoints += 1
        collections = self._catalog.collections.values()
        idents = [
            ident
            for collection in collections
            for ident in (collection.ident, *collection.index_idents.values())
        ]
        sizes = [
            pack_row(
                at,
                encode({"uri": f"table:{each.ident}", "numRecords": len(each), "dataSize": each.size_bytes}),
            )
            for at, each in enumerate(collections)
        ]
        written = self._replace(self._path(SIZES), pack_file(self._sequence, sizes))
        metadata = pack_metadata(idents, self._checkpoints, self._ctx.now, self.journal_bytes)
        return written + self._replace(self._path(METADATA), metadata) + self._write_turtle()

    def _write_turtle(self) -> int:
        position = (1, self.journal_bytes)
        metadata = describe_table(
            0, self._checkpoints + 1, self._ctx.now, 4096 * len(self._catalog.collections), position
        )
        return self._replace(self._path(TURTLE), format_turtle(metadata))

    @property
    def transactions(self) -> int:
        """The number of the next transaction."""
        return self._sequence + self.background_transactions + 3

    def _read_journal(self) -> bytes:
        """Return the written part of the journal, of which the rest is preallocated."""
        path, pieces = self._path(JOURNAL), []
        if not self._ctx.files.exists(path):
            return b""
        journal = self._ctx.files.open(path)
        while piece := journal.read(PIECE_BYTES).rstrip(b"\0"):
            pieces.append(piece.ljust(PIECE_BYTES, b"\0"))
        journal.close()
        return b"".join(pieces)

    def _path(self, name: str) -> str:
        return f"{self._folder}/{name}"

    @property
    def lock_path(self) -> str:
        """The lock file of the folder."""
        return self._path(LOCK)


def _parse_file(path: str, content: bytes) -> CollectionFile:
    """Read the data file of a collection. Raise ``Corrupt``."""
    sequence, rows = unpack_file(path, content)
    packed = None
    if len(content) <= KEPT_BYTES:
        packed = {row: pack_row(row, data) for row, data in sorted(dict(rows).items()) if data}
    return CollectionFile(sequence, [(row, _decode_row(path, data), len(data)) for row, data in rows], packed)


def _decode_row(path: str, data: bytes) -> Document | None:
    try:
        return decode(data) if data else None
    except NotBson as error:
        raise Corrupt(path, str(error)) from None


def description_of(collection: Collection) -> Document:
    """A collection as the catalog's file has it."""
    return {
        "ns": collection.namespace,
        "ident": collection.ident,
        "uuid": Binary(collection.uuid, 4),
        "options": collection.options,
        "indexes": [index.spec for index in collection.indexes.values()],
        "idents": collection.index_idents,
    }
