"""HTTP as typed messages: what crosses a connection whose protocol is ``http`` or ``https``.

No bytes are made until somebody at the edge wants to see them (``curl -i``, ``nc``, a real socket).
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, Final

from simcloud.machine.network.connection import Connection
from simcloud.machine.network.errors import NetworkError
from simcloud.machine.network.listener import Listener
from simcloud.machine.network.routing import DUAL, is_address

if TYPE_CHECKING:
    from simcloud.machine.process.context import Context

HTTP: Final = "http"
HTTPS: Final = "https"
PORTS: Final = {HTTP: 80, HTTPS: 443}
GO_BACKLOG: Final = 4096
REASONS: Final = {status.value: status.phrase for status in HTTPStatus}


class HttpMessage:
    """Headers, whose names keep the case they were given in, and a body."""

    __slots__ = ()
    headers: dict[str, str]
    body: bytes

    def header(self, name: str) -> str | None:
        """The value of a header, whatever the case of its name."""
        wanted, length = name.lower(), len(name)
        for known, value in self.headers.items():
            if len(known) == length and known.lower() == wanted:
                return value
        return None

    @property
    def ends_connection(self) -> bool:
        """Whether the connection is to end with it: ``Connection: close``."""
        return (self.header("Connection") or "").lower() == "close"

    @property
    def first_line(self) -> str:
        """The request line or the status line."""
        raise NotImplementedError

    def head(self) -> bytes:
        """The first line and the headers as bytes, up to and including the empty line."""
        lines = [self.first_line, *(f"{name}: {value}" for name, value in self.headers.items())]
        return "\r\n".join([*lines, "", ""]).encode("utf-8", "surrogateescape")

    @property
    def size_bytes(self) -> int:
        """What it takes on the wire."""
        headers = self.headers
        texts = sum(map(len, headers)) + sum(map(len, headers.values()))
        return len(self.first_line) + 4 + texts + 4 * len(headers) + len(self.body)


@dataclass(slots=True)
class HttpRequest(HttpMessage):
    """A request."""

    method: str
    path: str
    headers: dict[str, str] = field(default_factory=dict)
    body: bytes = b""

    @property
    def first_line(self) -> str:
        """The request line."""
        return f"{self.method} {self.path} HTTP/1.1"


@dataclass(slots=True)
class HttpResponse(HttpMessage):
    """A response."""

    status: int
    body: bytes = b""
    headers: dict[str, str] = field(default_factory=dict)

    @property
    def reason(self) -> str:
        """The words that go with the status."""
        return REASONS.get(self.status, "")

    @property
    def first_line(self) -> str:
        """The status line."""
        return f"HTTP/1.1 {self.status} {self.reason}"


HttpHandler = Callable[[HttpRequest], Awaitable[HttpResponse]]


def respond(status: int, body: bytes | str = b"", **headers: str) -> HttpResponse:
    """A response with a body; underscores in header names stand for dashes."""
    data = body.encode("utf-8", "surrogateescape") if isinstance(body, str) else body
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return HttpResponse(status, data, named)


def send_response(connection: Connection, request: HttpRequest, response: HttpResponse) -> bool:
    """Answer a request, without the body to one that asked for the head; whether the connection can take another."""
    if request.method == "HEAD":
        response.body = b""
    try:
        connection.send(response, response.size_bytes)
    except NetworkError:
        return False  # the client is gone: nobody to tell
    if request.ends_connection:
        connection.close()
        return False
    return True


def serve_http(
    ctx: Context, port: int, handler: HttpHandler, protocol: str = HTTP, address: str = DUAL
) -> Listener:
    """Answer HTTP requests on a port with a handler, until the process ends or the listener is closed.

    The socket is one as Go's library makes it.
    """

    async def answer(connection: Connection, request: HttpRequest) -> None:
        response = await handler(request)
        response.headers.setdefault("Content-Length", str(len(response.body)))
        send_response(connection, request, response)

    def accept(connection: Connection) -> None:
        def take(request: Any) -> None:
            ctx.spawn(answer(connection, request), f"{request.method} {request.path}")

        connection.on_message = take
        connection.on_close = lambda _error: connection.close()

    namespace = ctx.container.namespace
    listener = namespace.listen(port, protocol, address, owner=ctx.process, backlog=GO_BACKLOG)
    listener.on_accept = accept
    return listener


def verify_server(connection: Connection, host: str, authorities: bytes, now_s: float) -> str:
    """Return why a client rejects the certificate of the server that it has dialled; empty if it accepts it.

    A server that shows no certificate is accepted: most servers of this world have none.
    """
    listener = connection.peer.listener
    if listener is None or listener.protocol != HTTPS:
        return ""  # it speaks no TLS at all: the first message shows it
    shown = listener.get_certificate("" if is_address(host) else host)
    if not shown:
        return ""
    from simcloud.machine.network.tls import find_problem

    return find_problem(shown, authorities, host, now_s)


def parse_request(data: bytes) -> HttpRequest | None:
    """A request from the bytes of one; None when they are not HTTP. HTTP/1.0 means to close."""
    head, _, body = data.replace(b"\r\n", b"\n").partition(b"\n\n")
    first, *rest = head.decode("utf-8", "surrogateescape").split("\n")
    words = first.split()
    if len(words) < 2 or not (words[0].isascii() and words[0].isalpha() and words[0].isupper()):
        return None
    headers = {name.strip(): value.strip() for name, _, value in (line.partition(":") for line in rest)}
    if len(words) == 2 or words[2] == "HTTP/1.0":
        headers.setdefault("Connection", "close")
    return HttpRequest(words[0], words[1], headers, body)
