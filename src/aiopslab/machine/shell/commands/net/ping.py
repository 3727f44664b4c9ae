"""ping: round trips to a host, with statistics at the end."""

from __future__ import annotations

from math import sqrt

from aiopslab.machine.network import HostUnreachable, NameNotFound, NetworkError, ResolverFailure
from aiopslab.machine.process import Context, Signal
from aiopslab.machine.shell.commands.options import UsageError, parse
from aiopslab.machine.shell.commands.registry import command
from aiopslab.sim import Event, TimedOut


@command("ping")
async def ping(ctx: Context) -> int:
    """Send echo requests until told to stop, or as many as -c says."""
    options = parse(ctx.args, "c:i:W:w:qns:t:4")
    if not options.operands:
        raise UsageError("ping: usage error: Destination address required", 1)
    host = options.operands[0]
    try:
        address = (await ctx.container.namespace.resolve(host))[0]
    except (NameNotFound, ResolverFailure):
        await ctx.err(f"ping: {host}: Name or service not known\n")
        return 2
    count = int(options.last("c") or 0) or 1_000_000
    interval_s, wait_s = float(options.last("i") or 1.0), float(options.last("W") or 10.0)
    stop: Event[None] = Event(ctx.kernel)
    ctx.signals.on(Signal.INT, lambda _signal: stop.set())
    if options.any("w"):
        ctx.kernel.call_later(float(options.last("w")), lambda _: stop.set())
    await ctx.out(f"PING {host} ({address}) 56(84) bytes of data.\n")
    start, times, sent = ctx.kernel.now, [], 0
    while sent < count and not stop.is_set:
        ctx.spend_turn()
        sent += 1
        begun = ctx.kernel.now
        try:
            rtt_s = await ctx.container.namespace.ping(address, min(wait_s, 10.0))
            times.append(rtt_s * 1e3)
            if not options.any("q"):
                await ctx.out(
                    f"64 bytes from {address}: icmp_seq={sent} ttl=64 time={_digits(rtt_s * 1e3)} ms\n"
                )
        except TimedOut:
            pass
        except HostUnreachable:
            here = ctx.container.namespace.address
            await ctx.out(f"From {here} icmp_seq={sent} Destination Host Unreachable\n")
        except NetworkError as error:
            await ctx.err(f"ping: sendmsg: {error}\n")
        if sent < count and not stop.is_set:
            await _pause(stop, interval_s - (ctx.kernel.now - begun))
    elapsed_ms = int((ctx.kernel.now - start) * 1e3)
    await ctx.out(_statistics(host, sent, times, elapsed_ms))
    return 0 if times else 1


async def _pause(stop: Event[None], seconds: float) -> None:
    if seconds > 0:
        try:
            await stop.wait(seconds)
        except TimedOut:
            pass


def _digits(milliseconds: float) -> str:
    if milliseconds >= 100:
        return f"{milliseconds:.0f}"
    return (
        f"{milliseconds:.1f}"
        if milliseconds >= 10
        else f"{milliseconds:.2f}"
        if milliseconds >= 1
        else (f"{milliseconds:.3f}")
    )


def _statistics(host: str, sent: int, times: list[float], elapsed_ms: int) -> str:
    lost = 100 * (sent - len(times)) / sent if sent else 0
    text = (
        f"\n--- {host} ping statistics ---\n{sent} packets transmitted, {len(times)} received, "
        f"{lost:g}% packet loss, time {elapsed_ms}ms\n"
    )
    if times:
        mean = sum(times) / len(times)
        spread = sqrt(max(0.0, sum(t * t for t in times) / len(times) - mean * mean))
        text += f"rtt min/avg/max/mdev = {min(times):.3f}/{mean:.3f}/{max(times):.3f}/{spread:.3f} ms\n"
    return text
