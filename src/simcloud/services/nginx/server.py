"""The nginx server: configuration, log and error pages.

Directives that have no effect here are accepted if nginx knows them. An ``NginxServer`` takes requests one by one and
passes each to the handler of its location.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from datetime import UTC, datetime
from email.utils import formatdate
from typing import Final, NamedTuple

from simcloud.machine.network import HTTP, Connection, HttpRequest, HttpResponse, respond, send_response
from simcloud.machine.process import Context, Counted
from simcloud.services.languages.output import print_line
from simcloud.services.nginx.conf import Directive

SERVER: Final = "openresty/1.15.8.1rc1"
PIPELINED: Final = 100
"""Maximum number of waiting requests of one connection; a client that sends more is disconnected."""
MAX_BODY_BYTES: Final = 1 << 20
UNITS: Final = {"k": 1 << 10, "m": 1 << 20, "g": 1 << 30}
CLOSING: Final = (400, 413, 500)
"""After its own page for one of these, nginx closes the connection."""

REASONS: Final = {
    302: "Found",
    400: "Bad Request",
    401: "Authorization Required",
    403: "Forbidden",
    404: "Not Found",
    405: "Not Allowed",
    413: "Request Entity Too Large",
    500: "Internal Server Error",
}


class Exchange(NamedTuple):
    """A request and the number of its connection."""

    number: int
    client: str
    request: HttpRequest


Answer = Callable[[Exchange], Awaitable[HttpResponse]]


class NginxServer:
    """A ``server`` of a configuration: answers each request with the location of the longest matching prefix."""

    def __init__(
        self, ctx: Context, server: Directive, answers: dict[str, Answer], worker_pids: Sequence[int] = ()
    ) -> None:
        """``answers`` are the locations' by prefix; without workers, the log names the process itself."""
        self._worker_pids = worker_pids or (ctx.process.pid,)
        self.ctx = ctx
        self._name = server.text("server_name", "")
        self._logged = server.text("access_log", "logs/access.log") != "off"
        self._max_bytes = size_of(server.text("client_max_body_size", "1m"))
        self._answers = sorted(answers.items(), key=lambda entry: -len(entry[0]))
        self.connections = 0
        """Of clients and to other servers: nginx numbers both."""
        self.latest: Exchange | None = None
        ctx.process.counted.append(Counted(self, ("connections",)))
        self._second = -1
        self._date = ""

    def accept(self, connection: Connection) -> None:
        """Accept a client's connection."""
        self.connections += 1
        _Session(self, connection, self.connections)

    async def answer(self, exchange: Exchange) -> HttpResponse:
        """Return the response to a request, with the headers that all have."""
        self.latest = exchange
        request = exchange.request
        path = request.path.partition("?")[0]
        if not path.startswith("/"):
            path = "/" + path.partition("://")[2].partition("/")[2]
        if len(request.body) > self._max_bytes:
            message = f"client intended to send too large body: {len(request.body)} bytes"
            self.error(message, exchange)
            response = error_page(413)
        else:
            found = next((answer for prefix, answer in self._answers if path.startswith(prefix)), None)
            response = await found(exchange) if found is not None else error_page(404)
        own = response.headers
        closes = request.ends_connection or response.ends_connection
        first = {
            "Server": SERVER,
            "Date": self._now(),
            "Content-Type": own.pop("Content-Type", "application/octet-stream"),
            "Content-Length": str(len(response.body)),
        }
        for name in ("Last-Modified", "Location"):
            if name in own:
                first[name] = own.pop(name)
        first["Connection"] = "close" if closes else "keep-alive"
        response.headers = {**first, **own, "Connection": first["Connection"]}
        if self._logged:
            self._log_access(exchange, response)
        return response

    def error(self, text: str, exchange: Exchange | None = None, level: str = "error") -> None:
        """A line of the error log; with the request that it is about."""
        ctx = self.ctx
        stamp = datetime.fromtimestamp(int(ctx.now), UTC).strftime("%Y/%m/%d %H:%M:%S")
        pid = self._worker_pids[(exchange.number if exchange is not None else 0) % len(self._worker_pids)]
        head = f"{stamp} [{level}] {pid}#{pid}: "
        if exchange is None:
            print_line(ctx, head + text, 2)
            return
        request = exchange.request
        host = request.header("Host")
        where = f'client: {exchange.client}, server: {self._name}, request: "{request.first_line}"'
        named = f', host: "{host}"' if host else ""
        print_line(ctx, f"{head}*{exchange.number} {text}, {where}{named}", 2)

    def _log_access(self, exchange: Exchange, response: HttpResponse) -> None:
        request = exchange.request
        stamp = datetime.fromtimestamp(int(self.ctx.now), UTC).strftime("%d/%b/%Y:%H:%M:%S +0000")
        agent = request.header("User-Agent") or "-"
        entry = f'"{request.first_line}" {response.status} {len(response.body)} "-" "{agent}"'
        print_line(self.ctx, f"{exchange.client} - - [{stamp}] {entry}")

    def _now(self) -> str:
        second = int(self.ctx.now)
        if second != self._second:
            self._second, self._date = second, formatdate(second, usegmt=True)
        return self._date


class _Session:
    """One client's connection: requests are answered one after the other."""

    __slots__ = ("_busy", "_connection", "_number", "_server", "_waiting")

    def __init__(self, server: NginxServer, connection: Connection, number: int) -> None:
        self._server = server
        self._connection = connection
        self._number = number
        self._busy = False
        self._waiting: deque[HttpRequest] = deque()
        connection.on_message = self._take
        connection.on_close = lambda _error: connection.close()

    def _take(self, request: HttpRequest) -> None:
        if not self._busy:
            self._begin(request)
        elif len(self._waiting) < PIPELINED:
            self._waiting.append(request)
        else:
            self._connection.reset()

    def _begin(self, request: HttpRequest) -> None:
        self._busy = True
        self._server.ctx.process.spawn(self._answer(request), request.method)

    async def _answer(self, request: HttpRequest) -> None:
        connection = self._connection
        response = await self._server.answer(Exchange(self._number, connection.remote[0], request))
        if send_response(connection, request, response) and response.ends_connection:
            connection.close()
        elif not connection.closed:
            self._busy = False
            if self._waiting:
                self._begin(self._waiting.popleft())


def error_page(status: int) -> HttpResponse:
    """Return the page that nginx itself makes of an error."""
    title = f"{status} {REASONS.get(status, '')}"
    text = (
        f"<html>\r\n<head><title>{title}</title></head>\r\n<body>\r\n<center><h1>{title}</h1></center>\r\n"
        f"<hr><center>{SERVER}</center>\r\n</body>\r\n</html>\r\n"
    )
    response = respond(status, text, Content_Type="text/html")
    if status in CLOSING:
        response.headers["Connection"] = "close"
    return response


def listen(ctx: Context, port: int, server: NginxServer) -> None:
    """Take connections from now on; raises ``AddressInUse``."""
    ctx.listen(port, HTTP).on_accept = server.accept


def size_of(text: str) -> int:
    """Return a size as the configuration writes it; 0 is no limit."""
    number, unit = (text[:-1], text[-1:].lower()) if text[-1:].lower() in UNITS else (text, "")
    bytes = int(number) * UNITS.get(unit, 1) if number.isdigit() and len(number) < 12 else MAX_BODY_BYTES
    return bytes or 1 << 40
