"""Commands that let time pass: sleep, timeout, watch; and uptime."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Final

from aiopslab.machine.process import CommandNotFound, Context, ForkFailed, NotExecutable, Process, Signal
from aiopslab.machine.shell.commands.options import UsageError, parse
from aiopslab.machine.shell.commands.registry import command
from aiopslab.sim import TimedOut

UNITS_S: Final = {"s": 1.0, "m": 60.0, "h": 3600.0, "d": 86_400.0}
TIMED_OUT_STATUS: Final = 124


def duration_s(name: str, text: str) -> float:
    """Seconds from ``5``, ``0.5``, ``2m``, ``infinity``; the genuine complaint otherwise."""
    number, unit = (text[:-1], text[-1]) if text[-1:] in UNITS_S else (text, "s")
    try:
        if not number or number[0] not in "+.0123456789iI":
            raise ValueError
        return float(number) * UNITS_S[unit]
    except ValueError:
        raise UsageError(
            f"{name}: invalid time interval '{text}'\nTry '{name} --help' for more information.",
            125 if name == "timeout" else 1,
        ) from None


@command("sleep")
async def sleep(ctx: Context) -> int:
    """Wait for the sum of the intervals given."""
    intervals = parse(ctx.args).operands
    if not intervals:
        raise UsageError("sleep: missing operand\nTry 'sleep --help' for more information.")
    await ctx.sleep(min(sum(duration_s("sleep", text) for text in intervals), 1e9))
    return 0


@command("timeout")
async def timeout(ctx: Context) -> int:
    """Run a command and signal it when it takes too long."""
    options = parse(
        ctx.args,
        "k:s:v",
        ("kill-after=", "signal=", "preserve-status", "foreground", "verbose"),
        stop_early=True,
    )
    if len(options.operands) < 2:
        raise UsageError("timeout: missing operand\nTry 'timeout --help' for more information.", 125)
    limit_s = duration_s("timeout", options.operands[0])
    signal_name = options.last("s", "signal", default="TERM")
    signal = Signal.parse(signal_name)
    if signal is None:
        raise UsageError(
            f"timeout: {signal_name}: invalid signal\nTry 'timeout --help' for more information.", 125
        )
    kill_after = options.last("k", "kill-after")
    argv = options.operands[1:]
    try:
        process = ctx.start(argv, new_group=not options.any("foreground"))
    except (CommandNotFound, NotExecutable, ForkFailed) as error:
        return await report_start_failure(ctx, argv[0], error)
    ctx.signals.on(Signal.TERM, process.send)
    ended = await _ended_within(process, limit_s)
    if ended is not None:
        return ended
    signal_group(process, signal)
    if kill_after and await _ended_within(process, duration_s("timeout", kill_after)) is None:
        signal_group(process, Signal.KILL)
        await process.wait()
        return 128 + Signal.KILL
    status = await process.wait()
    if options.any("preserve-status"):
        return status
    return 128 + Signal.KILL if signal is Signal.KILL else TIMED_OUT_STATUS


async def _ended_within(process: Process, limit_s: float) -> int | None:
    try:
        return await process.ended.wait(limit_s if 0.0 < limit_s < 1e9 else None)
    except TimedOut:
        return None


def signal_group(process: Process, signal: Signal) -> None:
    """Signal a process and all of its group."""
    for member in list(process.container.processes.values()):
        if member.group == process.group and member is not process:
            member.send(signal)
    process.send(signal)


async def report_start_failure(ctx: Context, name: str, error: Exception) -> int:
    """Say why a command could not be run, as coreutils do; 127 when it is not there, else 126."""
    if isinstance(error, CommandNotFound):
        await ctx.err(f"{ctx.args[0]}: failed to run command '{name}': No such file or directory\n")
        return 127
    await ctx.err(f"{ctx.args[0]}: failed to run command '{name}': {error}\n")
    return 126


@command("watch")
async def watch(ctx: Context) -> int:
    """Run a command again and again. Without a terminal, each look is printed below the last."""
    options = parse(
        ctx.args,
        "n:degtpxcb",
        ("interval=", "differences=?", "errexit", "chgexit", "no-title", "exec", "precise", "color", "beep"),
        stop_early=True,
    )
    if not options.operands:
        raise UsageError("Usage:\n watch [options] command")
    text = options.last("n", "interval", default="2").replace(",", ".")
    try:
        interval_s = max(0.1, float(text))
    except ValueError:
        raise UsageError(f"watch: failed to parse argument: '{text}'") from None
    line = " ".join(options.operands)
    argv = options.operands if options.any("x", "exec") else ["sh", "-c", line]
    previous: bytes | None = None
    while True:
        ctx.spend_turn()
        if not options.any("t", "no-title"):
            stamp = datetime.fromtimestamp(ctx.now, UTC).strftime("%a %b %e %H:%M:%S %Y")
            await ctx.out(f"Every {interval_s:.1f}s: {line}    {ctx.container.hostname}: {stamp}\n\n")
        done = await ctx.run(argv)
        await ctx.stdout.write(done.stdout + done.stderr)
        if done.status and options.any("e", "errexit"):
            return 8
        if options.any("g", "chgexit") and previous not in (None, done.stdout):
            return 0
        previous = done.stdout
        await ctx.sleep(interval_s)


@command("uptime")
async def uptime(ctx: Context) -> int:
    """How long the machine has been up, and its load."""
    options = parse(ctx.args, "ps", ("pretty", "since"))
    up_s = int(ctx.kernel.now - ctx.machine.booted_at)
    if options.any("s", "since"):
        await ctx.out(datetime.fromtimestamp(ctx.now - up_s, UTC).strftime("%Y-%m-%d %H:%M:%S\n"))
        return 0
    days, hours, minutes = up_s // 86_400, up_s // 3600 % 24, up_s // 60 % 60
    if options.any("p", "pretty"):
        await ctx.out(f"up {_pretty(days, hours, minutes)}\n")
        return 0
    await ctx.out(f" {uptime_line(ctx)}\n")
    return 0


def uptime_line(ctx: Context) -> str:
    """What ``uptime`` and the first line of ``top`` show."""
    up_s = int(ctx.kernel.now - ctx.machine.booted_at)
    days, hours, minutes = up_s // 86_400, up_s // 3600 % 24, up_s // 60 % 60
    span = f"{hours:2d}:{minutes:02d}" if hours else f"{minutes} min"
    if days:
        span = f"{days} day{'s' if days > 1 else ''}, {span}"
    ctx.machine.cpu.settle(ctx.kernel.now)
    load = ", ".join(f"{value:.2f}" for value in ctx.machine.cpu.load)
    now = datetime.fromtimestamp(ctx.now, UTC).strftime("%H:%M:%S")
    return f"{now} up {span},  0 users,  load average: {load}"


def _pretty(days: int, hours: int, minutes: int) -> str:
    parts = [(days, "day"), (hours, "hour"), (minutes, "minute")]
    words = [f"{count} {unit}{'s' if count > 1 else ''}" for count, unit in parts if count]
    return ", ".join(words) or "0 minutes"
