"""The background work of a server: journal, checkpoints, TTL indexes, memory."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Final

from simcloud.datastores.mongodb.bson import Document, milliseconds
from simcloud.datastores.mongodb.engine.collection import Collection
from simcloud.datastores.mongodb.engine.fuel import refill
from simcloud.datastores.mongodb.failures import MongoFailure
from simcloud.datastores.mongodb.storage import StorageFailed
from simcloud.sim import Event, TimedOut

if TYPE_CHECKING:
    from simcloud.datastores.mongodb.server import Server

JOURNAL_S: Final = 0.1
CHECKPOINT_S: Final = 60.0
EXPIRY_S: Final = 60.0
OVERHEAD: Final = 3
"""Memory of a document as a multiple of its size: itself, its place in the cache, its indexes."""

SESSIONS: Final = "config.system.sessions"
SESSIONS_INDEX: Final = {"v": 2, "key": {"lastUse": 1}, "name": "lsidTTLIndex", "expireAfterSeconds": 1800}


class Maintenance:
    """The background threads of one server."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self._data_bytes = 0
        self._written: Event[None] = Event(server.ctx.kernel)

    def first_collections(self) -> None:
        """Every server has these; a fresh one makes them."""
        server = self._server
        version = self._make("initandlisten", "admin.system.version")
        if version is not None:
            version.insert({"_id": "featureCompatibilityVersion", "version": "4.4"})
            server.log.say(
                "COMMAND", 20459, "initandlisten", "Setting featureCompatibilityVersion", newVersion="4.4"
            )
        server.log.say("STORAGE", 20536, "initandlisten", "Flow Control is enabled on this deployment")
        self._make("initandlisten", "local.startup_log", {"capped": True, "size": 10_485_760})

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
        server = self._server
        while True:
            await server.ctx.sleep(CHECKPOINT_S)
            try:
                delay_s = server.storage.checkpoint()
            except StorageFailed as failure:
                server.storage_failed(failure, "WTCheckpointThread")
                return
            if delay_s:
                await server.ctx.sleep(delay_s)

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
