"""A small document store: collections of documents with indexes, and a journal on disk.

A write is answered when its journal record is on disk, so acknowledged writes survive a kill and a power loss.
Concurrent writes share one flush. If the record cannot be written, the write fails and the documents are unchanged.
"""

from __future__ import annotations

from typing import Any, Final

import msgspec

from simcloud.machine.files import FileError, OpenFile
from simcloud.machine.process import Context
from simcloud.services.rpc import Call, GrpcError, GrpcServer
from simcloud.services.tracing import Tracer
from simcloud.sim import Event

JOURNAL: Final = "journal.jsonl"
GROUP_COMMIT_S: Final = 0.002
COMPACT_BYTES: Final = 4 * 1024 * 1024
READ_CPU_S: Final = 0.00005
WRITE_CPU_S: Final = 0.0001

Document = dict[str, Any]


class Record(msgspec.Struct, array_like=True):
    """A change: a document, or None for a deleted one."""

    collection: str
    id: str
    document: Document | None


class Collection:
    """Documents by id, and by the values of indexed fields."""

    def __init__(self, indexed: tuple[str, ...] = ()) -> None:
        self._documents: dict[str, Document] = {}
        self._indexes: dict[str, dict[Any, dict[str, None]]] = {field: {} for field in indexed}

    def __len__(self) -> int:
        return len(self._documents)

    def get(self, id: str) -> Document | None:
        """Return the document of that id."""
        return self._documents.get(id)

    def put(self, id: str, document: Document | None) -> None:
        """Set a document, or remove it with None."""
        old = self._documents.pop(id, None)
        for field, index in self._indexes.items():
            if old is not None and field in old:
                index[old[field]].pop(id, None)
            if document is not None and field in document:
                index.setdefault(document[field], {})[id] = None
        if document is not None:
            self._documents[id] = document

    def find(self, field: str, value: Any) -> list[Document]:
        """Documents whose field has that value; by index when there is one, else by a scan."""
        index = self._indexes.get(field)
        if index is not None:
            return [self._documents[id] for id in index.get(value, ())]
        return [document for document in self._documents.values() if document.get(field) == value]

    def items(self) -> list[tuple[str, Document]]:
        """Return all ids and documents."""
        return list(self._documents.items())


class DocumentStore:
    """The collections of one server, and their journal."""

    def __init__(self, ctx: Context, folder: str, indexes: dict[str, tuple[str, ...]]) -> None:
        self._ctx = ctx
        self._path = f"{folder}/{JOURNAL}"
        self._indexes = indexes
        self._collections: dict[str, Collection] = {}
        self._journal: OpenFile | None = None
        self._waiting: list[Record] = []
        self._commit: Event[None] | None = None
        ctx.files.mkdir(folder, parents=True)
        self._replay()

    def collection(self, name: str) -> Collection:
        """Return the collection of that name, created on first use."""
        found = self._collections.get(name)
        if found is None:
            found = self._collections[name] = Collection(self._indexes.get(name, ()))
        return found

    async def write(self, record: Record) -> None:
        """Make a change durable and visible; raises ``FileError`` when the disk refuses it."""
        self._waiting.append(record)
        if self._commit is None:
            self._commit = Event(self._ctx.kernel)
            self._ctx.spawn(self._flush(self._commit), "journal")
        await self._commit.wait()

    async def _flush(self, commit: Event[None]) -> None:
        await self._ctx.sleep(GROUP_COMMIT_S)
        batch, self._waiting, self._commit = self._waiting, [], None
        data = b"".join(msgspec.json.encode(record) + b"\n" for record in batch)
        try:
            self._append(data)
        except FileError as error:
            commit.fail(error)
            return
        for record in batch:
            self.collection(record.collection).put(record.id, record.document)
        commit.set()

    def _append(self, data: bytes) -> None:
        files = self._ctx.files
        if self._journal is None:
            self._journal = files.open(self._path, write=True, create=True, append=True)
        if self._journal.write(data) < len(data):
            raise FileError("ENOSPC", self._path)
        files.sync(self._path)
        if self._journal.tell() > COMPACT_BYTES:
            self._compact()

    def _compact(self) -> None:
        """Rewrite the journal as it would be if each document had been written once."""
        files, fresh = self._ctx.files, f"{self._path}.new"
        data = b"".join(
            msgspec.json.encode(Record(name, id, document)) + b"\n"
            for name, collection in self._collections.items()
            for id, document in collection.items()
        )
        files.write(fresh, data)
        files.sync(fresh)
        files.rename(fresh, self._path)
        if self._journal is not None:
            self._journal.close()
            self._journal = None

    def _replay(self) -> None:
        if not self._ctx.files.exists(self._path):
            return
        lines = self._ctx.files.read(self._path).split(b"\n")
        for line in lines[:-1]:  # the last one is empty, or torn by a crash
            record = msgspec.json.decode(line, type=Record)
            self.collection(record.collection).put(record.id, record.document)


async def document_store(ctx: Context) -> int:
    """Run the server program. It reads ``PORT`` and ``DATA_DIR`` from its environment."""
    try:
        store = DocumentStore(ctx, ctx.env["DATA_DIR"], {"orders": ("user",)})
    except (FileError, msgspec.DecodeError) as error:
        ctx.log(f"FATAL cannot open {ctx.env['DATA_DIR']}: {error}")
        return 1
    port = int(ctx.env["PORT"])
    server = GrpcServer(ctx, Tracer(ctx, ctx.container.name))

    async def get(call: Call) -> Document | None:
        collection, id = call.payload
        return store.collection(collection).get(id)

    async def find(call: Call) -> list[Document]:
        collection, field, value = call.payload
        return store.collection(collection).find(field, value)

    async def put(call: Call) -> None:
        try:
            await store.write(Record(*call.payload))
        except FileError as error:
            raise GrpcError("Internal", f"journal write failed: {error}") from None

    server.method("get", get, READ_CPU_S)
    server.method("find", find, READ_CPU_S)
    server.method("put", put, WRITE_CPU_S)
    ctx.log(f"INFO listening on {port}, {len(store.collection('orders'))} orders")
    return await server.serve(port, graceful=True)
