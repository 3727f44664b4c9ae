"""One HTTP request and its response, step by step, for curl and wget."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from enum import Enum
from typing import Final
from urllib.parse import unquote, urljoin, urlsplit

from msgspec import Struct, field
from msgspec.structs import replace

from simcloud.machine.network import (
    HTTP,
    HTTPS,
    PORTS,
    Closed,
    Connection,
    ConnectionRefused,
    ConnectionTimedOut,
    HostUnreachable,
    HttpRequest,
    HttpResponse,
    InvalidArgument,
    NameNotFound,
    NetworkError,
    NetworkUnreachable,
    ProtocolMismatch,
    ResolverFailure,
    respond,
    verify_server,
)
from simcloud.machine.process import Context
from simcloud.sim import TimedOut
from simcloud.userland.commands.net.netcat import RAW, Relay, Settings
from simcloud.userland.commands.options import Options

REDIRECTS: Final = frozenset({301, 302, 303, 307, 308})
NO_LIMIT_S: Final = 1e9
TELNET: Final = "telnet"
TELNET_PORT: Final = 23
TALKATIVE: Final = frozenset({"grpc", "memcached", "mysql"})
"""Servers that answer a line of HTTP by bytes of their own; others hang up."""

MONGO_HINT: Final = "It looks like you are trying to access MongoDB over HTTP on the native driver port.\r\n"


class Url(Struct, frozen=True):
    """The parts of an HTTP address."""

    scheme: str
    host: str
    port: int
    path: str
    text: str
    user: str = ""

    @classmethod
    def parse(cls, text: str) -> Url | None:
        """From what people type, scheme or not; None when there is no host in it."""
        whole = text if "://" in text else f"http://{text}"
        try:
            parts = urlsplit(whole)
            port = parts.port
        except ValueError:
            return None
        scheme = parts.scheme.lower()
        if not parts.hostname:
            return None
        path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
        user = parts.username or ""
        if parts.password is not None:
            user += f":{parts.password}"
        shown = whole if parts.path or parts.query else f"{whole}/"
        return cls(scheme, parts.hostname, port or PORTS.get(scheme, TELNET_PORT), path, shown, unquote(user))

    @property
    def authority(self) -> str:
        """Host and port, the port only where it is not the usual one."""
        return self.host if self.port == PORTS.get(self.scheme) else f"{self.host}:{self.port}"

    def follow_redirect(self, location: str) -> Url | None:
        """Return the URL that a redirect leads to, or None."""
        try:
            return Url.parse(urljoin(self.text, location))
        except ValueError:
            return None

    def with_query(self, query: str) -> Url:
        """The same address with more of a query."""
        glue = "&" if "?" in self.path else "?"
        return replace(self, path=f"{self.path}{glue}{query}", text=f"{self.text}{glue}{query}")


class Failure(Enum):
    """The reason for a missing response."""

    NO_HOST = "no such host"
    REFUSED = "connection refused"
    UNREACHABLE = "unreachable"
    CONNECT_TIMED_OUT = "no answer to the attempt to connect"
    KERNEL_TIMED_OUT = "the kernel gave up connecting"
    TIMED_OUT = "no response in time"
    MISUNDERSTOOD = "another protocol"
    TALKATIVE = "bytes that are no HTTP"
    EMPTY = "closed without a response"
    RESET = "reset"
    REDIRECTS = "too many redirects"
    UNTRUSTED = "the certificate was rejected"


class ExchangeFailed(Exception):
    """The exchange gave no response. The text is the system's message, if there is one."""

    def __init__(self, failure: Failure, detail: str = "") -> None:
        super().__init__(detail)
        self.failure = failure


Watcher = Callable[[str, str], Awaitable[None]]
"""Called for each step with its name (``trying``, ``failed``, ``connected`` or ``sent``) and its subject."""


class Timeline(Struct):
    """The times at which each step ended, in seconds since the start."""

    lookup_s: float = 0.0
    connect_s: float = 0.0
    first_byte_s: float = 0.0
    total_s: float = 0.0


class Exchange(Struct):
    """A response, its two endpoints and its timeline."""

    request: HttpRequest
    response: HttpResponse
    local: tuple[str, int]
    remote: tuple[str, int]
    times: Timeline = field(default_factory=Timeline)


async def fetch(
    ctx: Context,
    url: Url,
    request: HttpRequest,
    *,
    connect_timeout_s: float = NO_LIMIT_S,
    timeout_s: float = NO_LIMIT_S,
    address: str | None = None,
    watcher: Watcher | None = None,
    authorities: bytes | None = None,
) -> Exchange:
    """Send a request and wait for its response; raises ``ExchangeFailed``. With ``authorities``, certificates are verified."""
    start, times, stage = ctx.kernel.now, Timeline(), "connecting"
    try:
        with ctx.kernel.timeout(min(timeout_s, NO_LIMIT_S)):
            addresses = [address] if address else await ctx.container.namespace.resolve(url.host)
            times.lookup_s = ctx.kernel.now - start
            connection = await _connect(ctx, url, addresses, connect_timeout_s, watcher)
            times.connect_s = ctx.kernel.now - start
            if authorities is not None and (
                problem := verify_server(connection, url.host, authorities, ctx.now)
            ):
                connection.close()
                raise ExchangeFailed(Failure.UNTRUSTED, problem)
            stage = "waiting"
            if url.scheme == TELNET:
                await Relay(ctx, Settings(ctx, Options()), connection).run()
                if ctx.kernel.now - start >= timeout_s:
                    raise TimedOut
                response = respond(0)
            else:
                connection.send(request, request.size_bytes)
                if watcher is not None:
                    await watcher("sent", "")
                response = await _receive(connection)
            times.first_byte_s = times.total_s = ctx.kernel.now - start
    except TimedOut:
        connecting = stage == "connecting"
        raise ExchangeFailed(Failure.CONNECT_TIMED_OUT if connecting else Failure.TIMED_OUT) from None
    except NetworkError as error:
        raise ExchangeFailed(_failure(error, stage == "connecting"), str(error)) from None
    exchange = Exchange(request, response, connection.local, connection.remote, times)
    connection.close()
    ctx.spend_bytes(len(response.body))
    return exchange


async def _connect(
    ctx: Context, url: Url, addresses: list[str], timeout_s: float, watcher: Watcher | None
) -> Connection:
    """Try the addresses in turn and raise the error of the last one."""
    deadline = ctx.kernel.now + timeout_s
    last: NetworkError = NameNotFound(url.host)
    protocol = RAW if url.scheme == TELNET else url.scheme
    for address in addresses:
        if watcher is not None:
            await watcher("trying", address)
        try:
            connection = await ctx.dial(address, url.port, protocol, max(0.0, deadline - ctx.kernel.now))
        except NetworkError as error:
            last = error
            if watcher is not None:
                await watcher("failed", f"{address} {error}")
            continue
        if watcher is not None:
            await watcher("connected", address)
        return connection
    if isinstance(last, ConnectionTimedOut) and ctx.kernel.now >= deadline:
        raise TimedOut
    raise last


async def _receive(connection: Connection) -> HttpResponse:
    """The response; also what servers of other protocols make of HTTP."""
    try:
        message = await connection.receive()
    except ProtocolMismatch as mismatch:
        if mismatch.spoken == HTTP and mismatch.expected == HTTPS:
            return respond(400, "Client sent an HTTP request to an HTTPS server.\n", Connection="close")
        if mismatch.spoken == HTTP and mismatch.expected in ("mongo", "mongodb"):
            return respond(200, MONGO_HINT, Connection="close", Content_Type="text/plain")
        raise
    if not isinstance(message, HttpResponse):
        raise ExchangeFailed(Failure.TALKATIVE)
    return message


def _failure(error: NetworkError, connecting: bool) -> Failure:
    if isinstance(error, ProtocolMismatch):
        return Failure.TALKATIVE if error.expected in TALKATIVE else Failure.MISUNDERSTOOD
    kinds: tuple[tuple[type[NetworkError], Failure], ...] = (
        (NameNotFound, Failure.NO_HOST),
        (ResolverFailure, Failure.NO_HOST),
        (ConnectionRefused, Failure.REFUSED),
        (ConnectionTimedOut, Failure.KERNEL_TIMED_OUT if connecting else Failure.RESET),
        (HostUnreachable, Failure.UNREACHABLE),
        (NetworkUnreachable, Failure.UNREACHABLE),
        (InvalidArgument, Failure.REFUSED),
        (Closed, Failure.EMPTY),
    )
    return next((kind for type_, kind in kinds if isinstance(error, type_)), Failure.RESET)
