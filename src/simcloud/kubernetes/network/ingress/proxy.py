"""nginx: accepts requests, finds their location, proxies them to a backend, and writes access and error logs."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any, Final, NamedTuple

from simcloud.kubernetes.network.ingress.controller import IngressController
from simcloud.kubernetes.network.ingress.locations import Backend, Location
from simcloud.machine.network import (
    HTTP,
    HTTPS,
    Connection,
    ConnectionRefused,
    Endpoint,
    HostUnreachable,
    HttpRequest,
    HttpResponse,
    Listener,
    NetworkError,
    respond,
    send_response,
)
from simcloud.machine.process import Context
from simcloud.sim import TimedOut

TRIES: Final = 3
REQUEST_CPU_S: Final = 0.0001
IDLE: Final = 320
"""Connections to backends that are kept for the next request."""
REPEATABLE: Final = ("GET", "HEAD", "PUT", "DELETE", "OPTIONS")
REPLACED: Final = ("connection", "x-request-id", "x-forwarded-for")
"""Headers that the backend does not get as the client sent them."""
DEFAULT_BACKEND: Final = ("127.0.0.1", 8181)
TIMED_OUT: Final = "upstream timed out (110: Operation timed out) while"

PHRASES: Final = {
    308: "Permanent Redirect",
    400: "Bad Request",
    404: "Not Found",
    502: "Bad Gateway",
    503: "Service Temporarily Unavailable",
    504: "Gateway Time-out",
}


def error_page(status: int) -> HttpResponse:
    """nginx's own page for a status."""
    title = f"{status} {PHRASES[status]}"
    lines = (
        "<html>",
        f"<head><title>{title}</title></head>",
        "<body>",
        f"<center><h1>{title}</h1></center>",
        "<hr><center>nginx</center>",
        "</body>",
        "</html>",
        "",
    )
    return respond(status, "\r\n".join(lines), Content_Type="text/html")


class Proxy:
    """The part of ingress-nginx that carries traffic."""

    def __init__(self, ctx: Context, controller: IngressController) -> None:
        self._ctx = ctx
        self._controller = controller
        self._idle: dict[Endpoint, list[Connection]] = {}
        self._turns: dict[Backend, int] = {}
        self._requests = 0
        self._identities = ctx.random("request-id")
        self._second, self._stamp = -1, ""
        self._listeners: list[Listener] = []

    def listen(self, port: int, protocol: str) -> None:
        """Take requests on a port."""
        listener = self._ctx.listen(port, protocol)
        if protocol == HTTPS:
            listener.choose_certificate = self._controller.get_certificate

        def accept(client: Connection) -> None:
            def take(request: Any) -> None:
                self._ctx.spawn(self._serve(client, request, protocol), f"{request.method} {request.path}")

            client.on_message = take
            client.on_close = lambda _error: client.close()

        listener.on_accept = accept
        self._listeners.append(listener)

    def close(self) -> None:
        """Take no more connections."""
        for listener in self._listeners:
            listener.close()

    async def _serve(self, client: Connection, request: HttpRequest, scheme: str) -> None:
        ctx, began_s = self._ctx, self._ctx.kernel.now
        await ctx.cpu(REQUEST_CPU_S)
        self._requests += 1
        headers = {name.lower(): value for name, value in request.headers.items()}
        host = headers.get("host", "").partition(":")[0].lower()
        server, location = self._controller.locations.find(host, request.path.partition("?")[0])
        identity = headers.get("x-request-id") or f"{self._identities.getrandbits(128):032x}"
        visit = _Visit(client, request, headers, scheme, server, location, identity, [])
        response = await self._respond(visit)
        if scheme == HTTPS:
            response.headers["Strict-Transport-Security"] = "max-age=31536000; includeSubDomains"
        response.headers.setdefault("Content-Length", str(len(response.body)))
        self._log_access(visit, response, ctx.kernel.now - began_s)
        send_response(client, request, response)

    async def _respond(self, visit: _Visit) -> HttpResponse:
        location, request = visit.location, visit.request
        if location is None or location.backend is None:
            visit.tries.append(_Try(DEFAULT_BACKEND, 404, 0.0))
            return error_page(404)
        if location.to_https and visit.scheme == HTTP:
            page, host = error_page(308), visit.headers.get("host", "").partition(":")[0]
            page.headers["Location"] = f"https://{host}{request.path}"
            return page
        ends = await self._find_ends(location.backend)
        if not ends:
            return error_page(503)
        passed = _make_upstream_request(visit, location)
        for _ in range(TRIES):
            end, began_s = ends[self._take_turn(location.backend) % len(ends)], self._ctx.kernel.now
            try:
                response = await self._pass(end, passed, location)
            except (NetworkError, TimedOut) as error:
                status, what = _explain(error)
                visit.tries.append(_Try(end, status, self._ctx.kernel.now - began_s))
                self._log_error(what, visit, end)
                if request.method not in REPEATABLE and not what.endswith("connecting to upstream"):
                    break  # what may have been done must not be done twice
                continue
            visit.tries.append(_Try(end, response.status, self._ctx.kernel.now - began_s, len(response.body)))
            return response
        return error_page(visit.tries[-1].status)

    async def _find_ends(self, backend: Backend) -> tuple[Endpoint, ...]:
        found = self._controller.upstreams.get(backend, ())
        if not isinstance(found, str):
            return found
        name, _, port = found.rpartition(":")
        try:
            addresses = await self._ctx.container.namespace.resolve(name)
        except NetworkError:
            return ()
        return tuple((address, int(port) if port.isdecimal() else 80) for address in addresses)

    def _take_turn(self, backend: Backend) -> int:
        turn = self._turns[backend] = self._turns.get(backend, -1) + 1
        return turn

    async def _pass(self, end: Endpoint, request: HttpRequest, location: Location) -> HttpResponse:
        idle = self._idle.setdefault(end, [])
        while idle and idle[-1].closed:
            idle.pop()
        connection = idle.pop() if idle else await self._ctx.dial(*end, HTTP, location.connect_s)
        try:
            connection.send(request, request.size_bytes)
            response = await connection.receive(location.read_s)
        except BaseException:
            connection.close()
            raise
        if len(idle) < IDLE and not response.ends_connection:
            idle.append(connection)
        else:
            connection.close()
        return HttpResponse(response.status, response.body, dict(response.headers))

    # -- logs ----------------------------------------------------------------------------------

    def _log_access(self, visit: _Visit, response: HttpResponse, took_s: float) -> None:
        second = int(self._ctx.now)
        if second != self._second:
            moment = datetime.fromtimestamp(second, UTC)
            self._second, self._stamp = second, moment.strftime("%d/%b/%Y:%H:%M:%S +0000")
        request, headers, backend = visit.request, visit.headers, visit.location and visit.location.backend
        name, size = backend.upstream_name if backend else "upstream-default-backend", len(response.body)
        upstream = "- - - -"
        if visit.tries:
            columns = zip(*(attempt.format(size) for attempt in visit.tries), strict=True)
            upstream = " ".join(map(", ".join, columns))
        self._ctx.log(
            f'{visit.client.remote[0]} - - [{self._stamp}] "{request.first_line}" {response.status} {size} '
            f'"{headers.get("referer", "-")}" "{headers.get("user-agent", "-")}" {request.size_bytes} {took_s:.3f} '
            f"[{name}] [] {upstream} {visit.identity}"
        )

    def _log_error(self, what: str, visit: _Visit, end: Endpoint) -> None:
        when, request = (
            datetime.fromtimestamp(self._ctx.now, UTC).strftime("%Y/%m/%d %H:%M:%S"),
            visit.request,
        )
        self._ctx.log(
            f"{when} [error] 30#30: *{self._requests} {what}, client: {visit.client.remote[0]}, "
            f'server: {visit.server}, request: "{request.first_line}", '
            f'upstream: "http://{end[0]}:{end[1]}{request.path}", host: "{visit.headers.get("host", "")}"'
        )


class _Try(NamedTuple):
    """An attempt to get the response from an endpoint."""

    end: Endpoint
    status: int
    took_s: float
    size_bytes: int = 0

    def format(self, page_bytes: int) -> tuple[str, str, str, str]:
        """Return the columns of the access log."""
        size = page_bytes if self.end is DEFAULT_BACKEND else self.size_bytes
        return f"{self.end[0]}:{self.end[1]}", str(size), f"{self.took_s:.3f}", str(self.status)


class _Visit(NamedTuple):
    """A request on its way; ``headers`` have names in lower case."""

    client: Connection
    request: HttpRequest
    headers: dict[str, str]
    scheme: str
    server: str
    location: Location | None
    identity: str
    tries: list[_Try]


def _explain(error: NetworkError | TimedOut) -> tuple[int, str]:
    """Return the status and the message for an endpoint that gave no response."""
    if isinstance(error, ConnectionRefused):
        return 502, "connect() failed (111: Connection refused) while connecting to upstream"
    if isinstance(error, HostUnreachable):
        return 502, "connect() failed (113: Host is unreachable) while connecting to upstream"
    if isinstance(error, TimedOut):
        return 504, f"{TIMED_OUT} reading response header from upstream"
    if error.code == "ETIMEDOUT":
        return 504, f"{TIMED_OUT} connecting to upstream"
    return 502, "upstream prematurely closed connection while reading response header from upstream"


def _make_upstream_request(visit: _Visit, location: Location) -> HttpRequest:
    """Return the request as the backend gets it."""
    request, address = visit.request, visit.client.remote[0]
    path, mark, query = request.path.partition("?")
    headers = {name: value for name, value in request.headers.items() if name.lower() not in REPLACED}
    headers |= {
        "X-Request-ID": visit.identity,
        "X-Real-IP": address,
        "X-Forwarded-For": address,
        "X-Forwarded-Host": visit.headers.get("host", ""),
        "X-Forwarded-Port": "443" if visit.scheme == HTTPS else "80",
        "X-Forwarded-Proto": visit.scheme,
        "X-Forwarded-Scheme": visit.scheme,
        "X-Scheme": visit.scheme,
    }
    return HttpRequest(request.method, location.rewritten(path) + mark + query, headers, request.body)
