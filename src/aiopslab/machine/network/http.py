"""HTTP as typed messages: what crosses a connection whose protocol is ``http`` or ``https``.

No bytes are made until somebody at the edge wants to see them (``curl -v``, ``nc``, a real socket).
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, Final

from aiopslab.machine.network.connection import Connection
from aiopslab.machine.network.errors import NetworkError

if TYPE_CHECKING:
    from aiopslab.machine.process import Context

HTTP: Final = "http"
HTTPS: Final = "https"
PORTS: Final = {HTTP: 80, HTTPS: 443}
OVERHEAD_BYTES: Final = 200


@dataclass(slots=True)
class HttpRequest:
    """A request; header names keep the case they were given in."""

    method: str
    path: str
    headers: dict[str, str] = field(default_factory=dict)
    body: bytes = b""

    @property
    def size_bytes(self) -> int:
        """About what it takes on the wire."""
        return OVERHEAD_BYTES + len(self.path) + len(self.body)


@dataclass(slots=True)
class HttpResponse:
    """A response."""

    status: int
    body: bytes = b""
    headers: dict[str, str] = field(default_factory=dict)

    @property
    def reason(self) -> str:
        """The words that go with the status."""
        try:
            return HTTPStatus(self.status).phrase
        except ValueError:
            return ""

    @property
    def size_bytes(self) -> int:
        """About what it takes on the wire."""
        return OVERHEAD_BYTES + len(self.body)

    def head(self) -> bytes:
        """Status line and headers as bytes, up to and including the empty line."""
        lines = [f"HTTP/1.1 {self.status} {self.reason}".rstrip()]
        lines += [f"{name}: {value}" for name, value in self.headers.items()]
        return ("\r\n".join(lines) + "\r\n\r\n").encode("utf-8", "surrogateescape")


HttpHandler = Callable[[HttpRequest], Awaitable[HttpResponse]]


def serve_http(ctx: Context, port: int, handler: HttpHandler, protocol: str = HTTP) -> None:
    """Answer HTTP requests on a port with a handler, until the process ends."""

    async def answer(connection: Connection, request: HttpRequest) -> None:
        response = await handler(request)
        response.headers.setdefault("Content-Length", str(len(response.body)))
        if request.method == "HEAD":
            response.body = b""
        try:
            connection.send(response, response.size_bytes)
        except NetworkError:
            pass  # the client is gone: nobody to tell

    def accept(connection: Connection) -> None:
        def take(request: Any) -> None:
            ctx.spawn(answer(connection, request), f"{request.method} {request.path}")

        connection.on_message = take
        connection.on_close = lambda _error: connection.close()

    ctx.listen(port, protocol).on_accept = accept


def parse_request(data: bytes) -> HttpRequest | None:
    """A request from bytes somebody typed; None when they are not HTTP."""
    head, _, body = data.replace(b"\r\n", b"\n").partition(b"\n\n")
    first, *rest = head.decode("utf-8", "surrogateescape").split("\n")
    words = first.split()
    if len(words) < 2 or not words[0].isalpha() or not words[0].isupper():
        return None
    headers = {name.strip(): value.strip() for name, _, value in (line.partition(":") for line in rest)}
    return HttpRequest(words[0], words[1], headers, body)
