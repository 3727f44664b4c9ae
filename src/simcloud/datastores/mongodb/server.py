"""A running server: its shared state, its sessions, and the requests in progress."""

from __future__ import annotations

from typing import Any, Final

from simcloud.datastores.mongodb.auth.roles import allows
from simcloud.datastores.mongodb.auth.scram import LogIn
from simcloud.datastores.mongodb.auth.users import Users
from simcloud.datastores.mongodb.bson import Document, ObjectIds, date, new_uuid, type_name
from simcloud.datastores.mongodb.cursors import Cursors
from simcloud.datastores.mongodb.document_text import show
from simcloud.datastores.mongodb.engine.catalog import Catalog
from simcloud.datastores.mongodb.engine.collection import Collection, Plan
from simcloud.datastores.mongodb.engine.fuel import burn
from simcloud.datastores.mongodb.extended_json import uuid_text
from simcloud.datastores.mongodb.failures import MongoFailure, bad_value
from simcloud.datastores.mongodb.options import Options
from simcloud.datastores.mongodb.serverlog import ServerLog
from simcloud.datastores.mongodb.storage import Storage, StorageFailed
from simcloud.datastores.mongodb.wire import reply_bytes
from simcloud.machine.network import Connection
from simcloud.machine.process import Context, Counted
from simcloud.sim import Event

MAX_SHOWN: Final = 10_240
PROFILE: Final = "system.profile"
PROFILE_BYTES: Final = 1_048_576
PROFILED: Final = {
    **{name: name for name in ("ns", "command", "keysExamined", "docsExamined", "cursorExhausted")},
    "numYields": "numYield",
    **{name: name for name in ("nreturned", "locks", "storage")},
    "reslen": "responseLength",
    "protocol": "protocol",
    "durationMillis": "millis",
    "planSummary": "planSummary",
}
"""The fields of a record of the profiler by their names in the log, in the record's order."""
PROFILED_KINDS: Final = {
    "find": "query",
    "getMore": "getmore",
    "delete": "remove",
    "insert": "insert",
    "update": "update",
}
PROFILED_BYTES: Final = 900
"""About how large a record of the profiler is."""

STORAGE_FAILED: Final = "storage"
WIREDTIGER_SOURCE: Final = "src/mongo/db/storage/wiredtiger/wiredtiger_util.cpp"
THREAD_BYTES: Final = 1024 * 1024
FIRST_STEPS: Final = frozenset({"createUser", "grantRole", "createRole"})
"""What a local client may do while there is no user at all."""

SEQUENCES: Final = ("documents", "updates", "deletes")
"""Fields that travel beside a command and so are not shown in messages about it."""

EXAMINE_CPU_S: Final = 0.000_002
"""What looking at one document costs."""


class Request:
    """A command in progress."""

    __slots__ = (
        "body", "cpu_s", "db", "docs_examined", "durable", "keys_examined", "name", "plan", "server", "session",
    )  # fmt: skip

    def __init__(self, server: Server, session: Session, db: str, name: str, body: Document) -> None:
        self.server = server
        self.session = session
        self.db = db
        self.name = name
        self.body = body
        self.cpu_s = 0.0
        self.durable = False
        self.docs_examined = 0
        self.keys_examined = 0
        self.plan: Plan | None = None

    @property
    def namespace(self) -> str:
        """The collection the command names, with its database."""
        collection = self.body[self.name]
        if collection.__class__ is not str:
            raise bad_value(f"collection name has invalid type {type_name(collection)}")
        if not collection:
            raise MongoFailure(73, f"Invalid namespace specified '{self.db}.'")
        return f"{self.db}.{collection}"

    def collection(self) -> Collection | None:
        """Return the collection the command names, if it exists."""
        return self.server.catalog.collections.get(self.namespace)

    def need_collection(self) -> Collection:
        """Return the collection the command names, made if there is none."""
        found = self.collection()
        if found is None:
            found = self.server.catalog.create(self.namespace)
            self.server.log_created(self.session.name, found)
        return found

    def document(self, field: str) -> Document:
        """Return a field that holds a document; empty when it is not given."""
        value = self.body.get(field)
        if value is None:
            return {}
        if value.__class__ is not dict:
            raise MongoFailure(
                14,
                f"BSON field '{self.name}.{field}' is the wrong type '{type_name(value)}', expected type 'object'",
            )
        return value

    def number(self, field: str, default: int = 0) -> int:
        """Return a field that holds a whole number."""
        value = self.body.get(field, default)
        if value is None:
            return default
        if value.__class__ is bool or not isinstance(value, int | float) or value != value:
            raise MongoFailure(14, f"Field '{field}' should be a number, but found: {type_name(value)}")
        return int(max(-(2**63), min(2**63 - 1, value)))

    @property
    def shown(self) -> Document:
        """The command as messages and the log show it."""
        body = {name: value for name, value in self.body.items() if name not in SEQUENCES}
        return {**body, "$db": self.db}

    @property
    def plan_summary(self) -> str:
        """How the documents were found, as the log has it; empty when none were looked for."""
        if self.plan is None:
            return ""
        index = self.plan.index
        if index is None:
            return "COLLSCAN"
        if index.name == "_id_" and self.plan.test is None:
            return "IDHACK"
        return f"IXSCAN {show(index.key)}"

    def count_examined(self, documents: int, keys: int = 0) -> None:
        """Count examined documents and keys, and add their CPU time."""
        self.docs_examined += documents
        self.keys_examined += keys
        self.cpu_s += documents * EXAMINE_CPU_S
        if documents > 1:
            burn(documents)


class Session:
    """A connection and its logged-in users."""

    def __init__(self, server: Server, connection: Connection, number: int) -> None:
        self.server = server
        self.number = number
        self.name = f"conn{number}"
        self.remote = f"{connection.remote[0]}:{connection.remote[1]}"
        self.client: Document = {}
        self.log_in: LogIn | None = None
        self.users: dict[str, str] = {}
        self.running: Request | None = None
        self.running_since = 0.0
        self.waiting_for_lock = False
        self.local = connection.remote[0].startswith("127.")
        self.connection = connection

    def introduce(self, client: Document) -> None:
        """Log the metadata of the client, once per connection."""
        if client and not self.client:
            self.client = client
            about = {"remote": self.remote, "client": self.name, "doc": client}
            self.server.log.say("NETWORK", 51800, self.name, "client metadata", **about)

    def need(self, request: Request, action: str, db: str, collection: str = "") -> None:
        """Raise ``Unauthorized`` unless this action is allowed there."""
        if not self.server.options.auth or self._may(action, db, collection):
            return
        message = f"not authorized on {request.db} to execute command {show(request.shown)}"
        failure = MongoFailure(13, message)
        error = {"code": 13, "codeName": failure.name, "errmsg": message}
        self.server.log.say("ACCESS", 20436, self.name, "Checking authorization failed", error=error)
        raise failure

    def may(self, action: str, db: str, collection: str = "") -> bool:
        """Return whether this action is allowed there."""
        return not self.server.options.auth or self._may(action, db, collection)

    def _may(self, action: str, db: str, collection: str) -> bool:
        users = self.server.users
        if not self.users:
            return self.local and users.none_exist and action in FIRST_STEPS
        for home, user in self.users.items():
            privileges = users.privileges(user, home)
            if privileges is not None and allows(privileges, action, db, collection):
                return True
        return False

    def has_known_users(self) -> bool:
        """Return whether a user that still exists is logged in."""
        for db, user in list(self.users.items()):
            if self.server.users.find(user, db) is None:
                del self.users[db]
        return bool(self.users)

    def end(self) -> None:
        """Hang up and free what the connection held."""
        self.connection.close()
        if self.server.sessions.pop(self.number, None) is not None:
            self.server.ctx.memory.grow(-THREAD_BYTES)
            self.server.ctx.process.threads -= 1


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
        self.status_requests = 0
        self.counters: dict[str, int] = dict.fromkeys(
            ("insert", "query", "update", "delete", "getmore", "command"), 0
        )
        self.slow_s = options.slow_ms / 1000
        self.profiled: dict[str, int] = {}
        """The level of the profiler by database; 0 is left out."""
        self.stopping: Event[str] = Event(ctx.kernel)
        self.flush_wanted: Event[None] = Event(ctx.kernel)
        self.flushed: Event[None] = Event(ctx.kernel)
        self._builds = 0
        self.fsync_locks = 0
        self.unlocked: Event[None] = Event(ctx.kernel)

    def list_counters(self) -> list[Counted]:
        """Return what is counted of the requests.

        There were no more writes than the documents tell, and the caches of clients read a document at most once. The drivers'
        heartbeats, most of the commands, are counted when somebody asks.
        """
        return [
            Counted(self, ("connections_created",)),
            Counted(self.counters, ("insert", "query", "update", "delete", "getmore"), self._limit_past),
        ]

    def _limit_past(self, _name: str) -> float:
        return sum(map(len, self.catalog.collections.values())) // 2

    def lock_writes(self) -> None:
        """Block writes; locks are counted."""
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
        panic = "__wt_panic, 490: the process must exit and restart: WT_PANIC: WiredTiger library panic"
        lines = (
            (failure.number, f"{where}: __posix_file_write, 579: {failure.write_message}"),
            (failure.number, f"{where}: {fatal}: {failure.words}"),
            (-31804, f"{where}: {panic}"),
        )
        for number, text in lines:
            self.log.wiredtiger(thread, number, text)
        self.log.fatal_assertion(thread, 50853, WIREDTIGER_SOURCE, 522)
        details = {"message": "Got signal: 6 (Aborted).\n"}
        self.log.write("F", "CONTROL", 4757800, thread, "Writing fatal message", details)
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
        """Build an index and say so. The index of an empty collection needs no scan and is logged by one line."""
        build = {"uuid": {"$uuid": uuid_text(new_uuid(self.random))}} if len(collection) else None
        if build is not None:
            self._log_build(context, collection, spec, build)
        before = len(collection.indexes)
        collection.add_index(spec)
        try:
            self.catalog.indexes_changed(collection)
        except MongoFailure:  # the disk has no room for it
            collection.drop_index(spec["name"])
            raise
        self._log_index(context, collection, spec["name"], build)
        if build is not None:
            uuid = {"uuid": {"$uuid": uuid_text(collection.uuid)}}
            self.log.say(
                "STORAGE", 20663, f"IndexBuildsCoordinatorMongod-{self._builds}", "Index build: completed successfully",
                buildUUID=build, namespace=collection.namespace, uuid=uuid, indexesBuilt=1,
                numIndexesBefore=before, numIndexesAfter=before + 1,
            )  # fmt: skip
            self.log.say("INDEX", 20447, context, "Index build: completed", buildUUID=build)
            self._builds += 1

    def _log_build(self, context: str, collection: Collection, spec: Document, build: Document) -> None:
        """Log the phases of a build up to the end of the scan. The coordinator's thread does the work."""
        thread, uuid = (
            f"IndexBuildsCoordinatorMongod-{self._builds}",
            {"uuid": {"$uuid": uuid_text(collection.uuid)}},
        )
        namespace, count, name = collection.namespace, len(collection), spec["name"]
        about = {"buildUUID": build, "namespace": namespace, "collectionUUID": uuid}
        endless = {"$date": {"$numberLong": "9223372036854775807"}}
        phases: tuple[tuple[str, int, str, Document], ...] = (
            (context, 20438, "registering", {**about, "indexes": 1, "firstIndex": {"name": name}}),
            (thread, 20384, "starting", {"namespace": namespace, "buildUUID": build, "properties": spec, "method": "Hybrid", "maxTemporaryMemoryUsageMB": 200}),
            (thread, 20346, "initialized", {**about, "initializationTimestamp": {"$timestamp": {"t": 0, "i": 0}}}),
            (context, 20440, "waiting for index build to complete", {"buildUUID": build, "deadline": endless}),
            (thread, 20391, "collection scan done", {"buildUUID": build, "totalRecords": count, "readSource": "kUnset", "durationMillis": 0}),
            (thread, 20685, "inserted keys from external sorter into index", {"namespace": namespace, "index": name, "keysInserted": count, "durationMillis": 0}),
        )  # fmt: skip
        for where, id, text, attributes in phases:
            self.log.write("I", "INDEX", id, where, f"Index build: {text}", attributes)

    def _log_index(
        self, context: str, collection: Collection, name: str, build: Document | None = None
    ) -> None:
        self.log.say(
            "INDEX", 20345, context if build is None else f"IndexBuildsCoordinatorMongod-{self._builds}", "Index build: done building",
            buildUUID=build, namespace=collection.namespace, index=name,
            commitTimestamp={"$timestamp": {"t": 0, "i": 0}},
        )  # fmt: skip

    def set_profiling(self, db: str, level: int) -> None:
        """Set the level of the profiler for a database."""
        self.profiled.pop(db, None)
        if level:
            self.profiled[db] = level
            namespace = f"{db}.{PROFILE}"
            if self.catalog.find(namespace) is None:
                self.catalog.create(namespace, {"capped": True, "size": PROFILE_BYTES})

    def profile(self, request: Request, reply: Document, duration_s: float) -> None:
        """Record an operation in the database's ``system.profile``, which keeps the latest megabyte."""
        collection = self.catalog.find(f"{request.db}.{PROFILE}")
        slow = duration_s > self.slow_s
        if collection is None or not (slow or self.profiled[request.db] > 1):
            return
        details = self._describe_operation(request, reply, duration_s)
        users = request.session.users.items()
        document: Document = {
            "op": PROFILED_KINDS.get(request.name, "command"),
            **{name: details[logged] for logged, name in PROFILED.items() if logged in details},
            "ts": date(self.ctx.now),
            "client": request.session.remote.partition(":")[0],
            **({"appName": details["appName"]} if "appName" in details else {}),
            "allUsers": [{"user": name, "db": db} for db, name in users],
            "user": next((f"{name}@{db}" for db, name in users), ""),
        }
        collection.restore(max(collection.rows, default=0) + 1, document, PROFILED_BYTES)
        while collection.size_bytes > PROFILE_BYTES:
            collection.restore(next(iter(collection.rows)), None, 0)

    def log_slow(self, request: Request, reply: Document, duration_s: float) -> None:
        """The line about a command that took long."""
        attributes = self._describe_operation(request, reply, duration_s)
        self.log.write("I", "COMMAND", 51803, request.session.name, "Slow query", attributes)

    def _describe_operation(self, request: Request, reply: Document, duration_s: float) -> Document:
        """Return what the log and the profiler tell about a command."""
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
        return attributes
