"""The background work of a server: journal, checkpoints, TTL indexes, memory."""

from __future__ import annotations

from bisect import bisect_left
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final
from zlib import crc32

from simcloud.datastores.mongodb.bson import Document, Int64, date, milliseconds
from simcloud.datastores.mongodb.engine.collection import Collection
from simcloud.datastores.mongodb.engine.fuel import refill
from simcloud.datastores.mongodb.failures import MongoFailure
from simcloud.datastores.mongodb.serverlog import ServerLog
from simcloud.datastores.mongodb.storage import StorageFailed
from simcloud.datastores.mongodb.storage.layout import (
    SESSIONS,
    SESSIONS_INDEX,
    VERSION_DOCUMENT,
    add_diagnostics,
    date_diagnostics,
    write_diagnostics,
)
from simcloud.datastores.mongodb.version import BUILD_INFO
from simcloud.machine import HOUR_S, ContainerLog
from simcloud.sim import Event, TimedOut

if TYPE_CHECKING:
    from simcloud.datastores.mongodb.server import Server

JOURNAL_S: Final = 0.1
CHECKPOINT_S: Final = 60.0
MEAN_CHECKPOINT_S: Final = 60.047
EXPIRY_S: Final = 60.0
DIAGNOSTICS_IN_CHECKPOINT: Final = 6
"""How often the diagnostic data is written between two checkpoints."""
TRANSACTIONS: Final = 2
"""Numbers that each checkpoint takes."""
SLOW_STATUS_S: Final = 9 * HOUR_S
"""Mean time between two readings of diagnostic data that take more than a second."""
STATUS_SECTIONS: Final = (
    "basic", "asserts", "connections", "electionMetrics", "extra_info", "flowControl", "globalLock", "indexBulkBuilder",
    "locks", "logicalSessionRecordCache", "mirroredReads", "network", "opLatencies", "opReadConcernCounters",
    "opcounters", "opcountersRepl", "oplogTruncation", "repl", "security", "storageEngine", "tcmalloc",
    "trafficRecording", "transactions", "transportSecurity", "twoPhaseCommitCoordinator", "wiredTiger",
)  # fmt: skip
OVERHEAD: Final = 3
"""Memory of a document as a multiple of its size: itself, its place in the cache, its indexes."""


class Maintenance:
    """The background threads of one server."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self._data_bytes = 0
        self._written: Event[None] = Event(server.ctx.kernel)
        self._checkpoint_s = server.ctx.now
        self._next_at = 0.0
        """The time of the last checkpoint on the machine's clock, and of the next one on the kernel's."""

    def first_collections(self) -> None:
        """Every server has these; a fresh one makes them."""
        server = self._server
        version = self._make("initandlisten", "admin.system.version")
        if version is not None:
            version.insert(dict(VERSION_DOCUMENT))
            server.log.say(
                "COMMAND", 20459, "initandlisten", "Setting featureCompatibilityVersion", newVersion="4.4"
            )
        server.log.say("STORAGE", 20536, "initandlisten", "Flow Control is enabled on this deployment")
        self._make("initandlisten", "local.startup_log", {"capped": True, "size": 10_485_760})
        starts, ctx = server.catalog.find("local.startup_log"), server.ctx
        if starts is not None:
            starts.insert(
                {
                    "_id": f"{ctx.container.hostname}-{int(ctx.now * 1000)}",
                    "hostname": ctx.container.hostname,
                    "startTime": date(ctx.now),
                    "startTimeLocal": f"{datetime.fromtimestamp(ctx.now, UTC):%a %b %e %H:%M:%S.%f}"[:-3],
                    "cmdLine": server.options.given,
                    "pid": Int64(ctx.process.pid),
                    "buildinfo": dict(BUILD_INFO),
                }
            )

    def _make(self, context: str, namespace: str, options: Document | None = None) -> Collection | None:
        """Return a collection that was not there yet."""
        server = self._server
        if server.catalog.find(namespace) is not None:
            return None
        try:
            made = server.catalog.create(namespace, options)
        except MongoFailure:
            return None  # the journal will tell what is wrong with the disk
        server.log_created(context, made)
        return made

    def start(self) -> None:
        """Begin."""
        ctx, log = self._server.ctx, self._server.log
        if self._server.catalog.find(SESSIONS) is None:
            missing = {"error": f"NamespaceNotFound: {SESSIONS} does not exist"}
            words = "Sessions collection is not set up; waiting until next sessions reap interval"
            log.write("I", "CONTROL", 20712, "LogicalSessionCacheReap", words, missing)
            made = self._make("LogicalSessionCacheRefresh", SESSIONS)
            if made is not None:
                try:
                    self._server.build_index("LogicalSessionCacheRefresh", made, SESSIONS_INDEX)
                except MongoFailure:
                    pass  # the journal will report the failure of the disk
        self._account()
        ctx.spawn(self._journal(), "JournalFlusher")
        ctx.spawn(self._checkpoints(), "WTCheckpointThread")
        ctx.spawn(self._expiry(), "TTLMonitor")
        ctx.spawn(self._slow_statuses(), "ftdc")

    async def _journal(self) -> None:
        """Flush 100 ms after a first change, or as soon as a client waits for it."""
        server, kernel = self._server, self._server.ctx.kernel
        server.storage.on_pending = self._something_written
        if server.storage.has_pending:
            self._written.set()
        while True:
            await self._written.wait()
            self._written = Event(kernel)
            try:
                await server.flush_wanted.wait(JOURNAL_S)
            except TimedOut:
                pass
            server.flush_wanted = Event(kernel)
            flushed, server.flushed = server.flushed, Event(kernel)
            try:
                delay_s = server.storage.flush()
                if server.storage.wants_checkpoint:
                    delay_s += server.storage.checkpoint()
            except StorageFailed as failure:
                server.storage_failed(failure, "JournalFlusher")
                return
            if delay_s:
                await server.ctx.sleep(delay_s)
            self._account()
            flushed.set()

    def _something_written(self) -> None:
        self._written.set()

    def _account(self) -> None:
        """Memory follows the data."""
        total = sum(each.size_bytes for each in self._server.catalog.collections.values()) * OVERHEAD
        if total != self._data_bytes:
            self._server.ctx.memory.grow(total - self._data_bytes)
            self._data_bytes = total

    async def _checkpoints(self) -> None:
        """Every minute, write a checkpoint and the diagnostic data, whose file is replaced more often."""
        server = self._server
        ctx, storage, passed_s = server.ctx, server.storage, 0
        random = ctx.random("mongod checkpoints")
        write_diagnostics(ctx, server.options.db_path, 0)
        ctx.process.on_skip.append(self._add_past)
        while True:
            wait_s = CHECKPOINT_S + random.uniform(0.004, 0.09)
            self._checkpoint_s, self._next_at = ctx.now, ctx.kernel.now + wait_s
            for _ in range(DIAGNOSTICS_IN_CHECKPOINT):
                await ctx.sleep(wait_s / DIAGNOSTICS_IN_CHECKPOINT)
                date_diagnostics(ctx, server.options.db_path)
            passed_s += int(CHECKPOINT_S)
            storage.background_transactions += TRANSACTIONS
            server.log.add(server.log.format_checkpoint(storage.transactions, ctx.now))
            try:
                delay_s = storage.checkpoint()
            except StorageFailed as failure:
                server.storage_failed(failure, "WTCheckpointThread")
                return
            write_diagnostics(ctx, server.options.db_path, passed_s)
            await ctx.sleep(delay_s)

    def _add_past(self, seconds: float) -> None:
        """Time was skipped: there were checkpoints in it, each with its line, and diagnostic data."""
        server, ctx = self._server, self._server.ctx
        log, end_s = ctx.container.log, ctx.now + self._next_at - ctx.kernel.now
        count = round((end_s - self._checkpoint_s) / MEAN_CHECKPOINT_S) - 1
        if count < 1:
            return
        try:
            server.storage.checkpoint_in_past(self._checkpoint_s + CHECKPOINT_S)
        except StorageFailed:
            pass  # the next checkpoint will report it
        past = PastCheckpoints(server.log, count, self._checkpoint_s, end_s, server.storage.transactions)
        if not server.options.log_path and isinstance(log, ContainerLog):
            log.add_past(past)
        server.log.total_lines += count
        server.storage.background_transactions += (
            past.find_transaction(count - 1) - server.storage.transactions
        )
        add_diagnostics(ctx, server.options.db_path, seconds)
        self._checkpoint_s = past.find_time(count - 1)

    async def _slow_statuses(self) -> None:
        """From time to time the thread that reads diagnostic data has to wait, for memory statistics as a rule."""
        ctx = self._server.ctx
        random = ctx.random("occasional lines")
        while True:
            await ctx.sleep(random.expovariate(1 / SLOW_STATUS_S))
            wait_ms = 1000 + int(min(random.expovariate(1 / 90), 900))
            from_here = STATUS_SECTIONS.index("tcmalloc")
            stats = {
                f"after {name}": wait_ms * (place >= from_here) for place, name in enumerate(STATUS_SECTIONS)
            }
            stats["at end"] = wait_ms + random.randrange(2)
            self._server.log.say("COMMAND", 20499, "ftdc", "serverStatus was very slow", timeStats=stats)

    async def _expiry(self) -> None:
        """Once a minute, remove what indexes with ``expireAfterSeconds`` say is too old."""
        server = self._server
        while True:
            await server.ctx.sleep(EXPIRY_S)
            now = server.ctx.now
            refill()
            for collection in list(server.catalog.collections.values()):
                for index in list(collection.indexes.values()):
                    seconds = index.spec.get("expireAfterSeconds")
                    if isinstance(seconds, int | float):
                        limit_ms = (now - seconds) * 1000
                        old = [
                            row
                            for row, document in collection.rows.items()
                            if isinstance(moment := document.get(index.first), datetime)
                            and milliseconds(moment) <= limit_ms
                        ]
                        for row in old:
                            collection.delete(row)


class PastCheckpoints:
    """The lines about the checkpoints of skipped time, evenly spread over it."""

    def __init__(self, log: ServerLog, count: int, start_s: float, end_s: float, transaction: int) -> None:
        self.count = count
        self._log = log
        self._start_s = start_s
        self._step_s = (end_s - start_s) / (count + 1)
        self._transaction = transaction

    def find_transaction(self, number: int) -> int:
        """Return the transaction of a checkpoint; they only rise."""
        return self._transaction + (number + 1) * TRANSACTIONS

    def find_time(self, number: int) -> float:
        """Return the time of a checkpoint. Its microseconds have six digits, so that all lines are about as long."""
        even_s = self._start_s + (number + 1) * self._step_s
        time_s = even_s + crc32(b"%d" % int(even_s)) % 40_000 / 1e6
        return int(time_s) + 0.1 + 0.9 * (time_s % 1)

    def measure(self, first: int, end: int) -> int:
        """Return the bytes of the lines, which differ only in the digits of two numbers."""
        line_bytes = len(self.read(first)[1]) - 2 * len(str(self.find_transaction(first)))
        digits = 0
        for power in range(len(str(self.find_transaction(end)))):
            digits += end - bisect_left(range(end), 10**power, first, end, key=self.find_transaction)
        return line_bytes * (end - first) + 2 * digits

    def read(self, number: int) -> tuple[float, str]:
        """Return the time and the text of a line."""
        time_s = self.find_time(number)
        return time_s + 0.000_05, self._log.format_checkpoint(self.find_transaction(number), time_s)
