"""An HTTP server as in net/http: routes by longest prefix, a goroutine per request, recovery of panics.

A handler gets the request and the context of its span, and returns a new response; ``http_error`` makes one as
``http.Error`` does. If it raises ``Panic``, the connection is closed without a response and the panic is logged, but
the process continues. Requests on one connection are answered one after the other.

Spans are those of the genuine middleware: it records the status, marks no errors, and loses the span of a request
that panics.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Awaitable, Callable
from email.utils import formatdate
from typing import Any, Final, NamedTuple

from simcloud.machine.network import (
    HTTP,
    Connection,
    HttpRequest,
    HttpResponse,
    Listener,
    respond,
    send_response,
)
from simcloud.machine.process import Context
from simcloud.services.languages.golang import ANY_ADDRESS, BACKLOG, KEEPALIVE_S, Panic, plain_log
from simcloud.services.languages.output import print_line
from simcloud.services.rpc.admission import UNLIMITED, Capacity, Gate
from simcloud.services.rpc.http.requests import PLAIN_TEXT, http_error, parent_of
from simcloud.services.rpc.measures import Measures, MethodMeasures
from simcloud.services.tracing import ActiveSpan, SpanContext, Tracer
from simcloud.sim import Event

CLIENT_ERROR: Final = 400
METHODS: Final = 16
PIPELINED: Final = 100
"""Maximum number of waiting requests of one connection; a client that sends more is disconnected."""


RequestHandler = Callable[[HttpRequest, SpanContext], Awaitable[HttpResponse]]


class _Route(NamedTuple):
    handler: RequestHandler
    cpu_s: float
    memory_bytes: int
    pattern: str
    measures: MethodMeasures
    operations: dict[str, str]


class _Session:
    """A client's connection and its unanswered requests."""

    __slots__ = ("busy", "connection", "waiting")

    def __init__(self, connection: Connection) -> None:
        self.connection = connection
        self.busy = False
        self.waiting: deque[HttpRequest] = deque()


class HttpServer:
    """Serves routes on a port. ``health`` is a path that answers 200 without a span, such as ``/healthz``."""

    def __init__(
        self, ctx: Context, tracer: Tracer, *, capacity: Capacity = UNLIMITED, health: str | None = None
    ) -> None:
        self.ctx = ctx
        self.tracer = tracer
        self._kernel = ctx.kernel
        self._routes: dict[str, _Route] = {}
        self._health = health
        self._measures = Measures(ctx, "http_server", tracer.service)
        self._dates = _Dates(ctx)
        self._gate: Gate[tuple[_Session, HttpRequest]] = Gate(capacity, self._begin)

    def route(self, pattern: str, handler: RequestHandler, cpu_s: float = 0.0, memory_bytes: int = 0) -> None:
        """Answer requests to a path; a pattern that ends in a slash matches all paths below it."""
        measures = self._measures.of(pattern)
        self._routes[pattern] = _Route(handler, cpu_s, memory_bytes, pattern, measures, {})

    def listen(self, port: int, protocol: str = HTTP) -> Listener:
        """Take connections from now on; raises ``AddressInUse``."""
        listener = self.ctx.listen(port, protocol, ANY_ADDRESS, BACKLOG)
        listener.on_accept = self._accept
        return listener

    async def serve(self, port: int) -> int:
        """Listen until the process ends."""
        self.listen(port)
        forever: Event[None] = Event(self._kernel)
        await forever.wait()
        return 0

    # -- connections ---------------------------------------------------------------------------

    def _accept(self, connection: Connection) -> None:
        session = _Session(connection)

        def take(request: Any) -> None:
            if session.busy:
                session.waiting.append(request)
                if len(session.waiting) > PIPELINED:
                    connection.reset()
            else:
                self._enter(session, request)

        connection.keepalive(KEEPALIVE_S)
        connection.on_message = take
        connection.on_close = lambda _error: connection.close()

    def _enter(self, session: _Session, request: HttpRequest) -> None:
        session.busy = True
        if request.path == self._health:
            self._answer(session, request, respond(200, "ok\n"))
        elif not self._gate.enter((session, request)):
            self._answer(session, request, http_error(503, "Service Unavailable"))

    def _begin(self, incoming: tuple[_Session, HttpRequest]) -> None:
        self.ctx.process.spawn(self._handle(*incoming), incoming[1].method)

    # -- one request ---------------------------------------------------------------------------

    async def _handle(self, session: _Session, request: HttpRequest) -> None:
        path = _path_of(request)
        route = self._routes.get(path) or self._prefix(path)
        if route is None:
            self._answer(session, request, http_error(404, "404 page not found"))
            self._gate.leave()
            return
        handler, cpu_s, memory_bytes, pattern, measures, operations = route
        kernel, in_flight, method = self._kernel, self._measures.in_flight, request.method
        operation = operations.get(method)
        if operation is None:
            operation = f"HTTP {method[:16]} {pattern}"
            if len(operations) < METHODS:  # clients may invent methods
                operations[method] = operation
        start = kernel.now
        in_flight.value += 1.0
        span = self.tracer.begin(operation, parent_of(request))
        try:
            if memory_bytes:
                self.ctx.memory.grow(memory_bytes)
            if cpu_s:
                await self.ctx.cpu(cpu_s)
            response = await handler(request, span.context)
        except Panic as panic:
            self._recover(session, panic)
            response = None
        if response is None:
            measures.record_failure(kernel.now - start, "panic")
        else:
            self._account(request, response.status, span, measures, kernel.now - start)
        if memory_bytes:
            self.ctx.memory.grow(-memory_bytes)
        in_flight.value -= 1.0
        if response is not None:
            self._answer(session, request, response)
        self._gate.leave()

    def _account(
        self, request: HttpRequest, status: int, span: ActiveSpan, measures: MethodMeasures, duration_s: float
    ) -> None:
        if status < CLIENT_ERROR:
            measures.record_success(duration_s)
        else:
            measures.record_failure(duration_s, str(status))
        span.finish(
            None,
            (
                ("component", "net/http"),
                ("http.method", request.method),
                ("http.status_code", str(status)),
                ("http.url", request.path),
                ("span.kind", "server"),
            ),
        )

    def _prefix(self, path: str) -> _Route | None:
        """Return the longest pattern that ends in a slash and begins the path."""
        best = ""
        for pattern in self._routes:
            if pattern.endswith("/") and path.startswith(pattern) and len(pattern) > len(best):
                best = pattern
        return self._routes.get(best)

    def _recover(self, session: _Session, panic: Panic) -> None:
        address, port = session.connection.remote
        plain_log(self.ctx, f"http: panic serving {address}:{port}: {panic.message}")
        print_line(self.ctx, f"goroutine {panic.goroutine} [running]:", 2)
        for frame in panic.frames:
            print_line(self.ctx, frame, 2)
        session.connection.close()

    def _answer(self, session: _Session, request: HttpRequest, response: HttpResponse) -> None:
        headers = response.headers
        if len(headers) > 1:  # net/http sorts the headers of a handler and then adds its own
            headers = response.headers = dict(sorted(headers.items()))
        headers["Date"] = self._dates.now()
        headers.setdefault("Content-Length", str(len(response.body)))
        if response.body:
            headers.setdefault("Content-Type", PLAIN_TEXT)
        if send_response(session.connection, request, response):
            session.busy = False
            if session.waiting:
                self._enter(session, session.waiting.popleft())


class _Dates:
    """The Date header, computed once a second."""

    __slots__ = ("_ctx", "_second", "_text")

    def __init__(self, ctx: Context) -> None:
        self._ctx = ctx
        self._second = -1
        self._text = ""

    def now(self) -> str:
        second = int(self._ctx.now)
        if second != self._second:
            self._second = second
            self._text = formatdate(second, usegmt=True)
        return self._text


def _path_of(request: HttpRequest) -> str:
    """Return the path alone: without its query, and of an absolute address (as through a proxy) without the host."""
    path = request.path
    if not path.startswith("/"):
        path = "/" + path.partition("://")[2].partition("/")[2]
    return path.partition("?")[0]
