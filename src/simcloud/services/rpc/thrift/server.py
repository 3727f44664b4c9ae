"""A Thrift server like TThreadedServer: a thread per connection, which serves one call after the other.

While all threads are busy, further connections wait in the listener's backlog. A handler raises ``ServiceError`` to
throw a declared exception.
"""

from __future__ import annotations

from random import Random
from typing import Final, NamedTuple

from simcloud.machine import HOUR_S, log_occasionally
from simcloud.machine.network import Connection, NetworkError
from simcloud.machine.process import Context
from simcloud.services.languages.cpp import format_thrift
from simcloud.services.rpc.call import Call, Handler
from simcloud.services.rpc.measures import Measures, MethodMeasures
from simcloud.services.rpc.thrift.messages import (
    FRAME_BYTES,
    THRIFT,
    ApplicationError,
    Reply,
    Request,
    ServiceError,
    ThriftError,
)
from simcloud.services.tracing import Tracer
from simcloud.sim import Semaphore

THREADS: Final = 4096
BACKLOG: Final = 1024
THREAD_BYTES: Final = 96 * 1024
"""What a thread holds of its stack."""


class _Method(NamedTuple):
    handler: Handler
    operation: str
    cpu_s: float
    measures: MethodMeasures


class ThriftServer:
    """Serves methods on a port, for at most ``threads`` connections at once."""

    def __init__(self, ctx: Context, tracer: Tracer, *, threads: int = THREADS) -> None:
        self.ctx = ctx
        self.tracer = tracer
        self._methods: dict[str, _Method] = {}
        self._measures = Measures(ctx, "thrift_server", tracer.service)
        self._threads = Semaphore(ctx.kernel, threads)
        self._latest_client = ""

    def method(self, name: str, handler: Handler, operation: str = "", cpu_s: float = 0.0) -> None:
        """Answer calls of that name; ``operation`` is what their spans are called."""
        self._methods[name] = _Method(handler, operation or name, cpu_s, self._measures.of(name))

    async def serve(self, port: int) -> int:
        """Listen until the process ends; raises ``AddressInUse``."""
        listener = self.ctx.listen(port, THRIFT, backlog=BACKLOG)
        log_occasionally(self.ctx, 8 * HOUR_S, self._describe_lost_client, "stderr", in_past=False)
        while True:
            await self._threads.acquire()
            connection = await listener.accept()
            self._latest_client = connection.remote[0]
            self.ctx.spawn(self._thread(connection), "connection")

    async def _thread(self, connection: Connection) -> None:
        self.ctx.memory.grow(THREAD_BYTES)
        self.ctx.process.threads += 1
        try:
            while True:
                reply = await self._answer(await connection.receive())
                connection.send(reply, FRAME_BYTES)
        except NetworkError:
            connection.close()
        self.ctx.memory.grow(-THREAD_BYTES)
        self.ctx.process.threads -= 1
        self._threads.release()

    def _describe_lost_client(self, time_s: float, random: Random) -> str:
        """A client gave up, as its own user had, and closed the connection before the response."""
        if not self._latest_client:
            return ""
        where = f"<Host: ::ffff:{self._latest_client} Port: {random.randrange(32_768, 61_000)}>"
        lines = (f"TSocket::write_partial() send() {where}: ", "TConnectedClient died: write() send(): ")
        return "\n".join(format_thrift(time_s, f"{line}Broken pipe") for line in lines)

    async def _answer(self, request: Request) -> Reply:
        name, payload, parent = request
        found = self._methods.get(name)
        if found is None:
            return Reply(None, ApplicationError(f"Invalid method name: '{name}'"))
        handler, operation, cpu_s, measures = found
        kernel, in_flight = self.ctx.kernel, self._measures.in_flight
        start = kernel.now
        in_flight.value += 1.0
        span = self.tracer.begin(operation, parent)
        try:
            if cpu_s:
                await self.ctx.cpu(cpu_s)
            reply = Reply(await handler(Call(payload, span.context, name)), None)
            measures.record_success(kernel.now - start)
        except ServiceError as error:
            reply = Reply(None, ServiceError(error.code, str(error)))  # how it came about stays here
            measures.record_failure(kernel.now - start, error.code)
        except ThriftError as error:
            reply = Reply(None, ApplicationError(str(error)))
            measures.record_failure(kernel.now - start, "undeclared")
        span.finish()  # these services tag no errors
        in_flight.value -= 1.0
        return reply
