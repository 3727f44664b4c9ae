"""A running server: what its connections share, and how a command is answered."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from simcloud.datastores.mongodb.auth.users import Users
from simcloud.datastores.mongodb.bson import Document, ObjectIds
from simcloud.datastores.mongodb.commands import COMMANDS, Request
from simcloud.datastores.mongodb.commands.registry import MALFORMED
from simcloud.datastores.mongodb.cursors import Cursors
from simcloud.datastores.mongodb.engine.catalog import Catalog, check_database
from simcloud.datastores.mongodb.engine.collection import Collection
from simcloud.datastores.mongodb.engine.fuel import burned, refill
from simcloud.datastores.mongodb.extended import uuid_text
from simcloud.datastores.mongodb.failures import MongoFailure
from simcloud.datastores.mongodb.options import Options
from simcloud.datastores.mongodb.rendering import show
from simcloud.datastores.mongodb.serverlog import ServerLog
from simcloud.datastores.mongodb.storage import Storage, StorageFailed
from simcloud.datastores.mongodb.wire import reply_bytes
from simcloud.sim import Event

if TYPE_CHECKING:
    from simcloud.datastores.mongodb.session import Session
    from simcloud.machine.process import Context

MAX_NESTING: Final = 180
MAX_SHOWN: Final = 10_240
STORAGE_FAILED: Final = "storage"
STEP_CPU_S: Final = 0.000_000_5
WIREDTIGER_SOURCE: Final = "src/mongo/db/storage/wiredtiger/wiredtiger_util.cpp"
OPERATIONS: Final = {
    "insert": "insert", "find": "query", "update": "update", "delete": "delete", "getMore": "getmore",
    "findAndModify": "update", "findandmodify": "update",
}  # fmt: skip


class Server:
    """The state of one mongod."""

    def __init__(
        self, ctx: Context, options: Options, log: ServerLog, catalog: Catalog, storage: Storage
    ) -> None:
        self.ctx = ctx
        self.options = options
        self.log = log
        self.catalog = catalog
        self.storage = storage
        self.random = ctx.random("mongod")
        self.users = Users(catalog)
        self.ids = ObjectIds(self.random)
        self.process_id = self.ids.new(ctx.now)
        self.cursors = Cursors(self.random)
        self.sessions: dict[int, Session] = {}
        self.started_at = ctx.now
        self.connections_created = 0
        self.counters: dict[str, int] = dict.fromkeys(
            ("insert", "query", "update", "delete", "getmore", "command"), 0
        )
        self.slow_s = options.slow_ms / 1000
        self.stopping: Event[str] = Event(ctx.kernel)
        self.flush_wanted: Event[None] = Event(ctx.kernel)
        self.flushed: Event[None] = Event(ctx.kernel)
        self.fsync_locks = 0
        self.unlocked: Event[None] = Event(ctx.kernel)

    def run(self, session: Session, db: str, body: Document) -> tuple[Document, Request]:
        """Answer a command; failures are replies too."""
        name = next(iter(body), "")
        request = Request(self, session, db, name, body)
        info = COMMANDS.get(name)
        try:
            if info is None:
                raise MongoFailure(59, f"no such command: '{name}'")
            request.cpu_s = info.cpu_s
            counter = OPERATIONS.get(name, "command")
            self.counters[counter] += 1
            if info.admin_only and db != "admin":
                raise MongoFailure(13, f"{name} may only be run against the admin database.")
            check_nesting(body, 0)
            check_database(db)
            if self.options.auth:
                session.authorize(request, info)
            reply = info.handler(request)
            request.cpu_s += burned() * STEP_CPU_S
            return reply, request
        except MongoFailure as failure:
            request.cpu_s = (request.cpu_s or 0.000_05) + burned() * STEP_CPU_S
            return failure.reply(), request
        except MALFORMED:
            return MongoFailure(14, f"a field of the command {name} has the wrong type").reply(), request
        finally:
            refill()

    def lock_writes(self) -> None:
        """Let nobody write; locks are counted."""
        if not self.fsync_locks:
            self.unlocked = Event(self.ctx.kernel)
        self.fsync_locks += 1

    def unlock_writes(self) -> None:
        """Give one lock back."""
        self.fsync_locks -= 1
        if not self.fsync_locks:
            self.unlocked.set()

    async def durable(self) -> None:
        """Wait until what was written so far is in the journal on the disk."""
        if self.storage.has_pending:
            flushed = self.flushed
            self.flush_wanted.set()
            await flushed.wait()

    def storage_failed(self, failure: StorageFailed, thread: str) -> None:
        """The disk refused the journal or a checkpoint: say so and abort."""
        if self.stopping.is_set:
            return
        where, name = failure.operation, failure.path
        log = "log" in where
        short = name.rpartition("/")[2]
        fatal = (
            f"__log_fs_write, 255: {short}: fatal log failure"
            if log
            else f"__checkpoint_tree, 1895: {short}: fatal checkpoint failure"
        )
        lines = (
            (failure.number, f"{where}: __posix_file_write, 579: {failure.told}"),
            (failure.number, f"{where}: {fatal}: {failure.words}"),
            (
                -31804,
                f"{where}: __wt_panic, 490: the process must exit and restart: WT_PANIC: WiredTiger library panic",
            ),
        )
        for number, text in lines:
            self.log.wiredtiger(thread, number, text)
        self.log.fatal_assertion(thread, 50853, WIREDTIGER_SOURCE, 522)
        self.log.write(
            "F",
            "CONTROL",
            4757800,
            thread,
            "Writing fatal message",
            {"message": "Got signal: 6 (Aborted).\n"},
        )
        self.stopping.set(STORAGE_FAILED)

    def log_created(self, context: str, collection: Collection) -> None:
        """The two lines about a new collection."""
        disposition = {
            "uuidDisposition": "generated",
            "uuid": {"uuid": {"$uuid": uuid_text(collection.uuid)}},
        }
        self.log.say(
            "STORAGE", 20320, context, "createCollection",
            namespace=collection.namespace, **disposition, options=collection.options,
        )  # fmt: skip
        self._log_index(context, collection, "_id_")

    def build_index(self, context: str, collection: Collection, spec: Document) -> None:
        """Build an index and say so."""
        collection.add_index(spec)
        try:
            self.catalog.indexes_changed(collection)
        except MongoFailure:  # the disk has no room for it
            collection.drop_index(spec["name"])
            raise
        self._log_index(context, collection, spec["name"])

    def _log_index(self, context: str, collection: Collection, name: str) -> None:
        self.log.say(
            "INDEX", 20345, context, "Index build: done building",
            buildUUID=None, namespace=collection.namespace, index=name,
            commitTimestamp={"$timestamp": {"t": 0, "i": 0}},
        )  # fmt: skip

    def log_slow(self, request: Request, reply: Document, duration_s: float) -> None:
        """The line about a command that took long."""
        cursor = reply.get("cursor")
        attributes: dict[str, Any] = {"type": "command"}
        collection = request.body.get(request.name)
        attributes["ns"] = (
            f"{request.db}.{collection}" if collection.__class__ is str else f"{request.db}.$cmd"
        )
        application = request.session.client.get("application")
        if application.__class__ is dict:
            attributes["appName"] = application.get("name", "")
        text = show(request.shown)
        long = len(text) > MAX_SHOWN
        attributes["command"] = {"$truncated": text[:MAX_SHOWN]} if long else request.shown
        if request.plan is not None:
            attributes["planSummary"] = request.plan_summary
            attributes["keysExamined"] = request.keys_examined
            attributes["docsExamined"] = request.docs_examined
            attributes["cursorExhausted"] = True
        attributes["numYields"] = request.docs_examined // 128
        if cursor.__class__ is dict:
            attributes["nreturned"] = len(cursor.get("firstBatch") or cursor.get("nextBatch") or ())
        attributes["reslen"] = reply_bytes(reply)
        attributes["locks"] = {}
        attributes["storage"] = {}
        attributes["protocol"] = "op_msg"
        attributes["durationMillis"] = int(duration_s * 1000)
        self.log.write("I", "COMMAND", 51803, request.session.name, "Slow query", attributes)


def check_nesting(value: Any, depth: int) -> None:
    """Refuse what is nested deeper than MongoDB lets it be."""
    if depth > MAX_NESTING:
        raise MongoFailure(15, f"Document exceeds maximum nested object depth: {MAX_NESTING}")
    for each in value.values() if value.__class__ is dict else value:
        if each.__class__ is dict or each.__class__ is list:
            check_nesting(each, depth + 1)
