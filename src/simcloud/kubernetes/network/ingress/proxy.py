"""nginx: accepts requests, finds their location, proxies them to a backend, and writes access and error logs."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any, Final

from simcloud.kubernetes.network.ingress.controller import IngressController
from simcloud.kubernetes.network.ingress.locations import Backend, Location
from simcloud.machine.network import (
    HTTP,
    HTTPS,
    Connection,
    ConnectionRefused,
    Endpoint,
    HttpRequest,
    HttpResponse,
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
        self.by_status: dict[int, int] = {}

    def listen(self, port: int, protocol: str) -> None:
        """Take requests on a port."""
        listener = self._ctx.listen(port, protocol)

        def accept(client: Connection) -> None:
            def take(request: Any) -> None:
                self._ctx.spawn(self._serve(client, request, protocol), f"{request.method} {request.path}")

            client.on_message = take
            client.on_close = lambda _error: client.close()

        listener.on_accept = accept

    async def _serve(self, client: Connection, request: HttpRequest, scheme: str) -> None:
        ctx, began_at = self._ctx, self._ctx.kernel.now
        await ctx.cpu(REQUEST_CPU_S)
        self._requests += 1
        host = (request.header("Host") or "").partition(":")[0].lower()
        server, location = self._controller.locations.find(host, request.path.partition("?")[0])
        upstream = _Upstream(server)
        response = await self._respond(client, request, scheme, location, upstream)
        response.headers.setdefault("Content-Length", str(len(response.body)))
        self.by_status[response.status] = self.by_status.get(response.status, 0) + 1
        self._log_access(client, request, response, location, upstream, ctx.kernel.now - began_at)
        send_response(client, request, response)

    async def _respond(
        self,
        client: Connection,
        request: HttpRequest,
        scheme: str,
        location: Location | None,
        upstream: _Upstream,
    ) -> HttpResponse:
        if location is None:
            return error_page(404)
        if location.to_https and scheme == HTTP:
            page = error_page(308)
            page.headers["Location"] = f"https://{request.header('Host') or ''}{request.path}"
            return page
        if location.backend is None:
            return error_page(503)
        ends = await self._ends(location.backend)
        if not ends:
            return error_page(503)
        passed = _make_upstream_request(request, client, scheme, location, self._ctx)
        failure, turn = 502, self._next_turn(location.backend)
        for number in range(min(TRIES, len(ends))):
            end = ends[(turn + number) % len(ends)]
            upstream.tried.append(end)
            try:
                return await self._pass(end, passed, location)
            except TimedOut:
                failure = 504
                what = "upstream timed out (110: Operation timed out) while reading response header from upstream"
            except ConnectionRefused:
                failure = 502
                what = "connect() failed (111: Connection refused) while connecting to upstream"
            except NetworkError as error:
                timed_out = error.code == "ETIMEDOUT"
                failure = 504 if timed_out else 502
                what = (
                    "upstream timed out (110: Operation timed out) while connecting to upstream"
                    if timed_out
                    else "upstream prematurely closed connection while reading response header from upstream"
                )
            upstream.statuses.append(failure)
            self._log_error(what, client, request, end, upstream.server)
            if request.method not in ("GET", "HEAD", "PUT", "DELETE", "OPTIONS") and "connect" not in what:
                break  # what may have been done must not be done twice
        return error_page(failure)

    async def _ends(self, backend: Backend) -> tuple[Endpoint, ...]:
        found = self._controller.upstream(backend)
        if not isinstance(found, str):
            return found
        name, _, port = found.rpartition(":")
        try:
            addresses = await self._ctx.container.namespace.resolve(name)
        except NetworkError:
            return ()
        return tuple((address, int(port) if port.isdecimal() else 80) for address in addresses)

    def _next_turn(self, backend: Backend) -> int:
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

    def _log_access(
        self,
        client: Connection,
        request: HttpRequest,
        response: HttpResponse,
        location: Location | None,
        upstream: _Upstream,
        took_s: float,
    ) -> None:
        when = datetime.fromtimestamp(self._ctx.now, UTC).strftime("%d/%b/%Y:%H:%M:%S +0000")
        backend = location.backend if location is not None else None
        name = backend.upstream_name if backend is not None else "upstream-default-backend"
        tried = ", ".join(f"{address}:{port}" for address, port in upstream.tried) or "-"
        statuses = upstream.statuses + (
            [response.status] if len(upstream.statuses) < len(upstream.tried) else []
        )
        status_text = ", ".join(str(status) for status in statuses) or "-"
        length, time = (str(len(response.body)), f"{took_s:.3f}") if upstream.tried else ("-", "-")
        self._ctx.log(
            f'{client.remote[0]} - - [{when}] "{request.first_line}" {response.status} {len(response.body)} '
            f'"{request.header("Referer") or "-"}" "{request.header("User-Agent") or "-"}" {request.size_bytes} '
            f"{took_s:.3f} [{name}] [] {tried} {length} {time} {status_text} {request.header('X-Request-ID') or '-'}"
        )

    def _log_error(
        self, what: str, client: Connection, request: HttpRequest, end: Endpoint, server: str
    ) -> None:
        when = datetime.fromtimestamp(self._ctx.now, UTC).strftime("%Y/%m/%d %H:%M:%S")
        self._ctx.log(
            f"{when} [error] 30#30: *{self._requests} {what}, client: {client.remote[0]}, server: {server}, "
            f'request: "{request.first_line}", upstream: "http://{end[0]}:{end[1]}{request.path}", '
            f'host: "{request.header("Host") or ""}"'
        )


class _Upstream:
    """Where a request was taken, for the logs."""

    def __init__(self, server: str) -> None:
        self.server = server
        self.tried: list[Endpoint] = []
        self.statuses: list[int] = []


def _make_upstream_request(
    request: HttpRequest, client: Connection, scheme: str, location: Location, ctx: Context
) -> HttpRequest:
    """The request as the backend gets it."""
    path, mark, query = request.path.partition("?")
    headers = {
        name: value
        for name, value in request.headers.items()
        if name.lower() not in ("connection", "x-forwarded-for")
    }
    identity = request.header("X-Request-ID") or f"{ctx.random('request-id').getrandbits(128):032x}"
    headers |= {
        "X-Request-ID": identity,
        "X-Real-IP": client.remote[0],
        "X-Forwarded-For": client.remote[0],
        "X-Forwarded-Host": request.header("Host") or "",
        "X-Forwarded-Port": "443" if scheme == HTTPS else "80",
        "X-Forwarded-Proto": scheme,
        "X-Forwarded-Scheme": scheme,
        "X-Scheme": scheme,
    }
    return HttpRequest(request.method, location.rewritten(path) + mark + query, headers, request.body)
