"""Front doors: how users outside the cluster reach an application, by HTTP on its nodes or by RPC to a service.

Each program opens a ``FrontDoor`` once and gets a ``Sender``. The HTTP sender acts like an external load balancer: if a
node does not accept a connection, it tries the next one and avoids the failed node for a while, longer each time if no other node fails.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Generator, Sequence
from types import coroutine
from typing import Any, Final, Protocol, cast

from simcloud.machine.network import (
    HTTP,
    HTTPS,
    Connection,
    HttpRequest,
    HttpResponse,
    NetworkError,
    verify_server,
)
from simcloud.machine.process import Context
from simcloud.services.rpc import FixedAddresses, GrpcChannel, GrpcError
from simcloud.sim import EXPIRED, Task, TimedOut

CONNECT_S: Final = 1.0
"""Connect timeout of a node before the next one is tried."""
AVOID_S: Final = 10.0
"""Time for which a node that failed to connect is avoided, times its failures in a row if it is the only such node."""
MAX_IDLE: Final = 64
VISIT_S: Final = 10.0
"""Lifetime of a connection, which is one visit of a user. The next visitor connects again and so notices changes of the Service;
a permanent connection would survive the deletion of its Service."""


class SendFailed(Exception):
    """There was no response. ``kind`` is the error class that wrk counts: connect, read, write or timeout."""

    def __init__(self, kind: str, why: str) -> None:
        super().__init__(f"{kind}: {why}" if why else kind)
        self.kind = kind


class Sender(Protocol):
    """Sends the requests of one program."""

    async def send(self, request: Any, timeout_s: float) -> tuple[int, Any]:
        """Send a request and return the status and the response; raises ``SendFailed``."""


class FrontDoor(Protocol):
    """The entry point of an application for requests from outside."""

    def open(self, ctx: Context) -> Sender:
        """Return a sender for a program."""


class HttpDoor:
    """An HTTP service on a port of several nodes; HTTPS with a ``host``, whose certificate ``authorities`` (PEM) must have signed."""

    def __init__(self, addresses: Sequence[str], port: int, host: str = "", authorities: bytes = b"") -> None:
        self.addresses = tuple(addresses)
        self.port = port
        self.host = host
        self.authorities = authorities

    def open(self, ctx: Context) -> Sender:
        """Return a sender with its own connections."""
        return HttpSender(ctx, self)


class RpcDoor:
    """An RPC service; a request is a pair of a method and its payload."""

    def __init__(self, host: str, port: int) -> None:
        self.host = host
        self.port = port

    def open(self, ctx: Context) -> Sender:
        """Return a sender with one connection."""
        return RpcSender(ctx, self.host, self.port)


class HttpSender:
    """Keeps connections alive; each connection carries one request at a time."""

    def __init__(self, ctx: Context, door: HttpDoor) -> None:
        self._ctx = ctx
        self._kernel = ctx.kernel
        self._addresses = list(door.addresses)
        self._port = door.port
        self._door = door
        self._protocol = HTTPS if door.host else HTTP
        self._next = 0
        self._avoided: dict[str, float] = {}
        self._failures: Counter[str] = Counter()
        """The failures in a row of each node that accepts no connections."""
        self._idle: list[_Lane] = []

    async def send(self, request: HttpRequest, timeout_s: float) -> tuple[int, HttpResponse]:
        """Send a request over an idle or a new connection; return the status and the response. Raises ``SendFailed``."""
        deadline = self._kernel.now + timeout_s
        while self._idle:
            lane = self._idle.pop()
            if lane.ends > self._kernel.now and not lane.connection.closed:
                break
            lane.connection.close()
        else:
            lane = _Lane(self._ctx, await self._dial(deadline), self._kernel.now + VISIT_S)
        response = await lane.exchange(request, deadline - self._kernel.now)
        if len(self._idle) < MAX_IDLE and not response.ends_connection:
            self._idle.append(lane)
        else:
            lane.connection.close()
        return response.status, response

    async def _dial(self, deadline: float) -> Connection:
        """Connect to the first node that accepts a connection; raises ``SendFailed``."""
        why = "no node"
        for address in self._order_nodes():
            left_s = deadline - self._kernel.now
            if left_s <= 0:
                raise SendFailed("timeout", "")
            try:
                connection = await self._ctx.dial(address, self._port, self._protocol, min(left_s, CONNECT_S))
            except (NetworkError, TimedOut) as error:
                self._failures[address] += 1
                times = self._failures[address] if len(self._failures) == 1 else 1
                self._avoided[address] = self._kernel.now + AVOID_S * times
                why = str(error)
                continue
            self._failures.pop(address, None)
            self._check_certificate(connection)
            return connection
        raise SendFailed("connect", why)

    def _check_certificate(self, connection: Connection) -> None:
        """Raise ``SendFailed`` if a user's browser would refuse the server's certificate."""
        door = self._door
        if door.host and (problem := verify_server(connection, door.host, door.authorities, self._ctx.now)):
            connection.close()
            raise SendFailed("connect", problem)

    def _order_nodes(self) -> list[str]:
        """Return the nodes in round-robin order, with avoided nodes last."""
        self._next = (self._next + 1) % len(self._addresses)
        order = self._addresses[self._next :] + self._addresses[: self._next]
        now = self._kernel.now
        return sorted(order, key=lambda address: self._avoided.get(address, 0.0) > now)


class _Lane:
    """A connection that carries one exchange at a time, until its visit ends."""

    __slots__ = ("_kernel", "_waiter", "connection", "ends")

    def __init__(self, ctx: Context, connection: Connection, ends: float) -> None:
        self._kernel = ctx.kernel
        self._waiter: tuple[Task[Any], float] | None = None
        self.connection = connection
        self.ends = ends
        connection.on_message = self._deliver
        connection.on_close = self._handle_close

    async def exchange(self, request: HttpRequest, timeout_s: float) -> HttpResponse:
        """Send a request and return its response; raises ``SendFailed``."""
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

    def _deliver(self, response: Any) -> None:
        if self._waiter is not None:
            self._kernel.ready.append((*self._waiter, response))
            self._waiter = None

    def _handle_close(self, error: object) -> None:
        self.connection.close()
        self._deliver(error)


class RpcSender:
    """Sends calls over one connection."""

    def __init__(self, ctx: Context, host: str, port: int) -> None:
        self._channel = GrpcChannel(ctx, None, FixedAddresses(f"{host}:{port}"), waits_for_connection=True)

    async def send(self, request: tuple[str, Any], timeout_s: float) -> tuple[int, Any]:
        """Make a call; return status 200 and the response. Raises ``SendFailed``."""
        method, payload = request
        try:
            return 200, await self._channel.call(method, payload, timeout_s=timeout_s)
        except GrpcError as error:
            kind = "timeout" if error.code == "DeadlineExceeded" else "read"
            raise SendFailed(kind, str(error)) from None
