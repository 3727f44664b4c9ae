"""The client side of an HTTP/2 connection, with concurrent calls."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator
from types import coroutine
from typing import Any, cast

from simcloud.machine.network import Connection, NetworkError
from simcloud.services.rpc.grpc.messages import CONTROL_BYTES, GoAway, Preface, Response, Settings
from simcloud.sim import EXPIRED, Event, Kernel, Task


class Wire:
    """The running calls of a connection. ``left`` is called once when the connection accepts no further calls."""

    __slots__ = ("_kernel", "_left", "_room", "connection", "greeted", "last_id", "max_streams", "pending")

    def __init__(self, kernel: Kernel, connection: Connection, left: Callable[[Wire], None]) -> None:
        self.connection = connection
        self.pending: dict[int, tuple[Task[Any], float]] = {}
        self.max_streams = 0
        self.last_id = 0
        self.greeted: Event[None] = Event(kernel)
        self._kernel = kernel
        self._left: Callable[[Wire], None] | None = left
        self._room: deque[Event[None]] = deque()
        connection.on_message = self._take
        connection.on_close = self._close

    async def greet(self, timeout_s: float) -> None:
        """Say hello and wait for the server's settings; raises ``NetworkError`` or ``TimedOut``."""
        self.connection.send(Preface(), CONTROL_BYTES)
        await self.greeted.wait(timeout_s)

    @coroutine
    def reply(self, id: int, timeout_s: float | None) -> Generator[float | None, Any, Any]:
        """The answer to a call that was sent: a ``Response``, ``EXPIRED``, or None when the connection broke."""
        task = cast("Task[Any]", self._kernel.current)
        self.pending[id] = (task, task.turn)
        answer = yield timeout_s
        if answer is EXPIRED:
            self.pending.pop(id, None)
            self._settle()
        return answer

    async def room(self, timeout_s: float | None) -> None:
        """Wait until another call may begin. Raise ``TimedOut``."""
        event: Event[None] = Event(self._kernel)
        self._room.append(event)
        try:
            await event.wait(timeout_s)
        except BaseException:  # a waiter that leaves passes its turn on
            if event in self._room:
                self._room.remove(event)
            else:
                self._settle()
            raise

    def drain(self) -> None:
        """Begin no more calls; close the connection when the running ones are answered."""
        self._leave()
        self._settle()

    def _take(self, message: Any) -> None:
        if message.__class__ is Response:
            waiter = self.pending.pop(message.id, None)
            if waiter is not None:
                self._kernel.ready.append((*waiter, message))
            if self._room or self._left is None:
                self._settle()
        elif message.__class__ is Settings:
            self.max_streams = message.max_streams
            self.greeted.set()
        elif message.__class__ is GoAway:
            self.drain()

    def _settle(self) -> None:
        """A call has ended: another may begin, or the last one of a drained connection was it."""
        if self._left is None:
            if not self.pending:
                self.connection.close()
        elif self._room and len(self.pending) < self.max_streams:
            self._room.popleft().set()

    def _close(self, error: NetworkError) -> None:
        self.connection.close()
        pending, self.pending = self.pending, {}
        for waiter in pending.values():
            self._kernel.ready.append((*waiter, None))
        self.greeted.fail(error)
        self._leave()

    def _leave(self) -> None:
        left, self._left = self._left, None
        while self._room:
            self._room.popleft().set()
        if left is not None:
            left(self)
