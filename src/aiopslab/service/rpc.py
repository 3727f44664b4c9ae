"""Remote calls between services: time-outs, retries, queues, spans and metrics included.

A server has so many workers and a queue in front of them; what does not fit is turned away. A client
keeps one connection and sends many calls over it at once; it gives up after its time-out, whatever the
server still does. Overload, slow neighbours and cascades come out of that by themselves.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Awaitable, Callable, Generator
from types import coroutine
from typing import Any, Final, NamedTuple, cast

from aiopslab.machine.emit import Span
from aiopslab.machine.network import Connection, NetworkError
from aiopslab.machine.process import Context, Signal
from aiopslab.sim import Event, Task, TimedOut
from aiopslab.sim.kernel import EXPIRED

RPC: Final = "rpc"
HEADER_BYTES: Final = 120


class Request(NamedTuple):
    """A call on its way."""

    id: int
    method: str
    payload: Any
    trace_id: int
    parent_span: int


class Response(NamedTuple):
    """Its answer: a payload, or an error's code and message."""

    id: int
    payload: Any
    code: str | None
    message: str


class RpcError(Exception):
    """A call failed. Codes are those of gRPC: UNAVAILABLE, DEADLINE_EXCEEDED, RESOURCE_EXHAUSTED, …"""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(f"{code}: {message}")
        self.code = code
        self.message = message


class Call:
    """A request being served: what the caller sent, and the span that further calls belong to."""

    __slots__ = ("method", "payload", "span_id", "trace_id")

    def __init__(self, method: str, payload: Any, trace_id: int, span_id: int) -> None:
        self.method = method
        self.payload = payload
        self.trace_id = trace_id
        self.span_id = span_id


Handler = Callable[[Call], Awaitable[Any]]


class Server:
    """Serves methods on a port until the process is told to stop."""

    def __init__(self, ctx: Context, service: str, port: int, *, workers: int = 64, queue: int = 256) -> None:
        self.ctx = ctx
        self.service = service
        self.port = port
        self._kernel = ctx.kernel
        self._workers = workers
        self._queue_limit = queue
        self._active = 0
        self._queue: deque[tuple[Connection, Request]] = deque()
        self._methods: dict[str, tuple[Handler, float]] = {}
        self._ids = SpanIds(service)
        emitter = ctx.machine.emitter
        labels = (("service", service),)
        self._requests = emitter.counter("rpc_server_requests_total", labels)
        self._errors = emitter.counter("rpc_server_errors_total", labels)
        self._latency = emitter.histogram("rpc_server_duration_seconds", labels)
        self._in_flight = emitter.gauge("rpc_server_in_flight", labels)

    def method(self, name: str, handler: Handler, cpu_s: float = 0.0) -> None:
        """Answer calls of that name; each costs so much CPU besides what the handler spends."""
        self._methods[name] = (handler, cpu_s)

    async def serve(self) -> int:
        """Listen until SIGTERM; then finish what is in flight and return."""
        stop: Event[None] = Event(self._kernel)
        self.ctx.signals.on(Signal.TERM, lambda _signal: stop.set())
        listener = self.ctx.listen(self.port, RPC)
        listener.on_accept = self._accept
        await stop.wait()
        listener.close()
        while self._active:
            await self._kernel.sleep(0.01)
        return 0

    def _accept(self, connection: Connection) -> None:
        def take(request: Any) -> None:
            self._take(connection, request)

        connection.on_message = take
        connection.on_close = lambda _error: connection.close()

    def _take(self, connection: Connection, request: Request) -> None:
        if self._active < self._workers:
            self._begin(connection, request)
        elif len(self._queue) < self._queue_limit:
            self._queue.append((connection, request))
        else:
            self._errors.add()
            refusal = f"{self.service}: queue is full ({self._queue_limit} waiting)"
            self._reply(connection, Response(request.id, None, "RESOURCE_EXHAUSTED", refusal))

    def _begin(self, connection: Connection, request: Request) -> None:
        self._active += 1
        self.ctx.process.spawn(self._handle(connection, request), request.method)

    async def _handle(self, connection: Connection, request: Request) -> None:
        start = self._kernel.now
        call = Call(request.method, request.payload, request.trace_id, self._ids.next())
        payload, code, message = None, None, ""
        found = self._methods.get(request.method)
        if found is None:
            code, message = "UNIMPLEMENTED", f"{self.service}: unknown method {request.method}"
        else:
            handler, cpu_s = found
            try:
                if cpu_s:
                    await self.ctx.cpu(cpu_s)
                payload = await handler(call)
            except RpcError as error:
                code, message = error.code, error.message
        self._finish(request, call, start, code, message)
        self._reply(connection, Response(request.id, payload, code, message))
        self._active -= 1
        if self._queue:
            self._begin(*self._queue.popleft())

    def _finish(self, request: Request, call: Call, start: float, code: str | None, message: str) -> None:
        duration_s = self._kernel.now - start
        self._requests.value += 1.0
        self._latency.observe(duration_s)
        self._in_flight.value = self._active
        if code is not None:
            self._errors.value += 1.0
            self.ctx.log(f"ERROR {request.method} failed: {code}: {message}")
        span = Span(
            request.trace_id,
            call.span_id,
            request.parent_span,
            self.service,
            request.method,
            start,
            duration_s,
            code,
        )
        self.ctx.machine.emitter.span(span)

    def _reply(self, connection: Connection, response: Response) -> None:
        try:
            connection.send(response, HEADER_BYTES)
        except NetworkError:
            pass  # the caller is gone: nobody to tell


class SpanIds:
    """Span ids of one service: unlike those of any other, the same in every run."""

    __slots__ = ("_next",)

    def __init__(self, service: str) -> None:
        # A stable hash of the name (Python's own differs from run to run).
        base = 0
        for letter in service.encode():
            base = (base * 1_000_003 + letter) & 0xFFFFFFFF
        self._next = base << 32

    def next(self) -> int:
        """A fresh id."""
        self._next += 1
        return self._next


class Client:
    """Calls one service, over one connection, with a time-out and a number of retries."""

    def __init__(
        self,
        ctx: Context,
        host: str,
        port: int,
        *,
        timeout_s: float = 1.0,
        retries: int = 0,
        backoff_s: float = 0.05,
    ) -> None:
        self._ctx = ctx
        self._kernel = ctx.kernel
        self._host = host
        self._port = port
        self._timeout_s = timeout_s
        self._retries = retries
        self._backoff_s = backoff_s
        self._connection: Connection | None = None
        self._dialling: Event[None] | None = None
        self._pending: dict[int, tuple[Task[Any], float]] = {}
        self._last_id = 0

    async def call(self, method: str, payload: Any = None, *, trace_id: int, parent_span: int) -> Any:
        """Call a method and return its payload; raises ``RpcError`` when all tries have failed."""
        for attempt in range(self._retries + 1):
            try:
                return await self._try(method, payload, trace_id, parent_span)
            except RpcError:
                if attempt == self._retries:
                    raise
                await self._kernel.sleep(self._backoff_s * 2**attempt)
        raise AssertionError("unreachable: the last attempt returns or raises")

    async def _try(self, method: str, payload: Any, trace_id: int, parent_span: int) -> Any:
        deadline = self._kernel.now + self._timeout_s
        connection = self._connection
        if connection is None or connection.closed:
            connection = await self._connect()
        self._last_id = id = self._last_id + 1
        try:
            connection.send(Request(id, method, payload, trace_id, parent_span), HEADER_BYTES)
        except NetworkError as error:
            raise RpcError("UNAVAILABLE", f"send to {self._host}:{self._port}: {error}") from None
        response = await self._reply_to(id, deadline - self._kernel.now)
        if response is EXPIRED:
            raise RpcError("DEADLINE_EXCEEDED", f"no answer from {self._host} within {self._timeout_s:g} s")
        if response.__class__ is not Response:
            raise RpcError("UNAVAILABLE", f"connection to {self._host}:{self._port} broke: {response}")
        if response.code is not None:
            raise RpcError(response.code, response.message)
        return response.payload

    @coroutine
    def _reply_to(self, id: int, timeout_s: float) -> Generator[float, Any, Any]:
        task = cast("Task[Any]", self._kernel.current)
        self._pending[id] = (task, task.turn)
        answer = yield timeout_s
        if answer is EXPIRED:
            self._pending.pop(id, None)
        return answer

    async def _connect(self) -> Connection:
        """Dial, or wait for the dial that is under way already."""
        while self._dialling is not None:
            await self._dialling.wait()
            if self._connection is not None and not self._connection.closed:
                return self._connection
        self._dialling = Event(self._kernel)
        try:
            connection = await self._ctx.dial(self._host, self._port, RPC, self._timeout_s)
        except (NetworkError, TimedOut) as error:
            reason = f"dial {self._host}:{self._port}: {error}"
            raise RpcError("UNAVAILABLE", reason) from None
        finally:
            dialling, self._dialling = self._dialling, None
            dialling.set()
        connection.on_message = self._take
        connection.on_close = self._lost
        self._connection = connection
        return connection

    def _take(self, response: Any) -> None:
        waiter = self._pending.pop(response.id, None)
        if waiter is not None:
            self._kernel.ready.append((*waiter, response))

    def _lost(self, error: object) -> None:
        if self._connection is not None:
            self._connection.close()
        self._connection = None
        pending, self._pending = self._pending, {}
        for waiter in pending.values():
            self._kernel.ready.append((*waiter, str(error)))
