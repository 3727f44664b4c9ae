"""Connections from outside the world to a port of a pod, as bytes.

Programs inside the world exchange typed messages. A port of a plain byte protocol gets the bytes as they come; a port
that serves HTTP gets each whole request as a message, and its responses are sent as bytes. A port of any other
protocol receives unusable data.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from simcloud.machine.network import (
    HTTP,
    BrokenPipe,
    Closed,
    Connection,
    ConnectionReset,
    HttpMessage,
    HttpRequest,
    Namespace,
    NetworkError,
    ProtocolMismatch,
    parse_request,
    respond,
)

LOOPBACK: Final = "127.0.0.1"
GRACE_S: Final = 1.0
"""How long a pod may still answer after the client has ended its side."""

REQUEST_BYTES: Final = 16 << 20
"""A request that is larger is not HTTP as this edge speaks it."""


class PortForward:
    """One connection. ``sandbox`` and ``place`` are how a container runtime names the pod in refusals."""

    def __init__(self, namespace: Namespace, port: int, sandbox: str, place: str) -> None:
        self.on_data: Callable[[bytes], None] | None = None
        self.on_end: Callable[[str], None] | None = None
        self._namespace = namespace
        self._port = port
        self._sandbox, self._place = sandbox, place
        self._connection: Connection | None = None
        self._early = bytearray()
        self._request = bytearray()
        self._held = self._closing = self._ended = False
        namespace.kernel.spawn(self._dial(), f"port-forward {port}")

    @property
    def pending_bytes(self) -> int:
        """What was sent and is not read yet."""
        sent = self._connection.bytes_sent - self._connection.peer.bytes_read if self._connection else 0
        return len(self._early) + len(self._request) + sent

    def write(self, data: bytes) -> None:
        """Send to the pod."""
        if self._connection is None:
            if not self._ended:
                self._early += data
        else:
            self._send(self._connection, data)

    def close(self) -> None:
        """End the sending; what the pod still answers within a moment is passed on."""
        if not self._closing:
            self._closing = True
            self._namespace.kernel.call_later(GRACE_S, self._hang_up)

    def pause(self) -> None:
        """Take no more data for now."""
        self._held = True
        if self._connection is not None:
            self._connection.on_message = None

    def resume(self) -> None:
        """Take data again."""
        self._held = False
        if self._connection is not None and not self._ended:
            self._connection.on_message = self._take

    async def _dial(self) -> None:
        try:
            connection = await self._namespace.dial(LOOPBACK, self._port, "raw", owner=self)
        except NetworkError as error:
            self._end(self._refusal(error))
            return
        self._connection = connection
        early, self._early = bytes(self._early), bytearray()
        if early:
            self._send(connection, early)
        if not self._held:
            connection.on_message = self._take
        connection.on_close = self._on_lost

    def _send(self, connection: Connection, data: bytes) -> None:
        if self._ended:
            return
        try:
            if connection.peer.protocol != HTTP:
                connection.send(data, len(data))
                return
            self._request += data
            while (request := self._whole_request()) is not None:
                connection.protocol = HTTP
                connection.send(request, request.size_bytes)
        except NetworkError as error:
            self._on_lost(error)

    def _whole_request(self) -> HttpRequest | None:
        """The first request of what has come, when all of it has."""
        head, found, _ = self._request.partition(b"\r\n\r\n")
        if not found:
            if len(self._request) > REQUEST_BYTES:
                raise ConnectionReset
            return None
        request = parse_request(bytes(head))
        if request is None:
            raise ProtocolMismatch("raw", HTTP)
        length = request.header("Content-Length") or "0"
        end = len(head) + 4 + (int(length[:9]) if length.isascii() and length.isdecimal() else 0)
        if end > REQUEST_BYTES:
            raise ConnectionReset
        if len(self._request) < end:
            return None
        request.body = bytes(self._request[len(head) + 4 : end])
        del self._request[:end]
        return request

    def _take(self, message: Any) -> None:
        if self.on_data is not None:
            data = _bytes_of(message)
            if data:
                self.on_data(data)

    def _on_lost(self, error: NetworkError) -> None:
        if isinstance(error, ProtocolMismatch) and error.expected == HTTP:
            self._take(respond(400, Connection="close"))
        orderly = isinstance(error, Closed | ProtocolMismatch | BrokenPipe)
        self._end("" if orderly else self._refusal(error))

    def _hang_up(self, _: object) -> None:
        self._end("")

    def _end(self, why: str) -> None:
        if self._ended:
            return
        self._ended = True
        self._early.clear()
        self._request.clear()
        if self._connection is not None:
            self._connection.close()
        if self.on_end is not None:
            self.on_end(why)

    def _refusal(self, error: NetworkError) -> str:
        return refusal(self._port, self._sandbox, self._place, error, self._connection is not None)


def refusal(port: int, sandbox: str, place: str, error: NetworkError, connected: bool) -> str:
    """A container runtime's sentence for a port that cannot be reached, or is lost."""
    start = f"error forwarding port {port} to pod {sandbox}, uid : "
    inside = f'failed to execute portforward in network namespace "{place}": '
    words = str(error).lower()
    if connected:
        return f"{start}{inside}readfrom tcp4 {LOOPBACK}->{LOOPBACK}:{port}: {words}"
    return (
        f'{start}{inside}failed to connect to localhost:{port} inside namespace "{sandbox}", '
        f"IPv4: dial tcp4 {LOOPBACK}:{port}: connect: {words} "
        "IPv6 dial tcp6: address localhost: no suitable address found "
    )


def _bytes_of(message: Any) -> bytes:
    if isinstance(message, HttpMessage):
        return message.head() + message.body
    return message if isinstance(message, bytes) else b""
