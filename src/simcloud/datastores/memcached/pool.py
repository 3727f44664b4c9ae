"""A pool of connections to one memcached server.

All client libraries share this pool; each has its own error messages. A connection carries one request at a time.
A connection that the server has closed is only noticed by the next request on it.
"""

from __future__ import annotations

from typing import Any

from simcloud.datastores.memcached.messages import MEMCACHED
from simcloud.machine.network import Connection, Endpoint, NetworkError
from simcloud.machine.process import Context
from simcloud.sim import TimedOut

Failure = NetworkError | TimedOut


class DialFailed(Exception):
    """No connection could be made."""

    def __init__(self, error: NetworkError) -> None:
        super().__init__(str(error))
        self.error = error


class ExchangeFailed(Exception):
    """A connection broke or timed out. ``verb`` is the failed operation: read or write."""

    def __init__(self, verb: str, error: Failure, local: Endpoint, remote: Endpoint) -> None:
        super().__init__(str(error))
        self.verb = verb
        self.error = error
        self.local = local
        self.remote = remote


class Pool:
    """Idle connections to ``address``; requests dial more when needed."""

    __slots__ = ("_ctx", "_idle", "_max_idle", "_timeout_s", "address", "port")

    def __init__(self, ctx: Context, address: str, port: int, timeout_s: float, max_idle: int) -> None:
        self.address = address
        self.port = port
        self._ctx = ctx
        self._timeout_s = timeout_s
        self._max_idle = max_idle
        self._idle: list[Connection] = []

    async def exchange(self, message: Any, size_bytes: int) -> Any:
        """Send a request and return its answer; raises ``DialFailed`` or ``ExchangeFailed``."""
        connection = self._idle.pop() if self._idle else await self._dial()
        verb = "write"
        try:
            connection.send(message, size_bytes)
            verb = "read"
            answer = await connection.receive(self._timeout_s)
        except (NetworkError, TimedOut) as error:
            connection.close()
            raise ExchangeFailed(verb, error, connection.local, connection.remote) from None
        if len(self._idle) < self._max_idle:
            self._idle.append(connection)
        else:
            connection.close()
        return answer

    def forget(self) -> None:
        """Keep no connection that was used before."""
        for connection in self._idle:
            connection.close()
        self._idle.clear()

    async def _dial(self) -> Connection:
        try:
            return await self._ctx.dial(self.address, self.port, MEMCACHED, self._timeout_s)
        except NetworkError as error:
            raise DialFailed(error) from None
