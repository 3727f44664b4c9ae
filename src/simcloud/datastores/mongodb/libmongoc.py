"""A client that behaves like libmongoc, the C driver of the social network's services.

Server selection happens for every operation and takes at most 300 ms; if it fails, the error shows the cause of the
last attempt. A pool has at most 512 clients, with one connection each.
"""

from __future__ import annotations

from typing import Final

from simcloud.datastores.mongodb.bson import Document
from simcloud.datastores.mongodb.driver import MongoError, Socket
from simcloud.datastores.mongodb.wire import MONGODB, MONGODB_TLS, PORT
from simcloud.machine.network import (
    ConnectionRefused,
    ConnectTimedOut,
    NameNotFound,
    NetworkError,
    ResolverFailure,
)
from simcloud.machine.process import Context
from simcloud.sim import Event, TimedOut

SELECTION_S: Final = 0.3
SOCKET_TIMEOUT_S: Final = 300.0
RETRY_S: Final = 0.05
POOL_LIMIT: Final = 512
NO_SERVER: Final = 13053
STREAM_SOCKET: Final = 4
HELLO: Final[Document] = {
    "isMaster": 1,
    "client": {
        "driver": {"name": "mongoc / mongocxx", "version": "1.15.0 / 3.4.1"},
        "os": {"type": "Linux", "name": "Ubuntu", "version": "16.04", "architecture": "x86_64"},
        "platform": "cfg=0x0000d6a0e9 posix=200809 stdc=201112 CC=GCC 5.4.0",
    },
}


class MongocPool:
    """A pool of clients of one server."""

    def __init__(self, ctx: Context, address: str, tls: bool = False) -> None:
        self._ctx = ctx
        host, _, port = address.partition(":")
        self._host, self._port = host, int(port or PORT)
        self._protocol = MONGODB_TLS if tls else MONGODB
        self._idle: list[Socket] = []
        self._in_use = 0
        self._freed: Event[None] = Event(ctx.kernel)

    async def run(self, db: str, body: Document) -> Document:
        """Run a command with a client of the pool; a reply that is not ok, or a write error, is raised."""
        while self._in_use >= POOL_LIMIT:
            await self._freed.wait()
        self._in_use += 1
        try:
            socket = await self._select()
            reply = await self._converse(socket, db, body)
        finally:
            self._in_use -= 1
            freed, self._freed = self._freed, Event(self._ctx.kernel)
            freed.set()
        self._idle.append(socket)
        if not reply["ok"]:
            raise MongoError(reply["errmsg"], reply["code"])
        for error in reply.get("writeErrors") or ():
            raise MongoError(error["errmsg"], error["code"])
        return reply

    async def _converse(self, socket: Socket, db: str, body: Document) -> Document:
        name = next(iter(body))
        try:
            return await socket.run(db, body, SOCKET_TIMEOUT_S)
        except MongoError:
            words = f'Failed to send "{name}" command with database "{db}": Failed to read 4 bytes: socket error or timeout'
            raise MongoError(words, STREAM_SOCKET) from None

    async def _select(self) -> Socket:
        """Return a connection to the server, tried for 300 ms."""
        while self._idle:
            socket = self._idle.pop()
            if not socket.dead:
                return socket
            socket.close()
        kernel = self._ctx.kernel
        deadline = kernel.now + SELECTION_S
        reason = "connection timeout"
        while kernel.now < deadline:
            try:
                return await self._dial(deadline - kernel.now)
            except (NetworkError, MongoError, TimedOut) as error:
                reason = _reason(error)
            await kernel.sleep(min(RETRY_S, max(0.0, deadline - kernel.now)))
        target = f"{self._host}:{self._port}"
        where = f"[{reason} calling ismaster on '{target}']"
        if reason == RESOLUTION:
            where = f"[Failed to resolve '{self._host}']"
        raise MongoError(f"No suitable servers found: `serverSelectionTimeoutMS` expired: {where}", NO_SERVER)

    async def _dial(self, left_s: float) -> Socket:
        connection = await self._ctx.dial(self._host, self._port, self._protocol, left_s)
        socket = Socket(connection)
        await socket.run("admin", HELLO, left_s)
        return socket


RESOLUTION: Final = "resolution"


def _reason(error: Exception) -> str:
    if isinstance(error, NameNotFound | ResolverFailure):
        return RESOLUTION
    if isinstance(error, ConnectionRefused):
        return "connection refused"
    if isinstance(error, ConnectTimedOut | TimedOut) or "timeout" in str(error):
        return "connection timeout"
    return "connection closed" if str(error) == "EOF" else "unknown connection error"
