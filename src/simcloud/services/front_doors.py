"""How users reach an application from outside: over HTTP at its nodes, or by calls to a service.

A ``FrontDoor`` is opened once by each program that sends; what it gives is a ``Sender``. In front of an HTTP door stands
what stands there in life: something that tries the next node when one does not take the connection, and leaves a
node alone for a while that did not.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from types import coroutine
from typing import Any, Final, Protocol, cast

from simcloud.machine.network import Connection, NetworkError
from simcloud.machine.network.http import HTTP, HttpRequest, HttpResponse
from simcloud.machine.process import Context
from simcloud.services.rpc import FixedAddresses, GrpcChannel, GrpcError
from simcloud.sim import Task, TimedOut
from simcloud.sim.kernel import EXPIRED

CONNECT_S: Final = 1.0
"""So long a node has to take a connection before the next one is tried."""
AVOID_S: Final = 10.0
"""So long a node is left alone that did not take one."""
MOST_IDLE: Final = 64
VISIT_S: Final = 10.0
"""So long a visitor stays, and with them their connection. Whoever comes next dials anew, and so finds out what has become
of the door; a connection kept for ever would outlive the Service that it came in by."""


class SendFailed(Exception):
    """No answer came. ``kind`` is what wrk would count it under: connect, read, write or timeout."""

    def __init__(self, kind: str, why: str) -> None:
        super().__init__(f"{kind}: {why}" if why else kind)
        self.kind = kind


class Sender(Protocol):
    """Sends requests of one program."""

    async def send(self, request: Any, timeout_s: float) -> tuple[int, Any]:
        """Send one and wait for its status and answer; raises ``SendFailed``."""


class FrontDoor(Protocol):
    """Where an application takes requests from outside."""

    def open(self, ctx: Context) -> Sender:
        """The door as seen by a program."""


class HttpDoor:
    """An HTTP service on a port of several nodes."""

    def __init__(self, addresses: Sequence[str], port: int) -> None:
        self.addresses = tuple(addresses)
        self.port = port

    def open(self, ctx: Context) -> Sender:
        """A sender with connections of its own."""
        return HttpSender(ctx, self.addresses, self.port)


class RpcDoor:
    """A service that takes calls; requests are pairs of a method and its payload."""

    def __init__(self, host: str, port: int) -> None:
        self.host = host
        self.port = port

    def open(self, ctx: Context) -> Sender:
        """A sender with one connection."""
        return RpcSender(ctx, self.host, self.port)


class HttpSender:
    """Keeps connections alive and gives each request one of its own, as browsers do."""

    def __init__(self, ctx: Context, addresses: Sequence[str], port: int) -> None:
        self._ctx = ctx
        self._kernel = ctx.kernel
        self._addresses = list(addresses)
        self._port = port
        self._next = 0
        self._avoided: dict[str, float] = {}
        self._idle: list[_Lane] = []

    async def send(self, request: HttpRequest, timeout_s: float) -> tuple[int, HttpResponse]:
        """Send over an idle connection, or over a new one."""
        deadline = self._kernel.now + timeout_s
        while self._idle:
            lane = self._idle.pop()
            if lane.ends > self._kernel.now and not lane.connection.closed:
                break
            lane.connection.close()
        else:
            lane = _Lane(self._ctx, await self._dial(deadline), self._kernel.now + VISIT_S)
        response = await lane.exchange(request, deadline - self._kernel.now)
        if len(self._idle) < MOST_IDLE and not response.ends_connection:
            self._idle.append(lane)
        else:
            lane.connection.close()
        return response.status, response

    async def _dial(self, deadline: float) -> Connection:
        """The first node in turn that takes a connection."""
        why = "no node"
        for address in self._in_turn():
            left_s = deadline - self._kernel.now
            if left_s <= 0:
                raise SendFailed("timeout", "")
            try:
                return await self._ctx.dial(address, self._port, HTTP, min(left_s, CONNECT_S))
            except (NetworkError, TimedOut) as error:
                self._avoided[address] = self._kernel.now + AVOID_S
                why = str(error)
        raise SendFailed("connect", why)

    def _in_turn(self) -> list[str]:
        """The nodes from the next one on; those that are avoided come last."""
        self._next = (self._next + 1) % len(self._addresses)
        order = self._addresses[self._next :] + self._addresses[: self._next]
        now = self._kernel.now
        return sorted(order, key=lambda address: self._avoided.get(address, 0.0) > now)


class _Lane:
    """A connection that carries one exchange at a time, until its visitor goes."""

    __slots__ = ("_kernel", "_waiter", "connection", "ends")

    def __init__(self, ctx: Context, connection: Connection, ends: float) -> None:
        self._kernel = ctx.kernel
        self._waiter: tuple[Task[Any], float] | None = None
        self.connection = connection
        self.ends = ends
        connection.on_message = self._answer
        connection.on_close = self._lost

    async def exchange(self, request: HttpRequest, timeout_s: float) -> HttpResponse:
        """Send a request and wait for its response."""
        try:
            self.connection.send(request, request.size_bytes)
        except NetworkError as error:
            self.connection.close()
            raise SendFailed("write", str(error)) from None
        answer = await self._wait(timeout_s)
        if answer.__class__ is HttpResponse:
            response: HttpResponse = answer
            return response
        self.connection.close()
        if answer is EXPIRED:
            raise SendFailed("timeout", "")
        raise SendFailed("read", str(answer))

    @coroutine
    def _wait(self, timeout_s: float) -> Generator[float, Any, Any]:
        task = cast("Task[Any]", self._kernel.current)
        self._waiter = (task, task.turn)
        answer = yield max(0.0, timeout_s)
        self._waiter = None
        return answer

    def _answer(self, response: Any) -> None:
        if self._waiter is not None:
            self._kernel.ready.append((*self._waiter, response))
            self._waiter = None

    def _lost(self, error: object) -> None:
        self.connection.close()
        self._answer(error)


class RpcSender:
    """Sends calls over one connection."""

    def __init__(self, ctx: Context, host: str, port: int) -> None:
        self._channel = GrpcChannel(ctx, None, FixedAddresses(f"{host}:{port}"), waits_for_connection=True)

    async def send(self, request: tuple[str, Any], timeout_s: float) -> tuple[int, Any]:
        """Call; an answer has the status 200, as there is no other."""
        method, payload = request
        try:
            return 200, await self._channel.call(method, payload, timeout_s=timeout_s)
        except GrpcError as error:
            kind = "timeout" if error.code == "DeadlineExceeded" else "read"
            raise SendFailed(kind, str(error)) from None
