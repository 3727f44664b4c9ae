"""The interface to the kubelet that the API uses for logs, exec, attach and port-forward.

The kubelets provide a ``Runtime``. It works by callbacks that are called at an instant of virtual time, so that the
HTTP server can forward bytes without a task inside the world. Data for a callback that is None is lost; set the
callback before the next instant.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol, runtime_checkable

from msgspec import Struct

from simcloud.kubernetes.api.objects import Object
from simcloud.machine.network import Connection, HttpResponse


class LogOptions(Struct, frozen=True):
    """The part of a container's log to return."""

    container: str = ""
    follow: bool = False
    previous: bool = False
    since_s: int | None = None
    since_time: str = ""
    timestamps: bool = False
    tail_lines: int | None = None
    limit_bytes: int | None = None


class LogStream(Protocol):
    """A log being read: what is there comes first, then, when following, what is written."""

    on_data: Callable[[bytes], None] | None
    on_end: Callable[[], None] | None

    def stop(self) -> None:
        """The reader has gone."""


class Session(Protocol):
    """A process at the other end of an exec or attach."""

    on_output: Callable[[int, bytes], None] | None
    """Called with the file descriptor (1 or 2; always 1 on a terminal) and the output."""
    on_end: Callable[[int, str], None] | None
    """Called with the exit code, and a message if the process could not be run or was lost."""
    echoes: bool
    """Whether its terminal, if it has one, shows what is typed; off for clients that show it themselves."""

    def watch_input(self, on_wait: Callable[[], None]) -> None:
        """Call a function whenever the process waits for input, also if it waits already."""

    def write(self, data: bytes) -> None:
        """Type into its standard input."""

    def close_input(self) -> None:
        """Its standard input ends."""

    def resize(self, columns: int, rows: int) -> None:
        """The client's terminal has another size."""

    def stop(self) -> None:
        """The client has gone."""


class Forward(Protocol):
    """A connection to a port of a pod."""

    on_data: Callable[[bytes], None] | None
    on_end: Callable[[str], None] | None
    """Called with the reason for the end of the connection, empty for an orderly end."""

    def write(self, data: bytes) -> None:
        """Send to the pod."""

    def close(self) -> None:
        """Close the sending side."""


class Splice(Protocol):
    """A connection of the world that goes on in a pod."""

    def close(self) -> None:
        """Hang up on both sides."""


@runtime_checkable
class Flow(Protocol):
    """Something in the world that can be held back."""

    @property
    def pending_bytes(self) -> int:
        """What was written to it and not read yet."""

    def pause(self) -> None:
        """Tell no more for now."""

    def resume(self) -> None:
        """Go on."""


class Runtime(Protocol):
    """Runs containers. Methods raise ``ApiError`` in a kubelet's words when they cannot do it."""

    def logs(self, pod: Object, options: LogOptions) -> LogStream:
        """Read a container's log."""

    def exec(
        self, pod: Object, container: str, argv: list[str], *, stdin: bool, stderr: bool, tty: bool
    ) -> Session:
        """Run a command in a container."""

    def check_exec(self, pod: Object, container: str) -> None:
        """Raise what ``exec`` would raise, and run nothing."""

    def attach(self, pod: Object, container: str, *, stdin: bool, stderr: bool, tty: bool) -> Session:
        """Join a container's own process."""

    def ask_node(self, name: str, port: str, path: str) -> HttpResponse:
        """Get a page of a node's kubelet."""

    def forward(self, pod: Object, port: int) -> Forward:
        """Connect to a port of a pod."""

    def splice(self, pod: Object, port: int, near: Connection, on_end: Callable[[str], None]) -> Splice:
        """Join a connection to a port of a pod, with any protocol; ``on_end`` receives the reason of the end."""
