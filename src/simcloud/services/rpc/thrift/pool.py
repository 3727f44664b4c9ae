"""Thrift clients: the connection pool of the C++ services, and the error messages of C++ and of nginx's Lua.

A connection carries one call at a time. By default calls have no timeout: a server that does not answer blocks the
connection and the caller's thread forever. If all connections are in use, ``call`` waits for one with a timeout.
"""

from __future__ import annotations

from collections import deque
from typing import Any, Final

from simcloud.machine.network import (
    Connection,
    ConnectionTimedOut,
    NameNotFound,
    NetworkError,
    ProtocolMismatch,
    ResolverFailure,
)
from simcloud.machine.process import Context
from simcloud.services.languages.cpp import BoostLog, thrift_line
from simcloud.services.rpc.measures import Measures
from simcloud.services.rpc.thrift.messages import (
    END_OF_FILE,
    FRAME_BYTES,
    NO_HOST,
    THRIFT,
    NoClient,
    NoConnection,
    Reply,
    Request,
    ServiceError,
    ThriftError,
    TransportError,
)
from simcloud.services.tracing import SpanContext, Tracer
from simcloud.sim import Semaphore, TimedOut

MAX_CONNECTIONS: Final = 512
POP_WAIT_S: Final = 10.0
KEEPALIVE_S: Final = 10.0
NO_CONNECTION: Final = "SE_THRIFT_CONN_ERROR"
POP: Final = "ClientPool.h:{}:Pop"


class ThriftPool:
    """Calls a service over a pool of connections. ``name`` is its name in the log, ``service`` the one in the error without a free connection."""

    def __init__(
        self,
        ctx: Context,
        tracer: Tracer,
        name: str,
        host: str,
        port: int,
        *,
        most: int = MAX_CONNECTIONS,
        wait_s: float = POP_WAIT_S,
        keepalive_s: float = KEEPALIVE_S,
        timeout_s: float | None = None,
        service: str = "",
    ) -> None:
        self._ctx = ctx
        self._kernel = ctx.kernel
        self._tracer = tracer
        self._name = name
        self._service = service or name
        self._host = host
        self._port = port
        self._most = most
        self._wait_s = wait_s
        self._keepalive_s = keepalive_s
        self._timeout_s = timeout_s
        self._log = BoostLog(ctx)
        self._idle: deque[tuple[Connection, float]] = deque()
        self._permits = Semaphore(ctx.kernel, most)
        self._measures = Measures(ctx, "thrift_client", tracer.service, host)

    async def call(
        self, method: str, payload: Any = None, parent: SpanContext | None = None, operation: str = ""
    ) -> Any:
        """Call a method and return its payload; raises ``ThriftError``."""
        span = self._tracer.begin(operation or method, parent)
        try:
            return await self.pass_on(method, payload, span.context)
        finally:
            span.finish()

    async def pass_on(self, method: str, payload: Any, span: SpanContext | None) -> Any:
        """Call a method without a span for it: the callee's span has ``span`` as its parent."""
        kernel = self._kernel
        start, measures = kernel.now, self._measures.of(method)
        try:
            answer = await self._call(Request(method, payload, span))
        except ThriftError as error:
            measures.record_failure(
                kernel.now - start, error.code if isinstance(error, ServiceError) else "transport"
            )
            raise
        measures.record_success(kernel.now - start)
        return answer

    async def _call(self, request: Request) -> Any:
        try:
            await self._permits.acquire(self._wait_s)
        except TimedOut:
            self._log.warning("ClientPool pop timeout", POP.format(93))
            self._log.info(f"0 {self._most}", POP.format(94))
            raise NoClient(NO_CONNECTION, f"Failed to connect to {self._service}") from None
        try:
            connection, made_at = (
                self._idle.popleft() if self._idle else (await self._connect(), self._kernel.now)
            )
            reply = await self._exchange(connection, request)
            if self._kernel.now - made_at > self._keepalive_s:
                connection.close()
            else:
                self._idle.append((connection, made_at))
        finally:
            self._permits.release()
        if reply.error is not None:
            raise reply.error.with_traceback(None)
        return reply.payload

    async def _connect(self) -> Connection:
        where = f"<Host: {self._host} Port: {self._port}>"
        try:
            return await self._ctx.dial(self._host, self._port, THRIFT)
        except NetworkError as error:
            if isinstance(error, NameNotFound | ResolverFailure):
                thrift_line(self._ctx, f"TSocket::open() getaddrinfo() {where}{error}")
                words = NO_HOST
            else:
                thrift_line(self._ctx, f"TSocket::open() connect() {where}: {error}")
                words = f"connect() failed: {error}"
            self._log.error(f"Failed to connect {self._name}", POP.format(114))
            raise NoConnection(words) from None

    async def _exchange(self, connection: Connection, request: Request) -> Reply:
        try:
            connection.send(request, FRAME_BYTES)
        except NetworkError as error:
            where = f"<Host: {self._host} Port: {self._port}>"
            thrift_line(self._ctx, f"TSocket::write_partial() send() {where}: {error}")
            connection.close()
            raise TransportError(f"write() send(): {error}") from None
        try:
            reply: Reply = await connection.receive(self._timeout_s)
        except TimedOut:
            connection.close()
            raise TransportError("THRIFT_EAGAIN (timed out)") from None
        except ConnectionTimedOut:
            connection.close()
            raise TransportError("THRIFT_ETIMEDOUT") from None
        except NetworkError:  # a reset reads as the end, as TSocket::read makes it
            connection.close()
            raise TransportError(END_OF_FILE) from None
        except BaseException:
            connection.close()
            raise
        return reply


def lua_words(error: NetworkError | TimedOut, host: str, port: int, connected: bool) -> str:
    """Return an error with the message of nginx's Lua library."""
    if connected:
        return "TTransportException:0: Default (unknown)"
    if isinstance(error, NameNotFound):
        reason = f"{host} could not be resolved (3: Host not found)"
    elif isinstance(error, ResolverFailure):
        reason = f"{host} could not be resolved (110: Operation timed out)"
    elif isinstance(error, ConnectionTimedOut | TimedOut):
        reason = "timeout"
    elif isinstance(error, ProtocolMismatch):
        reason = "closed"
    else:
        reason = str(error).lower()
    return f"TTransportException: Could not connect to {host}:{port} ({reason})"
