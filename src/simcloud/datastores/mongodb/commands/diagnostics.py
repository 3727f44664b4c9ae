"""Diagnostic commands: statistics, logs, parameters, current operations."""

from __future__ import annotations

from simcloud.datastores.mongodb.bson import Document, Int64, date
from simcloud.datastores.mongodb.commands.administration import FILE_BYTES, storage_bytes
from simcloud.datastores.mongodb.commands.registry import command, ok
from simcloud.datastores.mongodb.engine.collection import Collection
from simcloud.datastores.mongodb.failures import MongoFailure
from simcloud.datastores.mongodb.server import Request
from simcloud.datastores.mongodb.version import VERSION

BROUGHT = ("documents", "updates", "deletes")


@command("dbStats", "dbstats", scope="database", actions=("dbStats",))
def db_stats(request: Request) -> Document:
    """Return the sizes of a database."""
    scale = max(1, request.number("scale", 1))
    collections = request.server.catalog.of(request.db)
    documents = sum(map(len, collections))
    size = sum(each.size_bytes for each in collections)
    indexes = sum(len(each.indexes) for each in collections)
    index_bytes = sum((FILE_BYTES + 16 * len(each)) * len(each.indexes) for each in collections)
    space = request.server.ctx.files.space(request.server.options.db_path)
    return ok(
        db=request.db,
        collections=len(collections),
        views=0,
        objects=documents,
        avgObjSize=size / documents if documents else 0.0,
        dataSize=size / scale,
        storageSize=sum(FILE_BYTES + each.size_bytes for each in collections) / scale,
        indexes=indexes,
        indexSize=index_bytes / scale,
        totalSize=sum(map(storage_bytes, collections)) / scale,
        scaleFactor=float(scale),
        fsUsedSize=float(space.used_bytes) / scale,
        fsTotalSize=float(space.total_bytes) / scale,
    )


@command("collStats", "collstats", scope="collection", actions=("collStats",))
def coll_stats(request: Request) -> Document:
    """Return the sizes of a collection."""
    collection = request.collection()
    scale = max(1, request.number("scale", 1))
    found = collection if collection is not None else Collection(request.namespace, "")
    sizes = (
        {name: (FILE_BYTES + 16 * len(found)) // scale for name in found.indexes}
        if collection is not None
        else {}
    )
    stats: Document = {"ns": request.namespace, "size": found.size_bytes // scale, "count": len(found)}
    if len(found):
        stats["avgObjSize"] = found.size_bytes // len(found)
    stats.update(
        storageSize=(FILE_BYTES + found.size_bytes) // scale if collection is not None else 0,
        freeStorageSize=0,
        capped=bool(found.options.get("capped")),
        nindexes=len(sizes),
        indexBuilds=[],
        totalIndexSize=sum(sizes.values()),
        totalSize=storage_bytes(found) // scale if collection is not None else 0,
        indexSizes=sizes,
        scaleFactor=scale,
        ok=1.0,
    )
    return stats


@command("serverStatus", scope="cluster", actions=("serverStatus",))
def server_status(request: Request) -> Document:
    """Return the server's counters."""
    server = request.server
    uptime_s = server.ctx.now - server.started_at
    resident_mib = server.ctx.memory.resident_bytes // 2**20
    current = len(server.sessions)
    return ok(
        host=_host(request),
        version=VERSION,
        process="mongod",
        pid=Int64(server.ctx.process.pid),
        uptime=float(int(uptime_s)),
        uptimeMillis=Int64(uptime_s * 1000),
        uptimeEstimate=Int64(uptime_s),
        localTime=date(server.ctx.now),
        asserts={"regular": 0, "warning": 0, "msg": 0, "user": 0, "rollovers": 0},
        connections={
            "current": current,
            "available": server.options.max_connections - current,
            "totalCreated": server.connections_created,
            "active": sum(session.running is not None for session in server.sessions.values()),
        },
        globalLock={
            "totalTime": Int64(uptime_s * 1e6),
            "currentQueue": {"total": 0, "readers": 0, "writers": 0},
        },
        network={"numRequests": Int64(sum(server.counters.values()))},
        opcounters=dict(server.counters),
        mem={"bits": 64, "resident": resident_mib, "virtual": 1500 + resident_mib, "supported": True},
        metrics={"cursor": {"open": {"total": Int64(len(server.cursors))}}},
        storageEngine={
            "name": "wiredTiger",
            "supportsCommittedReads": True,
            "persistent": True,
            "readOnly": False,
        },
    )


def _host(request: Request) -> str:
    hostname = request.server.ctx.container.hostname
    return hostname if request.server.options.port == 27017 else f"{hostname}:{request.server.options.port}"


@command("getLog", scope="cluster", actions=("getLog",), admin_only=True)
def get_log(request: Request) -> Document:
    """Return the last lines of the log."""
    log, wanted = request.server.log, request.body["getLog"]
    if wanted == "*":
        return ok(names=["global", "startupWarnings"])
    if wanted not in ("global", "startupWarnings"):
        raise MongoFailure(96, f"no RamLog named: {wanted}")
    lines = list(log.recent) if wanted == "global" else list(log.warnings)
    return ok(totalLinesWritten=log.total_lines if wanted == "global" else len(lines), log=lines)


@command("getCmdLineOpts", scope="cluster", actions=("getCmdLineOpts",), admin_only=True)
def get_command_line(request: Request) -> Document:
    """Return how the server was started."""
    return ok(argv=list(request.server.ctx.args), parsed=request.server.options.given)


def _strip_documents(body: Document) -> Document:
    """Return a command without its documents, which are not part of its description."""
    return {name: value for name, value in body.items() if name not in BROUGHT}


@command("currentOp", scope="cluster", actions=("inprog",), admin_only=True)
def current_op(request: Request) -> Document:
    """List the current operations."""
    server = request.server
    operations: list[Document] = []
    for session in server.sessions.values():
        running = session.running
        if running is None and session is not request.session:
            continue
        running = running or request
        seconds = (
            max(0.0, server.ctx.kernel.now - session.running_since) if session.running is not None else 0.0
        )
        operations.append(
            {
                "type": "op",
                "host": f"{server.ctx.container.hostname}:{server.options.port}",
                "desc": session.name,
                "connectionId": session.number,
                "client": session.remote,
                "active": True,
                "opid": session.number,
                "secs_running": Int64(seconds),
                "microsecs_running": Int64(seconds * 1e6),
                "op": "command",
                "ns": f"{running.db}.$cmd",
                "command": {**_strip_documents(running.body), "$db": running.db},
                "numYields": 0,
                "waitingForLock": session.waiting_for_lock,
            }
        )
    locked = {"fsyncLock": True, "info": "use db.fsyncUnlock() to terminate the fsync write/snapshot lock"}
    return ok(inprog=operations, **(locked if server.fsync_locks else {}))


@command("replSetGetStatus", scope="cluster", actions=("replSetGetStatus",), admin_only=True)
def repl_set_status(request: Request) -> Document:
    """This server is no member of a replica set."""
    if request.server.options.replica_set:
        raise MongoFailure(94, "no replset config has been received")
    raise MongoFailure(76, "not running with --replSet")


@command(
    "replSetInitiate",
    "replSetGetConfig",
    "replSetReconfig",
    scope="cluster",
    actions=("replSetConfigure",),
    admin_only=True,
)
def repl_set(request: Request) -> Document:
    """Nor can it become one."""
    if request.name == "replSetInitiate":
        raise MongoFailure(76, "This node was not started with the replSet option")
    raise MongoFailure(76, "not running with --replSet")


@command("profile", scope="database", actions=("enableProfiler",))
def profile(request: Request) -> Document:
    """The profiler stays off; the slow-query threshold can be changed."""
    was = int(request.server.slow_s * 1000)
    if "slowms" in request.body:
        request.server.slow_s = request.number("slowms") / 1000
    if request.number("profile") > 0:
        raise MongoFailure(20, "the profiler is not supported by this server; slow operations are in its log")
    return ok(was=0, slowms=was, sampleRate=1.0)
