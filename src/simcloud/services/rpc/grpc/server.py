"""A gRPC server as in grpc-go: every call runs at once, unless the server has a capacity.

A handler raises ``GrpcError`` to answer with an error. A ``Panic`` ends the process, as in Go. ``serve``
raises ``AddressInUse`` if the port is taken.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

from simcloud.machine import Labels
from simcloud.machine.network import (
    Connection,
    HealthCheckRequest,
    HealthCheckResponse,
    Listener,
    NetworkError,
)
from simcloud.machine.process import Context, Signal
from simcloud.services.languages.golang import ANY_ADDRESS, BACKLOG, KEEPALIVE_S, Panic, crash
from simcloud.services.rpc.admission import UNLIMITED, Capacity, Gate
from simcloud.services.rpc.call import Call, Handler
from simcloud.services.rpc.grpc.errors import (
    SERVER_ERROR,
    UNIMPLEMENTED,
    GrpcError,
    error_tags,
    response_class,
)
from simcloud.services.rpc.grpc.messages import (
    CONTROL_BYTES,
    GRPC,
    HEADER_BYTES,
    GoAway,
    Preface,
    Request,
    Response,
    Settings,
)
from simcloud.services.rpc.measures import Measures, MethodMeasures
from simcloud.services.rpc.retries import RESOURCE_EXHAUSTED
from simcloud.services.tracing import Tracer
from simcloud.sim import Event

SERVER_TAGS: Final[Labels] = (("component", "gRPC"), ("span.kind", "server"))
UNLIMITED_STREAMS: Final = 1 << 32
GRACE_LOOK_S: Final = 0.01
HEALTH_CHECK: Final = "/grpc.health.v1.Health/Check"


class _Method(NamedTuple):
    handler: Handler
    cpu_s: float
    memory_bytes: int
    measures: MethodMeasures


Incoming = tuple[Connection, Request]


class GrpcServer:
    """Serves methods on a port. ``max_streams`` limits the concurrent calls of a connection."""

    def __init__(
        self,
        ctx: Context,
        tracer: Tracer,
        *,
        capacity: Capacity = UNLIMITED,
        max_streams: int = UNLIMITED_STREAMS,
        health: bool = False,
    ) -> None:
        self.ctx = ctx
        self.tracer = tracer
        self.healthy = True
        self._kernel = ctx.kernel
        self._max_streams = max_streams
        self._methods: dict[str, _Method] = {}
        self._measures = Measures(ctx, "grpc_server", tracer.service)
        self._gate: Gate[Incoming] = Gate(capacity, self._begin, self._is_hopeless)
        self._usual_s = 0.0
        self._listener: Listener | None = None
        self._connections: dict[Connection, None] = {}
        if health:
            self.method(HEALTH_CHECK, self._health)

    def method(self, name: str, handler: Handler, cpu_s: float = 0.0, memory_bytes: int = 0) -> None:
        """Answer calls of ``/package.Service/Method``.

        Each costs so much CPU besides what the handler spends, and holds so much memory while it runs.
        """
        self._methods[name] = _Method(handler, cpu_s, memory_bytes, self._measures.of(name))

    def listen(self, port: int, protocol: str = GRPC) -> None:
        """Take connections from now on; raises ``AddressInUse``."""
        self._listener = self.ctx.listen(port, protocol, ANY_ADDRESS, BACKLOG)
        self._listener.on_accept = self._accept

    async def serve(self, port: int, *, graceful: bool = False) -> int:
        """Listen until the process ends; a graceful server finishes what it has begun at SIGTERM and returns."""
        self.listen(port)
        stop: Event[None] = Event(self._kernel)
        if graceful:
            self.ctx.signals.on(Signal.TERM, lambda _signal: stop.set())
        await stop.wait()
        await self._stop()
        return 0

    async def _stop(self) -> None:
        assert self._listener is not None
        self._listener.close()
        for connection in self._connections:
            self._send(connection, GoAway(), CONTROL_BYTES)
        while self._gate.active:
            await self._kernel.sleep(GRACE_LOOK_S)

    # -- connections ---------------------------------------------------------------------------

    def _accept(self, connection: Connection) -> None:
        gate = self._gate

        def take(message: Any) -> None:
            if message.__class__ is Request:
                if not gate.enter((connection, message)):
                    self._turn_away(connection, message)
            elif message.__class__ is Preface:
                self._send(connection, Settings(self._max_streams), CONTROL_BYTES)
            elif message.__class__ is HealthCheckRequest:
                self._send(connection, self._answer_probe(), CONTROL_BYTES)

        def forget(_error: NetworkError) -> None:
            self._connections.pop(connection, None)
            connection.close()

        self._connections[connection] = None
        connection.keepalive(KEEPALIVE_S)
        connection.on_message = take
        connection.on_close = forget

    def _turn_away(self, connection: Connection, request: Request) -> None:
        found = self._methods.get(request.method)
        if found is not None:
            found.measures.record_failure(0.0, RESOURCE_EXHAUSTED)
        words = f"{self.tracer.service}: queue is full ({self._gate.waiting} waiting)"
        self._send(connection, Response(request.id, None, RESOURCE_EXHAUSTED, words))

    def _is_hopeless(self, incoming: Incoming) -> bool:
        """Will the caller have left before the answer is ready? In a long queue the oldest are just not late yet."""
        deadline = incoming[1].deadline
        return deadline is not None and deadline <= self._kernel.now + 2.0 * self._usual_s

    def _begin(self, incoming: Incoming) -> None:
        self.ctx.process.spawn(self._handle(*incoming), incoming[1].method)

    # -- one call ------------------------------------------------------------------------------

    async def _handle(self, connection: Connection, request: Request) -> None:
        id, name, payload, parent, deadline = request
        found = self._methods.get(name)
        if found is None:
            self._send(connection, Response(id, None, UNIMPLEMENTED, self._unknown(name)))
            self._gate.leave()
            return
        handler, cpu_s, memory_bytes, measures = found
        kernel, in_flight = self._kernel, self._measures.in_flight
        start = kernel.now
        in_flight.value += 1.0
        span = self.tracer.begin(name, parent, SERVER_TAGS)
        try:
            if memory_bytes:
                self.ctx.memory.grow(memory_bytes)
            if cpu_s:
                await self.ctx.cpu(cpu_s)
            answer = await handler(Call(payload, span.context, name, deadline))
        except GrpcError as error:
            code = error.code
            measures.record_failure(kernel.now - start, code)
            span.finish(str(error) if response_class(code) == SERVER_ERROR else None, error_tags(code))
            response = Response(id, None, code, error.message)
        except Panic as panic:
            crash(self.ctx, panic)
        else:
            duration_s = kernel.now - start
            self._usual_s += 0.1 * (duration_s - self._usual_s)
            measures.record_success(duration_s)
            span.finish()
            response = Response(id, answer, None, "")
        if memory_bytes:
            self.ctx.memory.grow(-memory_bytes)
        in_flight.value -= 1.0
        self._send(connection, response)
        self._gate.leave()

    def _unknown(self, name: str) -> str:
        service, _, method = name.lstrip("/").rpartition("/")
        if any(known.startswith(f"/{service}/") for known in self._methods):
            return f"unknown method {method}"
        return f"unknown service {service}"

    async def _health(self, call: Call) -> str:
        return "SERVING" if self.healthy else "NOT_SERVING"

    def _answer_probe(self) -> HealthCheckResponse | Response:
        """Answer a kubelet's probe; a server without the health service does not implement the method."""
        if HEALTH_CHECK not in self._methods:
            return Response(0, None, UNIMPLEMENTED, self._unknown(HEALTH_CHECK))
        return HealthCheckResponse("SERVING" if self.healthy else "NOT_SERVING")

    def _send(self, connection: Connection, message: Any, size_bytes: int = HEADER_BYTES) -> None:
        try:
            connection.send(message, size_bytes)
        except NetworkError:
            pass  # the caller has disconnected
