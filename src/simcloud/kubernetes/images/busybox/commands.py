"""ping, nc and ps of busybox."""

from __future__ import annotations

from typing import Final

from simcloud.kubernetes.images.busybox.messages import WrongCall, in_busybox_words
from simcloud.machine.network import ConnectionRefused, NameNotFound, NetworkError, ResolverFailure
from simcloud.machine.process import Context, Program, Signal
from simcloud.sim import Event, TimedOut
from simcloud.userland.commands import Options, UsageError, parse
from simcloud.userland.commands.net import CONNECT_TIMEOUT_S, RAW, Relay, Settings
from simcloud.userland.commands.system.processes import Facts

DATA_BYTES: Final = 56
ANSWER_S: Final = 10.0
ENDLESS: Final = 1 << 40
NC_OPTIONS: Final = "be:i:klno:p:s:uvw:z"
NC_USAGE: Final = """\
Usage: nc [OPTIONS] HOST PORT  - connect
nc [OPTIONS] -l -p PORT [HOST] [PORT]  - listen

\t-e PROG\tRun PROG after connect (must be last)
\t-l\tListen mode, for inbound connects
\t-lk\tWith -e, provides persistent server
\t-p PORT\tLocal port
\t-s ADDR\tLocal address
\t-w SEC\tTimeout for connects and final net reads
\t-i SEC\tDelay interval for lines sent
\t-n\tDon't do DNS resolution
\t-u\tUDP mode
\t-b\tAllow broadcasts
\t-v\tVerbose
\t-o FILE\tHex dump traffic
\t-z\tZero-I/O mode (scanning)
"""
PING_USAGE: Final = "Usage: ping [OPTIONS] HOST\n\nSend ICMP ECHO_REQUESTs to HOST\n"


async def ping(ctx: Context) -> int:
    """Send echo requests until a signal stops it, or the number given with -c."""
    try:
        options = parse(ctx.args, "46c:i:I:p:qs:t:w:W:A")
        host = options.operands[-1]
        count = int(options.last("c") or ENDLESS)
        answer_s = float(options.last("W") or ANSWER_S)
        interval_s = float(options.last("i") or 1)
        size = int(options.last("s") or DATA_BYTES)
    except (UsageError, IndexError, ValueError) as mistake:
        raise WrongCall(PING_USAGE, mistake if isinstance(mistake, UsageError) else None) from None
    try:
        address = (await ctx.container.namespace.resolve(host))[0]
    except (NameNotFound, ResolverFailure):
        await ctx.err(f"ping: bad address '{host}'\n")
        return 1
    await ctx.out(f"PING {host} ({address}): {size} data bytes\n")
    stop: Event[None] = Event(ctx.kernel)
    ctx.signals.on(Signal.INT, lambda _signal: stop.set())
    if options.any("w"):
        ctx.kernel.call_later(float(options.last("w")), lambda _: stop.set())
    times_ms: list[float] = []
    sent = 0
    while sent < count and not stop.is_set:
        ctx.spend_turn()
        begun = ctx.kernel.now
        try:
            times_ms.append(await ctx.container.namespace.ping(address, answer_s) * 1e3)
            if not options.any("q"):
                await ctx.out(
                    f"{size + 8} bytes from {address}: seq={sent} ttl=64 time={times_ms[-1]:.3f} ms\n"
                )
        except TimedOut:
            pass
        except NetworkError as error:
            await ctx.err(f"ping: sendto: {error}\n")
            return 1
        sent += 1
        if sent < count:
            await _pause(stop, interval_s - (ctx.kernel.now - begun))
    await ctx.out(_statistics(host, sent, times_ms))
    return 0 if times_ms else 1


async def _pause(stop: Event[None], seconds: float) -> None:
    if seconds > 0:
        try:
            await stop.wait(seconds)
        except TimedOut:
            pass


def _statistics(host: str, sent: int, times_ms: list[float]) -> str:
    received = len(times_ms)
    lost = 100 * (sent - received) // sent if sent else 0
    text = (
        f"\n--- {host} ping statistics ---\n{sent} packets transmitted, {received} packets received, "
        f"{lost}% packet loss\n"
    )
    if not times_ms:
        return text
    least, mean, most = min(times_ms), sum(times_ms) / received, max(times_ms)
    return f"{text}round-trip min/avg/max = {least:.3f}/{mean:.3f}/{most:.3f} ms\n"


def nc_of(program: Program, short: str = NC_OPTIONS, usage: str = NC_USAGE) -> Program:
    """nc as busybox builds it, by default with all its options; listening and datagrams are those of the usual nc."""
    full = in_busybox_words(program)

    async def nc(ctx: Context) -> int | None:
        try:
            options = parse(ctx.args, short)
        except UsageError as mistake:
            raise WrongCall(usage, mistake) from None
        if options.any("l", "u"):
            return await full(ctx)
        if len(options.operands) < 2 or not options.operands[1].isdecimal():
            raise WrongCall(usage)
        return await _connect(ctx, options, options.operands[0], int(options.operands[1]))

    return nc


async def _connect(ctx: Context, options: Options, host: str, port: int) -> int:
    settings, verbosity = Settings(ctx, options), len(options.all("v"))
    try:
        address = (await ctx.container.namespace.resolve(host))[0]
    except (NameNotFound, ResolverFailure):
        await ctx.err(f"nc: bad address '{host}'\n")
        return 1
    shown = f"{host} ({address}:{port})"
    try:
        connection = await ctx.dial(address, port, RAW, settings.wait_s or CONNECT_TIMEOUT_S)
    except NetworkError as error:
        if verbosity > 1 or (verbosity and not isinstance(error, ConnectionRefused)):
            await ctx.err(f"nc: {shown}: {error}\n")
        return 1
    if verbosity:
        await ctx.err(f"{shown} open\n")
    if settings.scan:
        connection.close()
    else:
        await Relay(ctx, settings, connection).run()
    return 0


async def ps(ctx: Context) -> int:
    """All processes that can be seen from here."""
    facts = Facts(ctx)
    rows = ["PID   USER     COMMAND\n"]
    for process in sorted(facts.processes, key=facts.pid):
        rows.append(f"{facts.pid(process):5d} {facts.user(process):8.8} {facts.command_line(process)}\n")
    await ctx.out("".join(rows))
    return 0
