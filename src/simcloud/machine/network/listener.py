"""A port where connections are taken."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator
from types import coroutine
from typing import Any, Final, Protocol

from simcloud.machine.network.connection import Connection
from simcloud.machine.network.errors import Closed
from simcloud.machine.network.waiters import Waiters, wait_in, wake_all, wake_one
from simcloud.sim import Kernel

BACKLOG: Final = 128
"""How many connections may wait to be accepted, unless the listener says otherwise."""


class ListenerNamespace(Protocol):
    """What a listener needs of its namespace."""

    kernel: Kernel

    def drop_listener(self, listener: Listener) -> None:
        """Free the port of a listener."""


class Listener:
    """Takes connections on one port: ``await accept()``, or ``on_accept`` for each as it comes.

    ``on_mismatch`` is called with the protocol a client spoke when that is not this listener's: the
    moment to log what a server of this kind logs about garbage. ``certificate`` is what a server shows to
    clients who look whom they speak to: the text of a file of certificates. A server of several names has
    ``choose_certificate``, which is called with the name that a client asks for.
    """

    __slots__ = (
        "_kernel", "_on_accept", "_queue", "_waiters", "address", "backlog", "certificate", "choose_certificate", "closed",
        "namespace", "on_mismatch", "owner", "port", "protocol",
    )  # fmt: skip

    def __init__(
        self,
        namespace: ListenerNamespace,
        address: str,
        port: int,
        protocol: str,
        *,
        owner: object,
        backlog: int,
    ) -> None:
        self.namespace = namespace
        self.address = address
        self.port = port
        self.protocol = protocol
        self.owner = owner
        self.backlog = backlog
        self.closed = False
        self.certificate = b""
        self.choose_certificate: Callable[[str], bytes] | None = None
        self.on_mismatch: Callable[[str], None] | None = None
        self._kernel = namespace.kernel
        self._on_accept: Callable[[Connection], None] | None = None
        self._queue: deque[Connection] = deque()
        self._waiters: Waiters = []

    @coroutine
    def accept(self, timeout_s: float | None = None) -> Generator[float | None, Any, Connection]:
        """The next connection; ``TimedOut`` when none came in time, ``Closed`` when the port is closed."""
        while not self._queue:
            if self.closed:
                raise Closed
            yield from wait_in(self._waiters, self._kernel, timeout_s, "connection")
        return self._queue.popleft()

    @property
    def on_accept(self) -> Callable[[Connection], None] | None:
        """Called with each new connection, outside any task; then ``accept`` sees none."""
        return self._on_accept

    @on_accept.setter
    def on_accept(self, callback: Callable[[Connection], None] | None) -> None:
        self._on_accept = callback
        while self._queue and self._on_accept is not None:
            self._on_accept(self._queue.popleft())

    def close(self) -> None:
        """Free the port. Connections that nobody accepted are reset; the others live on."""
        if self.closed:
            return
        self.closed = True
        self._on_accept = self.on_mismatch = None
        self.namespace.drop_listener(self)
        while self._queue:
            self._queue.popleft().reset()
        wake_all(self._waiters)

    def get_certificate(self, server_name: str) -> bytes:
        """Return what the server shows to a client that asks for a name."""
        return self.certificate if self.choose_certificate is None else self.choose_certificate(server_name)

    # -- called by connections -----------------------------------------------------------------

    @property
    def waiting(self) -> int:
        """How many connections wait to be accepted."""
        return len(self._queue)

    @property
    def is_full(self) -> bool:
        """Linux lets one more in than the backlog says, and so does this."""
        return len(self._queue) > self.backlog

    def admit(self, connection: Connection) -> None:
        """A connection is established."""
        if self._on_accept is not None:
            self._on_accept(connection)
        else:
            self._queue.append(connection)
            wake_one(self._waiters)
