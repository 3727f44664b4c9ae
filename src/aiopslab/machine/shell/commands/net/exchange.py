"""One HTTP request and its response, for curl and wget."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import urljoin, urlsplit

from aiopslab.machine.network import (
    Closed,
    ConnectionRefused,
    ConnectionReset,
    ConnectionTimedOut,
    HostUnreachable,
    NameNotFound,
    NetworkError,
    NetworkUnreachable,
    ProtocolMismatch,
    ResolverFailure,
)
from aiopslab.machine.network.http import PORTS, HttpRequest, HttpResponse
from aiopslab.machine.process import Context
from aiopslab.sim import TimedOut

REDIRECTS = frozenset({301, 302, 303, 307, 308})


@dataclass(frozen=True, slots=True)
class Url:
    """The parts of an HTTP address."""

    scheme: str
    host: str
    port: int
    path: str
    text: str

    @classmethod
    def parse(cls, text: str) -> Url | None:
        """From what people type, scheme or not; None when there is no host in it."""
        whole = text if "://" in text else f"http://{text}"
        try:
            parts = urlsplit(whole)
            port = parts.port
        except ValueError:
            return None
        if not parts.hostname:
            return None
        path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
        scheme = parts.scheme.lower()
        return cls(scheme, parts.hostname, port or PORTS.get(scheme, 0), path, whole)

    def redirected(self, location: str) -> Url | None:
        """Where a redirect leads."""
        return Url.parse(urljoin(self.text, location))


class ExchangeFailed(Exception):
    """The exchange did not come to a response. ``kind`` is one word for what went wrong."""

    def __init__(self, kind: str, detail: str, elapsed_s: float) -> None:
        super().__init__(detail)
        self.kind = kind
        self.elapsed_s = elapsed_s


@dataclass(slots=True)
class Exchange:
    """A response and how long it took to get it."""

    response: HttpResponse
    remote: tuple[str, int]
    connected_s: float
    total_s: float


async def fetch(
    ctx: Context,
    url: Url,
    request: HttpRequest,
    *,
    connect_timeout_s: float,
    timeout_s: float | None,
    address: str | None = None,
) -> Exchange:
    """Send a request and wait for its response; raises ``ExchangeFailed``."""
    start = ctx.kernel.now
    connecting = True
    try:
        with ctx.kernel.timeout(timeout_s if timeout_s is not None else 1e9):
            connection = await ctx.dial(address or url.host, url.port, url.scheme, connect_timeout_s)
            connected_s = ctx.kernel.now - start
            connecting = False
            connection.send(request, request.size_bytes)
            response = await connection.receive()
            connection.close()
    except TimedOut:
        kind = "connect-timeout" if connecting else "timeout"
        raise ExchangeFailed(kind, "timed out", ctx.kernel.now - start) from None
    except NetworkError as error:
        raise ExchangeFailed(_kind(error, connecting), str(error), ctx.kernel.now - start) from None
    return Exchange(response, connection.remote, connected_s, ctx.kernel.now - start)


def _kind(error: NetworkError, connecting: bool) -> str:
    kinds: tuple[tuple[type[NetworkError], str], ...] = (
        (NameNotFound, "no-host"),
        (ResolverFailure, "no-host"),
        (ProtocolMismatch, "mismatch"),
        (ConnectionRefused, "refused"),
        (ConnectionTimedOut, "connect-timeout" if connecting else "reset"),
        (HostUnreachable, "unreachable"),
        (NetworkUnreachable, "unreachable"),
        (ConnectionReset, "reset"),
        (Closed, "empty"),
    )
    return next((kind for type_, kind in kinds if isinstance(error, type_)), "reset")
