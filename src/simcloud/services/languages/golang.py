"""The Go runtime: zerolog's lines, panics that end the process, and the error messages of the net package.

A program is wrapped by ``go_program`` and starts goroutines with ``go``, so that a ``Panic`` anywhere ends the whole
process with exit status 2, unless it is recovered.
"""

from __future__ import annotations

from collections.abc import Coroutine
from datetime import UTC, datetime
from typing import Any, Final, NoReturn

import msgspec

from simcloud.machine.network import (
    AddressInUse,
    BrokenPipe,
    Closed,
    ConnectionRefused,
    ConnectionReset,
    ConnectTimedOut,
    Endpoint,
    HostUnreachable,
    NameNotFound,
    NetworkError,
    NetworkUnreachable,
    ProtocolMismatch,
    ResolverFailure,
)
from simcloud.machine.process import Context, ProcessDead, Program, Signal
from simcloud.services.languages.output import print_line
from simcloud.sim import Task, TimedOut

KEEPALIVE_S: Final = 15.0
"""Go's default interval of TCP keepalive probes, at both ends of a connection."""

ANY_ADDRESS: Final = "::"
"""Where a program listens that names no address: one socket for IPv6 and IPv4."""

BACKLOG: Final = 4096
RUNTIME_SHARE: Final = 0.000_8
"""Share of a core that the runtime of an idle program uses."""

OWN_BYTES: Final = 3 << 20
GARBAGE_BYTES: Final = 2 << 20
PANIC_STATUS: Final = 2
FATAL_STATUS: Final = 1
EOF: Final = "EOF"
"""What Go reads when the peer has hung up."""

FRAMES: Final = ("main.main()", "\t/workspace/main.go:1 +0x1d")
RESOLV_CONF: Final = "/etc/resolv.conf"


class Panic(Exception):
    """A Go panic. Unless recovered it ends the process: ``panic: …``, a trace, exit status 2.

    ``frames`` are the lines of the goroutine's trace, functions and files alternating, the innermost first.
    """

    def __init__(self, message: str, frames: tuple[str, ...] = FRAMES, goroutine: int = 1) -> None:
        super().__init__(message)
        self.message = message
        self.frames = frames
        self.goroutine = goroutine


class GoLog:
    """zerolog as these services use it: JSON until the console writer is set up, then console lines."""

    __slots__ = ("_ctx", "_second", "_stamp", "console")

    def __init__(self, ctx: Context, console: bool = False) -> None:
        self._ctx = ctx
        self.console = console
        self._second = -1
        self._stamp = ""

    def info(self, text: str, caller: str = "") -> None:
        """A line of level info; ``caller`` is ``cmd/geo/main.go:23``."""
        self._line("info", "INF", text, caller)

    def warn(self, text: str, caller: str = "") -> None:
        """A line of level warn."""
        self._line("warn", "WRN", text, caller)

    def error(self, text: str, caller: str = "") -> None:
        """A line of level error."""
        self._line("error", "ERR", text, caller)

    def fatal(self, text: str, caller: str = "") -> NoReturn:
        """A line of level fatal; then the process exits with status 1."""
        self._line("fatal", "FTL", text, caller)
        self._ctx.process.exit(FATAL_STATUS)
        raise ProcessDead

    def panic(
        self, text: str, caller: str = "", frames: tuple[str, ...] = FRAMES, goroutine: int = 1
    ) -> NoReturn:
        """A line of level panic; then the panic itself."""
        self._line("panic", "PNC", text, caller)
        raise Panic(text, frames, goroutine)

    def _line(self, level: str, short: str, text: str, caller: str) -> None:
        stamp = self._now()
        if self.console:
            parts = (stamp, short, f"{caller} >" if caller else "", text)
            print_line(self._ctx, " ".join(filter(None, parts)))
        else:
            message = msgspec.json.encode({"level": level, "time": stamp, "message": text})
            print_line(self._ctx, message.decode(), 2)

    def _now(self) -> str:
        second = int(self._ctx.now)
        if second != self._second:
            self._second = second
            self._stamp = datetime.fromtimestamp(second, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        return self._stamp


def plain_log(ctx: Context, text: str) -> None:
    """A line of Go's own ``log`` package, on stderr."""
    print_line(ctx, format_plain(ctx.now, text), 2)


def format_plain(time_s: float, text: str) -> str:
    """Return a line of that package."""
    return f"{datetime.fromtimestamp(int(time_s), UTC):%Y/%m/%d %H:%M:%S} {text}"


# -- the life and death of a process ------------------------------------------------------------


def go_program(main: Program) -> Program:
    """A program whose panics end it as Go's runtime does, and which answers signals as Go does."""

    async def program(ctx: Context) -> int | None:
        ctx.process.threads = ctx.random("go threads").randrange(7, 13)
        ctx.use_background_cpu(RUNTIME_SHARE)
        ctx.spawn(_manage_heap(ctx), "heap")
        ctx.signals.on(Signal.TERM, lambda signal: _terminate(ctx, signal))
        ctx.signals.on(Signal.INT, lambda signal: _terminate(ctx, signal))
        try:
            return await main(ctx)
        except Panic as panic:
            crash(ctx, panic)

    return program


async def _manage_heap(ctx: Context) -> None:
    """Let the memory follow the garbage collector: it grows until a collection, and no two programs are alike."""
    random = ctx.random("go heap")
    floor, garbage = random.randrange(-OWN_BYTES, OWN_BYTES), 0
    ctx.memory.grow(floor + OWN_BYTES)
    while True:
        await ctx.sleep(random.uniform(20.0, 40.0))
        garbage, before = (
            (0 if garbage > GARBAGE_BYTES else garbage + random.randrange(GARBAGE_BYTES // 2)),
            garbage,
        )
        ctx.memory.grow(garbage - before)


def go(ctx: Context, work: Coroutine[Any, Any, Any], name: str) -> Task[Any]:
    """Start a goroutine; a panic in it ends the process."""
    return ctx.spawn(_goroutine(ctx, work), name)


async def _goroutine(ctx: Context, work: Coroutine[Any, Any, Any]) -> None:
    try:
        await work
    except Panic as panic:
        crash(ctx, panic)


def crash(ctx: Context, panic: Panic) -> NoReturn:
    """Print an unrecovered panic as the runtime does, and exit."""
    print_line(ctx, f"panic: {panic.message}", 2)
    print_line(ctx, "", 2)
    print_line(ctx, f"goroutine {panic.goroutine} [running]:", 2)
    for frame in panic.frames:
        print_line(ctx, frame, 2)
    ctx.process.exit(PANIC_STATUS)
    raise ProcessDead


def _terminate(ctx: Context, signal: Signal) -> None:
    """Go's runtime raises the signal again with its default action, which pid 1 is spared: it exits with 2."""
    if ctx.process.pid == 1:
        ctx.process.exit(PANIC_STATUS)
    else:
        ctx.process.die(signal)


# -- words ---------------------------------------------------------------------------------------


class BadAddress(NetworkError):
    """The address is not ``host:port``."""

    def __init__(self, address: str, why: str) -> None:
        Exception.__init__(self, f"address {address}: {why}")


def split_address(address: str) -> tuple[str, int]:
    """Host and port of ``host:port``; raises ``BadAddress``."""
    host, colon, port = address.rpartition(":")
    if not colon:
        raise BadAddress(address, "missing port in address")
    if not (port.isascii() and port.isdecimal() and len(port) <= 9):
        raise BadAddress(port, "unknown port")
    if int(port) > 65_535:
        raise BadAddress(port, "invalid port")
    return host, int(port)


def dial_error(
    ctx: Context, error: NetworkError | TimedOut, host: str, port: int, network: str = "tcp"
) -> str:
    """Format why a dial failed, as ``net.Dial`` does: ``dial tcp 10.96.1.2:80: connect: connection refused``.

    ``host`` is the name that was dialled, or better the address it stands for: Go names the address.
    """
    if isinstance(error, NameNotFound | ResolverFailure):
        return f"dial {network}: {lookup_error(ctx, error)}"
    if isinstance(error, BadAddress):
        return f"dial {network}: {error}"
    target = f"dial {network} {host}:{port}"
    if isinstance(error, ConnectTimedOut | TimedOut):
        return f"{target}: i/o timeout"
    return f"{target}: connect: {errno_words(error)}"


def lookup_error(ctx: Context, error: NameNotFound | ResolverFailure) -> str:
    """Format a failed look-up: ``lookup geo on 10.96.0.10:53: no such host``."""
    server = _name_server(ctx)
    where = f"lookup {error.name} on {server}:53" if server else f"lookup {error.name}"
    if isinstance(error, NameNotFound):
        return f"{where}: no such host"
    if error.answered:
        return f"{where}: server misbehaving"
    why = "read: connection refused" if error.refused else "i/o timeout"
    return f"{where}: read udp {ctx.container.namespace.address}:37321->{server}:53: {why}"


def listen_error(error: NetworkError, port: int) -> str:
    """Format a failed listen: ``listen tcp :8083: bind: address already in use``."""
    return f"listen tcp :{port}: bind: {errno_words(error)}"


def read_error(error: NetworkError | TimedOut, local: Endpoint, remote: Endpoint, verb: str = "read") -> str:
    """Format a failed read or write on an established connection."""
    if isinstance(error, Closed | ProtocolMismatch):
        return EOF
    ends = f"{verb} tcp {local[0]}:{local[1]}->{remote[0]}:{remote[1]}"
    if isinstance(error, TimedOut):
        return f"{ends}: i/o timeout"
    if isinstance(error, BrokenPipe):
        return f"{ends}: write: broken pipe"
    return f"{ends}: {verb}: {errno_words(error)}"


_ERRNO_WORDS: Final[tuple[tuple[type[NetworkError], str], ...]] = (
    (ConnectionRefused, "connection refused"),
    (ConnectionReset, "connection reset by peer"),
    (HostUnreachable, "no route to host"),
    (NetworkUnreachable, "network is unreachable"),
    (AddressInUse, "address already in use"),
)


def errno_words(error: NetworkError | TimedOut) -> str:
    """Return the system's message for an error, in lower case as in Go."""
    return next((words for kind, words in _ERRNO_WORDS if isinstance(error, kind)), str(error).lower())


def _name_server(ctx: Context) -> str:
    """Return the first name server of /etc/resolv.conf, for the error message of a look-up."""
    if not ctx.files.exists(RESOLV_CONF):
        return ""
    for line in ctx.files.read(RESOLV_CONF).decode("utf-8", "replace").splitlines():
        words = line.split()
        if len(words) >= 2 and words[0] == "nameserver":
            return words[1]
    return ""
