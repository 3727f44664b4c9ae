"""An HTTP client as in net/http: connections are reused, and errors have Go's messages.

An idempotent request that fails on an idle connection before any response is retried once on a new connection, as
net/http does, so that a server may close idle connections.
"""

from __future__ import annotations

from typing import Final

from simcloud.machine.network import (
    HTTP,
    HTTPS,
    PORTS,
    Connection,
    HttpRequest,
    HttpResponse,
    NetworkError,
    ProtocolMismatch,
)
from simcloud.machine.process import Context
from simcloud.services.languages.golang import (
    EOF,
    KEEPALIVE_S,
    BadAddress,
    dial_error,
    read_error,
    split_address,
)
from simcloud.services.rpc.http.requests import TRACE_HEADER, span_header
from simcloud.services.rpc.measures import Measures
from simcloud.services.rpc.retries import (
    DEADLINE_EXCEEDED,
    UNAVAILABLE,
    CallError,
    CircuitBreaker,
    Persistence,
    RetryBudget,
    RetryPolicy,
)
from simcloud.services.tracing import SpanContext
from simcloud.sim import TimedOut

DIAL_TIMEOUT_S: Final = 30.0
IDLE_S: Final = 90.0
MAX_IDLE: Final = 2
SAFE_METHODS: Final = frozenset({"GET", "HEAD", "OPTIONS", "TRACE"})
AWAITING_HEADERS: Final = "context deadline exceeded (Client.Timeout exceeded while awaiting headers)"


class HttpError(CallError):
    """A request got no response: ``Get "http://geo:80/": dial tcp 10.96.1.2:80: connect: connection refused``."""

    def __init__(self, text: str, code: str = UNAVAILABLE) -> None:
        super().__init__(text, code)


class HttpClient:
    """Sends requests to any host. ``timeout_s`` is for a whole request; ``max_idle`` is per host.

    With a retry policy a request without a response is sent again; any response is a success, regardless of its status.
    """

    def __init__(
        self,
        ctx: Context,
        service: str = "",
        *,
        timeout_s: float | None = None,
        max_idle: int = MAX_IDLE,
        idle_s: float = IDLE_S,
        retry: RetryPolicy | None = None,
        budget: RetryBudget | None = None,
        breaker: CircuitBreaker | None = None,
    ) -> None:
        self._ctx = ctx
        self._kernel = ctx.kernel
        self._timeout_s = timeout_s
        self._max_idle = max_idle
        self._idle_s = idle_s
        self._persistence = Persistence(ctx, retry, budget, breaker, _circuit_open)
        self._idle: dict[tuple[str, str, int], list[tuple[Connection, float]]] = {}
        self._measures = Measures(ctx, "http_client", service or ctx.container.name)

    async def get(self, url: str, timeout_s: float | None = None) -> HttpResponse:
        """Get an address; raises ``HttpError``."""
        return await self.request("GET", url, timeout_s=timeout_s)

    async def request(
        self,
        method: str,
        url: str,
        body: bytes = b"",
        headers: dict[str, str] | None = None,
        timeout_s: float | None = None,
        parent: SpanContext | None = None,
    ) -> HttpResponse:
        """Send a request to ``http://host[:port]/path`` and return the response; raises ``HttpError``."""
        scheme, _, rest = url.partition("://")
        authority, slash, path = rest.partition("/")
        if scheme not in PORTS:
            raise HttpError(f'{method.capitalize()} "{url}": unsupported protocol scheme "{scheme}"')
        try:
            target = (
                scheme,
                *split_address(authority if ":" in authority else f"{authority}:{PORTS[scheme]}"),
            )
        except BadAddress:
            raise HttpError(
                f'parse "{url}": invalid port ":{authority.partition(":")[2]}" after host'
            ) from None
        request = HttpRequest(method, slash + path if slash else "/", {"Host": authority}, body)
        if headers:
            request.headers.update(headers)
        if parent is not None:
            request.headers[TRACE_HEADER] = span_header(parent)
        if body:
            request.headers.setdefault("Content-Length", str(len(body)))
        measures, start = self._measures.of(f"{method} {target[1]}"), self._kernel.now
        limit_s = timeout_s if timeout_s is not None else self._timeout_s
        try:
            response: HttpResponse = await self._persistence.call(
                lambda limit: self._exchange(target, request, limit),
                None if limit_s is None else start + limit_s,
            )
        except HttpError as error:
            measures.record_failure(self._kernel.now - start, error.code)
            raise HttpError(f'{method.capitalize()} "{url}": {error}', error.code) from None
        measures.record_success(self._kernel.now - start)
        return response

    async def _exchange(
        self, target: tuple[str, str, int], request: HttpRequest, deadline: float | None
    ) -> HttpResponse:
        connection = self._take_idle(target)
        if connection is not None:
            try:
                return await self._send(target, connection, request, deadline)
            except _Lost as lost:
                if request.method not in SAFE_METHODS:
                    raise HttpError(str(lost)) from None
        try:
            return await self._send(target, await self._dial(target, deadline), request, deadline)
        except _Lost as lost:
            raise HttpError(str(lost)) from None

    def _take_idle(self, target: tuple[str, str, int]) -> Connection | None:
        """Return an idle connection that is still good, the one used last."""
        idle = self._idle.get(target)
        while idle:
            connection, since = idle.pop()
            if not connection.closed and self._kernel.now - since < self._idle_s:
                return connection
            connection.close()
        return None

    async def _dial(self, target: tuple[str, str, int], deadline: float | None) -> Connection:
        scheme, host, port = target
        left_s = DIAL_TIMEOUT_S if deadline is None else min(DIAL_TIMEOUT_S, deadline - self._kernel.now)
        address = host
        try:
            with self._kernel.timeout(left_s):
                address = (await self._ctx.container.namespace.resolve(host))[0]
                connection = await self._ctx.dial(address, port, scheme)
        except (NetworkError, TimedOut) as error:
            if deadline is not None and self._kernel.now >= deadline:
                raise HttpError(AWAITING_HEADERS, DEADLINE_EXCEEDED) from None
            raise HttpError(dial_error(self._ctx, error, address, port)) from None
        connection.keepalive(KEEPALIVE_S)
        return connection

    async def _send(
        self,
        target: tuple[str, str, int],
        connection: Connection,
        request: HttpRequest,
        deadline: float | None,
    ) -> HttpResponse:
        try:
            connection.send(request, request.size_bytes)
            response = await connection.receive(None if deadline is None else deadline - self._kernel.now)
        except TimedOut:
            connection.close()
            raise HttpError(AWAITING_HEADERS, DEADLINE_EXCEEDED) from None
        except NetworkError as error:
            connection.close()
            raise _Lost(_words(error, connection)) from None
        except BaseException:  # the caller was cancelled, so nothing reads the response
            connection.close()
            raise
        if not isinstance(response, HttpResponse):
            connection.close()
            raise HttpError("malformed HTTP response")
        idle = self._idle.setdefault(target, [])
        if len(idle) < self._max_idle and not response.ends_connection:
            idle.append((connection, self._kernel.now))
        else:
            connection.close()
        return response


class _Lost(Exception):
    """The connection ended before the response arrived."""


def _words(error: NetworkError, connection: Connection) -> str:
    if isinstance(error, ProtocolMismatch):
        if (error.spoken, error.expected) == (HTTPS, HTTP):
            return "http: server gave HTTP response to HTTPS client"
        if (error.spoken, error.expected) == (HTTP, HTTPS):
            return "malformed HTTP response"
        return EOF
    return read_error(error, connection.local, connection.remote)


def _circuit_open() -> HttpError:
    return HttpError("circuit breaker is open")
