"""The connection to one address: dialled as soon as the address is known, and again whenever it is lost.

The back-off is grpc-go's: 1 s, then 1.6 times longer each time up to 120 s, with a jitter of 20 %, counted from the
start of the previous attempt.
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Final

from simcloud.machine.network import HTTP, Connection, NetworkError, ProtocolMismatch
from simcloud.machine.process import Context
from simcloud.services.languages.golang import KEEPALIVE_S, dial_error, read_error, split_address
from simcloud.services.rpc.grpc.messages import GRPC_TLS
from simcloud.services.rpc.grpc.wire import Wire
from simcloud.sim import Event, TimedOut

FIRST_PAUSE_S: Final = 1.0
PAUSE_FACTOR: Final = 1.6
PAUSE_JITTER: Final = 0.2
LONGEST_PAUSE_S: Final = 120.0
CONNECT_TIMEOUT_S: Final = 20.0


class Transport:
    """``wire`` is the connection, if any; ``failing`` is set while the last attempt to connect has failed."""

    __slots__ = ("_changed", "_ctx", "_lost", "_protocol", "_task", "address", "failing", "failure", "wire")

    def __init__(self, ctx: Context, address: str, protocol: str, changed: Callable[[], None]) -> None:
        self.address = address
        self.wire: Wire | None = None
        self.failing = False
        self.failure = ""
        self._ctx = ctx
        self._protocol = protocol
        self._changed = changed
        self._lost: Event[None] = Event(ctx.kernel)
        self._task = ctx.spawn(self._run(ctx.random("grpc")), f"transport {address}")

    def close(self) -> None:
        """Retire the address: running calls are finished, and no new ones begin."""
        self._task.drop()
        if self.wire is not None:
            self.wire.drain()

    async def _run(self, chance: Random) -> None:
        kernel, failures = self._ctx.kernel, 0
        while True:
            began = kernel.now
            wire = await self._connect()
            self.failing = wire is None
            self.wire = wire
            self._changed()
            if wire is not None:
                failures = 0
                await self._lost.wait()
                self._lost = Event(kernel)
                continue
            pause_s = min(LONGEST_PAUSE_S, FIRST_PAUSE_S * PAUSE_FACTOR**failures)
            pause_s *= 1.0 + PAUSE_JITTER * (2.0 * chance.random() - 1.0)
            failures += 1
            await kernel.sleep(began + pause_s - kernel.now)
            self.failing = False

    async def _connect(self) -> Wire | None:
        """Return a connection over which both sides have said hello, or None."""
        host, port = "", 0
        try:
            host, port = split_address(self.address)
            connection = await self._ctx.dial(host, port, self._protocol, CONNECT_TIMEOUT_S)
        except NetworkError as error:
            words = dial_error(self._ctx, error, host, port)
            self.failure = f'connection error: desc = "transport: Error while dialing {words}"'
            return None
        connection.keepalive(KEEPALIVE_S)
        wire = Wire(self._ctx.kernel, connection, self._remove_wire)
        try:
            await wire.greet(CONNECT_TIMEOUT_S)
        except (NetworkError, TimedOut) as error:
            connection.close()
            self.failure = f'connection error: desc = "transport: {_greeting_error(error, connection)}"'
            return None
        return wire

    def _remove_wire(self, wire: Wire) -> None:
        if wire is self.wire:
            self.wire = None
            self._lost.set()
            self._changed()


def _greeting_error(error: NetworkError | TimedOut, connection: Connection) -> str:
    """Return the error of an invalid first message of the server."""
    if isinstance(error, ProtocolMismatch):
        if error.spoken == GRPC_TLS:
            return "authentication handshake failed: tls: first record does not look like a TLS handshake"
        if error.expected == HTTP:
            return "error while reading server preface: http2: frame too large"
    return f"error while reading server preface: {read_error(error, connection.local, connection.remote)}"
