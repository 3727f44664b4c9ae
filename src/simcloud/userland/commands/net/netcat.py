"""nc and telnet: copy bytes between the standard streams and a connection.

nc is OpenBSD's, as in Debian. Connections here have no half-close: ``-N`` waits for the peer's answer for a moment
after the end of the input, and then closes the connection.
"""

from __future__ import annotations

from typing import Any, Final

from simcloud.machine.network import (
    HTTP,
    Connection,
    ConnectionTimedOut,
    DatagramSocket,
    HttpMessage,
    NameNotFound,
    NetworkError,
    ProtocolMismatch,
    ResolverFailure,
    is_address,
    parse_request,
    respond,
)
from simcloud.machine.process import Context
from simcloud.sim import TimedOut, first_of
from simcloud.userland.commands.net.endpoints import service_name
from simcloud.userland.commands.options import Options, UsageError, parse
from simcloud.userland.commands.registry import command

RAW: Final = "raw"
USAGE: Final = """\
usage: nc [-46CDdFhklNnrStUuvZz] [-I length] [-i interval] [-M ttl]
\t  [-m minttl] [-O length] [-P proxy_username] [-p source_port]
\t  [-q seconds] [-s sourceaddr] [-T keyword] [-V rtable] [-W recvlimit]
\t  [-w timeout] [-X proxy_protocol] [-x proxy_address[:port]]
\t  [destination] [port]"""
GRACE_S: Final = 1.0
"""Time that ``-N`` waits for an answer."""

PROBE_S: Final = 1.0
EXIT_CPU_S: Final = 0.000_3
"""What ``-z`` needs to end; meanwhile the other side accepts the connection."""
CONNECT_TIMEOUT_S: Final = 127.0
LAST_PORT: Final = 65_535
MAX_PORTS: Final = 1_024
MAX_HEAD_BYTES: Final = 65_536


@command("nc", "netcat", "ncat")
async def nc(ctx: Context) -> int:
    """Connect to a port, or listen on one, and pass bytes both ways."""
    try:
        options = parse(ctx.args, "46bCDdFhI:i:klM:m:NnO:P:p:q:rSs:T:tUuV:vW:w:X:x:Zz")
    except UsageError as mistake:
        raise UsageError(f"{str(mistake).partition(chr(10))[0]}\n{USAGE}") from None
    if options.any("h"):
        await ctx.err(f"OpenBSD netcat (Debian patchlevel 1.219-1)\n{USAGE}\n")
        return 0
    settings = Settings(ctx, options)
    operands = options.operands
    if options.any("l"):
        word = options.last("p") or (operands[-1] if operands else "")
        if not word:
            raise _mistake(ctx, "missing port number")
        if not (word.isdecimal() and word.isascii()) or int(word[:9]) > LAST_PORT:
            raise _mistake(ctx, "getaddrinfo: Servname not supported for ai_socktype")
        return await _listen(ctx, settings, int(word))
    if not operands:
        raise UsageError(USAGE)
    if len(operands) < 2:
        raise _mistake(ctx, "missing port number")
    status = 1
    for port in _ports(ctx, operands[1]):
        ctx.spend_turn()
        dialled = await (_probe_datagram if settings.datagrams else _dial)(ctx, settings, operands[0], port)
        status = min(status, dialled)
    return status


class Settings:
    """The parsed options."""

    def __init__(self, ctx: Context, options: Options) -> None:
        self.scan = options.any("z")
        self.verbose = options.any("v")
        self.datagrams = options.any("u")
        self.keep = options.any("k")
        self.detached = options.any("d")
        self.crlf = options.any("C")
        self.wait_s = self._seconds(ctx, options, "w", "timeout invalid")
        quit_s = self._seconds(ctx, options, "q", "quit timer invalid")
        self.quit_s = GRACE_S if options.any("N") and quit_s is None else quit_s

    @staticmethod
    def _seconds(ctx: Context, options: Options, letter: str, complaint: str) -> float | None:
        text = options.last(letter)
        if not options.any(letter) or text == "-1":
            return None
        if not (text.isdecimal() and text.isascii()):
            raise _mistake(ctx, f"{complaint}: {text}")
        return float(text[:9])


def _mistake(ctx: Context, what: str) -> UsageError:
    return UsageError(f"{ctx.args[0]}: {what}")


def _ports(ctx: Context, text: str) -> list[int]:
    numbers = []
    for word in text.split("-", 1):
        if not (word.isdecimal() and word.isascii()):
            raise _mistake(ctx, f"port number invalid: {word}")
        if int(word[:9]) > LAST_PORT:
            raise _mistake(ctx, f"port number too large: {word}")
        numbers.append(int(word))
    low, high = min(numbers), max(numbers)
    return list(range(low, min(high, low + MAX_PORTS) + 1))


async def _listen(ctx: Context, settings: Settings, port: int) -> int:
    try:
        listener = ctx.listen(port, RAW)
    except NetworkError as error:
        raise _mistake(ctx, str(error)) from None
    if settings.verbose:
        await ctx.err(f"Listening on 0.0.0.0 {port}\n")
    while True:
        ctx.spend_turn()
        try:
            connection = await listener.accept(settings.wait_s)
        except TimedOut:
            return 1
        if not settings.keep:
            listener.close()
        if settings.verbose:
            await ctx.err(f"Connection received on {connection.remote[0]} {connection.remote[1]}\n")
        await Relay(ctx, settings, connection).run()
        if not settings.keep:
            return 0


async def _dial(ctx: Context, settings: Settings, host: str, port: int) -> int:
    try:
        addresses = await ctx.container.namespace.resolve(host)
    except (NameNotFound, ResolverFailure) as error:
        raise _mistake(ctx, f'getaddrinfo for host "{host}" port {port}: {error}') from None
    for address in addresses:
        try:
            connection = await ctx.dial(address, port, RAW, settings.wait_s or CONNECT_TIMEOUT_S)
            break
        except NetworkError as error:
            if settings.verbose:
                timed_out = isinstance(error, ConnectionTimedOut) and settings.wait_s is not None
                what = "timed out: Operation now in progress" if timed_out else f"failed: {error}"
                where = _name_place(host, address)
                await ctx.err(f"{ctx.args[0]}: connect to {where} port {port} (tcp) {what}\n")
    else:
        return 1
    if settings.verbose:
        await _tell_success(ctx, host, connection.remote[0], port, "tcp")
    if settings.scan:
        await ctx.cpu(EXIT_CPU_S)
        connection.close()
    else:
        await Relay(ctx, settings, connection).run()
    return 0


def _name_place(host: str, address: str) -> str:
    return host if is_address(host) else f"{host} ({address})"


async def _tell_success(ctx: Context, host: str, address: str, port: int, transport: str) -> None:
    service = service_name(ctx, port, transport) or "*"
    await ctx.err(
        f"Connection to {_name_place(host, address)} {port} port [{transport}/{service}] succeeded!\n"
    )


async def _probe_datagram(ctx: Context, settings: Settings, host: str, port: int) -> int:
    """Send what is on stdin (or, to scan, a byte) in datagrams; a closed port answers that it is closed."""
    namespace = ctx.container.namespace
    try:
        address = (await namespace.resolve(host))[0]
        socket = namespace.bind(0, RAW, owner=ctx.process)
    except NetworkError as error:
        raise _mistake(ctx, f'getaddrinfo for host "{host}" port {port}: {error}') from None
    socket.connect(address, port)
    try:
        return await _exchange_datagrams(ctx, settings, socket, host, address, port)
    except NetworkError:
        return 1
    finally:
        socket.close()


async def _exchange_datagrams(
    ctx: Context, settings: Settings, socket: DatagramSocket, host: str, address: str, port: int
) -> int:
    if settings.scan:
        socket.send(b"X", 1)
        try:
            await socket.receive(settings.wait_s or PROBE_S)
        except TimedOut:
            pass  # silence is all that an open port gives
        if settings.verbose:
            await _tell_success(ctx, host, address, port, "udp")
        return 0
    while data := await ctx.stdin.read():
        ctx.spend_bytes(len(data))
        socket.send(data, len(data))
    try:
        while True:
            answer = await socket.receive(settings.quit_s if settings.quit_s is not None else settings.wait_s)
            await ctx.stdout.write(answer.message if isinstance(answer.message, bytes) else b"")
    except TimedOut:
        return 0


class Relay:
    """Copies bytes both ways until the peer closes the connection or the time is up."""

    def __init__(self, ctx: Context, settings: Settings, connection: Connection) -> None:
        self._ctx = ctx
        self._settings = settings
        self._connection = connection
        self._request = b""

    async def run(self) -> None:
        """Copy; the connection is closed afterwards."""
        try:
            await first_of(self._ctx.kernel, (self._send_all(), self._receive_all()), "nc")
        except (NetworkError, TimedOut):
            pass
        self._connection.close()

    async def _send_all(self) -> None:
        ctx, settings = self._ctx, self._settings
        while not settings.detached and (data := await ctx.stdin.read()):
            ctx.spend_bytes(len(data))
            self._send(data.replace(b"\n", b"\r\n") if settings.crlf else data)
            await self._connection.drain()
        await ctx.sleep(1e9 if settings.quit_s is None else settings.quit_s)

    def _send(self, data: bytes) -> None:
        """To a server of HTTP a whole request goes as one message, however it was typed."""
        connection = self._connection
        if connection.peer.protocol != HTTP:
            connection.send(data, len(data))
            return
        self._request += data[:MAX_HEAD_BYTES]
        request = parse_request(self._request)
        if request is None:
            connection.send(data, len(data))
            return
        is_whole = b"\n\n" in self._request.replace(b"\r\n", b"\n")
        length = request.header("Content-Length") or "0"
        if is_whole and len(request.body) >= (int(length) if length.isdecimal() else 0):
            connection.protocol = HTTP
            connection.send(request, request.size_bytes)
            self._request = b""

    async def _receive_all(self) -> None:
        ctx = self._ctx
        while True:
            ctx.spend_turn()
            try:
                message: Any = await self._connection.receive(self._settings.wait_s)
            except ProtocolMismatch as mismatch:
                if mismatch.expected == HTTP:
                    await ctx.stdout.write(respond(400, Connection="close").head())
                raise
            data = _bytes_of(message)
            ctx.spend_bytes(len(data))
            await ctx.stdout.write(data)


def _bytes_of(message: Any) -> bytes:
    """Return the bytes of a message; messages of other protocols are empty."""
    if isinstance(message, HttpMessage):
        return message.head() + message.body
    return message if isinstance(message, bytes) else b""


@command("telnet")
async def telnet(ctx: Context) -> int:
    """Connect to a port and pass bytes both ways."""
    words = [word for word in ctx.args[1:] if not word.startswith("-")]
    if not words:
        raise UsageError("telnet: there is no terminal to ask at; name a host")
    host, port = words[0], words[1] if len(words) > 1 else "23"
    if not (port.isdecimal() and port.isascii()) or int(port[:9]) > LAST_PORT:
        raise UsageError(f"telnet: could not resolve {host}/{port}: Servname not supported for ai_socktype")
    try:
        address = (await ctx.container.namespace.resolve(host))[0]
    except NetworkError as error:
        raise UsageError(f"telnet: could not resolve {host}/{port}: {error}") from None
    await ctx.out(f"Trying {address}...\n")
    try:
        connection = await ctx.dial(address, int(port), RAW, CONNECT_TIMEOUT_S)
    except NetworkError as error:
        raise UsageError(f"telnet: Unable to connect to remote host: {error}") from None
    await ctx.out(f"Connected to {host}.\nEscape character is '^]'.\n")
    settings = Settings(ctx, parse(["nc", "-q", "0"], "q:"))
    await Relay(ctx, settings, connection).run()
    await ctx.err("Connection closed by foreign host.\n")
    return 1
