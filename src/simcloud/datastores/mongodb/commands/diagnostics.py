"""Diagnostic commands: statistics, logs, parameters, current operations."""

from __future__ import annotations

from simcloud.datastores.mongodb.bson import Document, Int64, date
from simcloud.datastores.mongodb.commands.administration import (
    FILE_BYTES,
    index_bytes,
    round_to_blocks,
    storage_bytes,
)
from simcloud.datastores.mongodb.commands.registry import command, ok
from simcloud.datastores.mongodb.engine.collection import Collection
from simcloud.datastores.mongodb.failures import MongoFailure
from simcloud.datastores.mongodb.server import Request, Server
from simcloud.datastores.mongodb.statistics import describe_activity
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
    indexed = sum(index_bytes(each) * len(each.indexes) for each in collections)
    space = request.server.ctx.files.space(request.server.options.db_path)
    return ok(
        db=request.db,
        collections=len(collections),
        views=0,
        objects=documents,
        avgObjSize=size / documents if documents else 0.0,
        dataSize=size / scale,
        storageSize=sum(round_to_blocks(FILE_BYTES + each.size_bytes) for each in collections) / scale,
        indexes=indexes,
        indexSize=indexed / scale,
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
    sizes = {name: index_bytes(found) // scale for name in found.indexes} if collection is not None else {}
    stats: Document = {"ns": request.namespace, "size": found.size_bytes // scale, "count": len(found)}
    if len(found):
        stats["avgObjSize"] = found.size_bytes // len(found)
    stats.update(
        storageSize=round_to_blocks(FILE_BYTES + found.size_bytes) // scale if collection is not None else 0,
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
    request.server.status_requests += 1
    return report_status(request.server)


def report_status(server: Server) -> Document:
    """Return the counters of ``serverStatus``."""
    uptime_s = server.ctx.now - server.started_at
    resident_mib = server.ctx.memory.resident_bytes // 2**20
    # Connection pools of libmongoc check the server every ten seconds, over a connection of their own.
    pools = {
        session.remote.partition(":")[0]
        for session in server.sessions.values()
        if session.client.get("driver", {}).get("name", "").startswith("mongoc")
    }
    current = len(server.sessions) + len(pools)
    opcounters = dict(server.counters)
    opcounters["command"] += int(uptime_s / 10) * len(pools)
    requests = sum(opcounters.values())
    return ok(
        host=_get_host(server),
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
            "totalCreated": server.connections_created + len(pools),
            "active": sum(session.running is not None for session in server.sessions.values()),
        },
        globalLock={
            "totalTime": Int64(uptime_s * 1e6),
            "currentQueue": {"total": 0, "readers": 0, "writers": 0},
            "activeClients": {"total": 0, "readers": 0, "writers": 0},
        },
        **describe_activity(server, uptime_s, requests),
        opcounters={name: Int64(count) for name, count in opcounters.items()},
        mem={"bits": 64, "resident": resident_mib, "virtual": 1380 + resident_mib, "supported": True},
        metrics={
            "commands": {name: {"failed": Int64(0), "total": Int64(total)} for name, total in opcounters.items()},
            "cursor": {"timedOut": Int64(0), "open": {"noTimeout": Int64(0), "pinned": Int64(0), "total": Int64(len(server.cursors))}},
            "document": {
                name: Int64(opcounters[kind])
                for name, kind in (("deleted", "delete"), ("inserted", "insert"), ("returned", "query"), ("updated", "update"))
            },
            "ttl": {"deletedDocuments": Int64(0), "passes": Int64(uptime_s / 60)},
        },
        storageEngine={
            "name": "wiredTiger", "supportsCommittedReads": True, "oldestRequiredTimestampForCrashRecovery": None,
            "supportsPendingDrops": True, "dropPendingIdents": Int64(0), "supportsSnapshotReadConcern": True,
            "readOnly": False, "persistent": True, "backupCursorOpen": False,
        },
    )  # fmt: skip


def _get_host(server: Server) -> str:
    hostname = server.ctx.container.hostname
    return hostname if server.options.port == 27017 else f"{hostname}:{server.options.port}"


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
    """Show or set what is recorded of a database's operations: nothing (0), slow ones (1) or all (2)."""
    server = request.server
    was, slow_ms = server.profiled.get(request.db, 0), int(server.slow_s * 1000)
    level = request.number("profile")
    if "slowms" in request.body:
        server.slow_s = request.number("slowms") / 1000
    if level in (0, 1, 2):
        server.set_profiling(request.db, level)
    return ok(was=was, slowms=slow_ms, sampleRate=1.0)


@command("hostInfo", scope="cluster", actions=("hostInfo",))
def host_info(request: Request) -> Document:
    """Describe the machine and the operating system of the container."""
    machine, now = request.server.ctx.machine, request.server.ctx.now
    memory_mib = machine.memory_bytes // 2**20
    limit = request.server.ctx.container.memory_limit_bytes
    return ok(
        system={
            "currentTime": date(now), "hostname": _get_host(request.server), "cpuAddrSize": 64, "memSizeMB": Int64(memory_mib),
            "memLimitMB": Int64(limit // 2**20 if limit else memory_mib), "numCores": machine.cpu.cores, "cpuArch": "x86_64",
            "numaEnabled": False,
        },
        os={"type": "Linux", "name": "Ubuntu", "version": "18.04"},
        extra={"kernelVersion": machine.kernel_release, "libcVersion": "2.27", "pageSize": Int64(4096)},
    )  # fmt: skip


@command("top", scope="cluster", actions=("top",), admin_only=True)
def top(request: Request) -> Document:
    """List the collections; operations here take less than the millisecond that their time is counted in."""
    idle = {"time": Int64(0), "count": Int64(0)}
    kinds = ("total", "readLock", "writeLock", "queries", "getmore", "insert", "update", "remove", "commands")
    usage = {name: dict.fromkeys(kinds, idle) for name in sorted(request.server.catalog.collections)}
    return ok(totals={"note": "all times in microseconds", **usage})
