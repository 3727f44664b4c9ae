"""Connections to the server's address over the machine's network, and the messages of failures.

The genuine tool first discovers what a server serves, with several attempts, and logs each failure; the result is
cached for ten minutes, in which commands skip discovery.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import Final
from urllib.parse import SplitResult, urlsplit

from simcloud.golang import format_duration, quote
from simcloud.kubectl.errors import KubectlError, PlainError, klog
from simcloud.machine.files import FileError
from simcloud.machine.network import (
    HTTP,
    HTTPS,
    Connection,
    ConnectionRefused,
    ConnectTimedOut,
    HostUnreachable,
    HttpRequest,
    HttpResponse,
    NameNotFound,
    NetworkError,
    NetworkUnreachable,
    read_resolv_conf,
)
from simcloud.machine.process import Context

DIAL_S: Final = 30.0
MOST_PORT: Final = 65535
ODD: Final = re.compile(r'[\s\x00-\x1f<>"%\\^`{|}]')
HOST_AND_PORT: Final = re.compile(r"(?:\[[0-9a-fA-F:.]*\]|[^:\[\]@]*)(:[0-9]*)?")
ASK_S: Final = 32.0
HANDSHAKE_S: Final = 0.003
"""What a TLS handshake and a first request take at least: shorter time limits always expire."""
KEPT_S: Final = 600.0
"""So long what a server serves is remembered."""

SILENT: Final = ("auth whoami", "cluster-info dump", "version", "events", "top", "create", "run", "cp")
"""Commands that know their objects' addresses by themselves."""
ONCE: Final = ("api-resources", "api-versions")
TWICE: Final = ("explain", "auth can-i")


class Unreachable(PlainError):
    """The server's address does not answer."""

    def __init__(self, sentence: str, request: str) -> None:
        super().__init__(sentence)
        self.request = request
        """``Get "https://…": dial tcp …``: the same as other errors tell it."""


def discoveries(command: str, args: Collection[str]) -> int:
    """How often a command asks a server what it serves before it gives up."""
    if any(command == silent or command.startswith(f"{silent} ") for silent in SILENT):
        return 0
    if command in ONCE:
        return 1
    if command in TWICE:
        return 2
    if command in ("logs", "exec", "attach", "port-forward") or any("/" in word for word in args):
        return 4
    kinds = next(iter(args), "").split(",")
    return 4 + len(kinds)


async def reach(ctx: Context, server: str, asked: int, timeout_s: float) -> None:
    """Dial the server; raises ``Unreachable`` after as many attempts as the command makes."""
    address = _address(server.rstrip("/"))
    if 0 < timeout_s < HANDSHAKE_S:
        await ctx.sleep(timeout_s)
        raise _as_unreachable(ctx, address, ConnectTimedOut(), timeout_s)
    for attempt in range(max(asked, 1)):
        try:
            await _check_dial(ctx, address, timeout_s)
            return
        except NetworkError as error:
            failed = _as_unreachable(ctx, address, error, timeout_s)
            if asked:
                message = quote(f"couldn't get current server API group list: {failed.request}")
                await ctx.err(klog(ctx, "E", "memcache.go:265", f'"Unhandled Error" err={message}'))
            if attempt + 1 >= asked:
                raise failed from None


def _address(server: str) -> SplitResult:
    """The parts of a server's address; what is wrong with it is said in Go's words."""
    scheme, slashes, rest = server.partition("://")
    if not slashes:
        scheme, rest = "http", server
    if ODD.search(server):
        raise KubectlError(f"host must be a URL or a host:port pair: {quote(server)}")
    if scheme not in ("http", "https"):
        raise PlainError(f"Unable to connect to the server: unsupported protocol scheme {quote(scheme)}")
    where = rest.partition("/")[0]
    found = HOST_AND_PORT.fullmatch(where)
    if found is None:
        after = where[where.find(":") :]
        why = "missing ']' in host" if where.startswith("[") else f"invalid port {quote(after)} after host"
        raise PlainError(f"Unable to connect to the server: {why}")
    port = (found[1] or "")[1:]
    if port and int(port[:9]) > MOST_PORT:
        raise PlainError(f"Unable to connect to the server: dial tcp: address {port}: invalid port")
    return urlsplit(f"{scheme}://{rest}")


async def exchange(ctx: Context, server: str, request: HttpRequest) -> HttpResponse:
    """Send a request to the server and wait for its answer; raises ``NetworkError``."""
    connection = await _dial(ctx, _address(server.rstrip("/")), 0.0)
    try:
        connection.send(request, request.size_bytes)
        response: HttpResponse = await connection.receive()
        return response
    finally:
        connection.close()


async def _check_dial(ctx: Context, address: SplitResult, timeout_s: float) -> None:
    (await _dial(ctx, address, timeout_s)).close()


async def _dial(ctx: Context, address: SplitResult, timeout_s: float) -> Connection:
    secure = address.scheme == "https"
    port = address.port or (443 if secure else 80)
    limit_s = min(DIAL_S, timeout_s) if timeout_s else DIAL_S
    return await ctx.dial(address.hostname or "localhost", port, HTTPS if secure else HTTP, limit_s)


def _as_unreachable(ctx: Context, address: SplitResult, error: NetworkError, timeout_s: float) -> Unreachable:
    host = address.hostname or "localhost"
    port = address.port or (443 if address.scheme == "https" else 80)
    asked_s = format_duration(timeout_s or ASK_S)
    why = _words(ctx, host, port, error, timeout_s)
    request = f'Get "{address.geturl()}/api?timeout={asked_s}": {why}'
    if isinstance(error, ConnectionRefused):
        sentence = f"The connection to the server {address.netloc} was refused - did you specify the right host or port?"
    else:
        sentence = f"Unable to connect to the server: {why}"
    return Unreachable(sentence, request)


def _words(ctx: Context, host: str, port: int, error: NetworkError, timeout_s: float) -> str:
    target = f"{'127.0.0.1' if host == 'localhost' else host}:{port}"
    if isinstance(error, NameNotFound):
        return f"dial tcp: lookup {host}{_resolver(ctx)}: no such host"
    if isinstance(error, ConnectionRefused):
        return f"dial tcp {target}: connect: connection refused"
    if isinstance(error, HostUnreachable):
        return f"dial tcp {target}: connect: no route to host"
    if isinstance(error, NetworkUnreachable):
        return f"dial tcp {target}: connect: network is unreachable"
    if isinstance(error, ConnectTimedOut):
        if 0 < timeout_s < DIAL_S:
            return (
                "net/http: request canceled while waiting for connection "
                "(Client.Timeout exceeded while awaiting headers)"
            )
        return f"dial tcp {target}: i/o timeout"
    return f"read tcp {target}: {str(error).lower()}"


def _resolver(ctx: Context) -> str:
    """The name server that was asked, as errors tell it."""
    try:
        servers = read_resolv_conf(ctx.files.read("/etc/resolv.conf").decode(errors="replace")).nameservers
    except FileError:
        return ""
    return f" on {servers[0]}:53" if servers else ""
