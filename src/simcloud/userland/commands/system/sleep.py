"""sleep and timeout. All time is virtual."""

from __future__ import annotations

from typing import Final

from simcloud.machine.process import (
    CommandNotFound,
    Context,
    ForkFailed,
    KilledBySignal,
    NotExecutable,
    Process,
    Signal,
)
from simcloud.sim import TimedOut
from simcloud.userland.commands.options import Options, UsageError
from simcloud.userland.commands.system.durations import LONGEST_S, parse_duration
from simcloud.userland.commands.system.launchers import OWN_FAILURE, tell_start_failure
from simcloud.userland.commands.text.quoting import quote
from simcloud.userland.commands.text.tool import hint, misuse, tool

TIMED_OUT: Final = 124
FORWARDED: Final = (Signal.HUP, Signal.INT, Signal.QUIT, Signal.TERM)


@tool("sleep", usage="NUMBER[SUFFIX]...")
async def sleep(ctx: Context, options: Options) -> int:
    """Wait for the sum of the intervals given."""
    if not options.operands:
        misuse(ctx, "missing operand")
    durations = {text: parse_duration(text) for text in options.operands}
    wrong = [text for text, duration in durations.items() if duration is None]
    if wrong:
        lines = [f"{ctx.args[0]}: invalid time interval {quote(text)}\n" for text in wrong]
        await ctx.err("".join(lines) + f"{hint(ctx)}\n")
        return 1
    await ctx.sleep(min(sum(durations[text] or 0.0 for text in options.operands), LONGEST_S))
    return 0


@tool(
    "timeout",
    options="foreground k,kill-after= preserve-status s,signal= v,verbose",
    usage="[OPTION] DURATION COMMAND [ARG]...",
    trouble=OWN_FAILURE,
    stop_early=True,
)
async def timeout(ctx: Context, options: Options) -> int:
    """Run a command, and signal it when it still runs after a while."""
    signal = _signal(ctx, options.last("s", default="TERM"))
    kill_after_s = _duration(ctx, options.last("k")) if options.any("k") else 0.0
    if len(options.operands) < 2:
        raise UsageError(hint(ctx), OWN_FAILURE)
    limit_s = _duration(ctx, options.operands[0])
    argv = options.operands[1:]
    try:
        process = ctx.start(argv, new_group=not options.any("foreground"))
    except (CommandNotFound, NotExecutable, ForkFailed) as error:
        return await tell_start_failure(ctx, argv[0], error)
    watch = _Watch(ctx, options, process, signal)
    if await watch.ends_within(limit_s):
        return watch.status()
    await watch.strike(signal)
    if not await watch.ends_within(kill_after_s):
        await watch.strike(Signal.KILL)
        await process.wait()
    return watch.status()


def _duration(ctx: Context, text: str) -> float:
    duration_s = parse_duration(text)
    if duration_s is None:
        misuse(ctx, f"invalid time interval {quote(text)}", OWN_FAILURE)
    return duration_s


def _signal(ctx: Context, text: str) -> Signal:
    signal = Signal.parse(text)
    if signal is None:
        misuse(ctx, f"{quote(text)}: invalid signal", OWN_FAILURE)
    return signal


class _Watch:
    """One command that is being timed."""

    def __init__(self, ctx: Context, options: Options, process: Process, signal: Signal) -> None:
        self._ctx = ctx
        self._options = options
        self._process = process
        self._last: Signal | None = None
        for forwarded in dict.fromkeys((*FORWARDED, signal)):
            ctx.signals.on(forwarded, self._send)

    async def ends_within(self, limit_s: float) -> bool:
        """Wait for the command; no limit means for ever."""
        try:
            await self._process.ended.wait(limit_s if 0.0 < limit_s < LONGEST_S else None)
        except TimedOut:
            return False
        return True

    async def strike(self, signal: Signal) -> None:
        """Time is up: signal the command and all of its group."""
        if self._options.any("v"):
            name = self._process.argv[0]
            await self._ctx.err(
                f"{self._ctx.args[0]}: sending signal {signal.name} to command {quote(name)}\n"
            )
        self._last = signal
        self._send(signal)
        if signal not in (Signal.KILL, Signal.CONT):
            self._send(Signal.CONT)  # a stopped command could not answer

    def _send(self, signal: Signal) -> None:
        process = self._process
        if not self._options.any("foreground"):
            for member in list(process.container.processes.values()):
                if member.group == process.group and member is not process:
                    member.send(signal)
        process.send(signal)

    def status(self) -> int:
        """Return the status of timeout: that of the command, or 124 after a timeout."""
        ended_by = self._process.ended_by
        if self._last is None or (ended_by is Signal.KILL and not self._options.any("foreground")):
            if ended_by is not None:
                raise KilledBySignal(ended_by)
            return self._process.status
        if self._options.any("preserve-status") or ended_by is Signal.KILL:
            return self._process.status
        return TIMED_OUT
