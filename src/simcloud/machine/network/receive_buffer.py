"""The side of a connection that a program reads: what arrived and was not read, and how it ended.

A message goes to ``on_message`` if there is one, else it waits for ``receive``; the end goes to ``on_close`` or
is raised once what arrived before has been read.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator
from types import coroutine
from typing import Any

from simcloud.machine.network.errors import NetworkError
from simcloud.machine.network.packets import Packet
from simcloud.machine.network.waiters import Waiters, wait_in, wake_all, wake_one
from simcloud.sim import Kernel


class Reading:
    """The reading side of one end. ``closed`` turns true when this end closed or learned of the end."""

    __slots__ = (
        "_error", "_error_reported", "_hung_up", "_inbox", "_kernel", "_on_close", "_on_message", "_readers",
        "_writers", "bytes_read", "closed", "peer", "unread_bytes",
    )  # fmt: skip

    peer: Reading

    def __init__(self, kernel: Kernel) -> None:
        self.closed = False
        self.bytes_read = 0
        self.unread_bytes = 0
        self._kernel = kernel
        self._on_message: Callable[[Any], None] | None = None
        self._on_close: Callable[[NetworkError], None] | None = None
        self._inbox: deque[Packet] = deque()
        self._readers: Waiters = []
        self._writers: Waiters = []
        self._error: NetworkError | None = None
        self._error_reported = False
        self._hung_up = False

    @coroutine
    def receive(self, timeout_s: float | None = None) -> Generator[float | None, Any, Any]:
        """The next message. ``Closed`` after the last one; ``TimedOut`` when none came in time.

        Raises ``ConnectionReset``, ``ConnectionTimedOut`` or ``ProtocolMismatch`` when the connection
        failed; what had arrived before is read first.
        """
        inbox = self._inbox
        while not inbox:
            if self._error is not None:
                self._error_reported = True
                raise self._error.with_traceback(None)
            yield from wait_in(self._readers, self._kernel, timeout_s, "message")
        return self._take_unread()

    @property
    def on_message(self) -> Callable[[Any], None] | None:
        """Called with each message as it arrives, outside any task; then ``receive`` sees none."""
        return self._on_message

    @on_message.setter
    def on_message(self, callback: Callable[[Any], None] | None) -> None:
        self._on_message = callback
        while self._inbox and self._on_message is not None:
            self._on_message(self._take_unread())

    @property
    def on_close(self) -> Callable[[NetworkError], None] | None:
        """Called once when the connection ends from outside: with ``Closed`` or what went wrong."""
        return self._on_close

    @on_close.setter
    def on_close(self, callback: Callable[[NetworkError], None] | None) -> None:
        self._on_close = callback
        if self._error is not None and not self._hung_up:
            self._tell()

    @property
    def bytes_received(self) -> int:
        """What arrived, read or not."""
        return self.bytes_read + self.unread_bytes

    def _tell(self) -> None:
        wake_all(self._readers)
        wake_all(self._writers)
        callback, self._on_close = self._on_close, None
        if callback is not None and self._error is not None:
            self._error_reported = True
            callback(self._error)

    def _keep(self, packet: Packet) -> None:
        self.unread_bytes += packet[1]
        self._inbox.append(packet)
        if self._readers:
            wake_one(self._readers)

    def _take_unread(self) -> Any:
        message, size_bytes = self._inbox.popleft()
        self.unread_bytes -= size_bytes
        self.bytes_read += size_bytes
        if self.peer._writers:
            wake_all(self.peer._writers)
        return message
