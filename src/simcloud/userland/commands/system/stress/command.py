"""stress 1.0.4, which many images for tests of limits contain."""

from __future__ import annotations

from typing import Final

from simcloud.machine.process import Context, ForkFailed, Process, Signal
from simcloud.sim import TimedOut, first_of
from simcloud.userland.commands.options import Options, UsageError
from simcloud.userland.commands.system.stress.hogs import MOST_WORKERS, Workload, start_workers
from simcloud.userland.commands.text.tool import tool

SIZES: Final = {"": 1, "b": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30, "t": 1 << 40}
TIMES: Final = {"": 1, "s": 1, "m": 60, "h": 3600, "d": 86_400, "y": 31_556_926}
DIGITS: Final = 12


def count_of(word: str, units: dict[str, int]) -> int | None:
    """A whole number with a unit; None when it is none."""
    digits = word.rstrip("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")
    unit = word[len(digits) :].lower()
    if not digits.isdecimal() or len(digits) > DIGITS or unit not in units:
        return None
    return int(digits) * units[unit]


USAGE: Final = """\
`stress' imposes certain types of compute stress on your system

Usage: stress [OPTION [ARG]] ...
 -?, --help         show this help statement
     --version      show version statement
 -v, --verbose      be verbose
 -q, --quiet        be quiet
 -n, --dry-run      show what would have been done
 -t, --timeout N    timeout after N seconds
     --backoff N    wait factor of N microseconds before work starts
 -c, --cpu N        spawn N workers spinning on sqrt()
 -i, --io N         spawn N workers spinning on sync()
 -m, --vm N         spawn N workers spinning on malloc()/free()
     --vm-bytes B   malloc B bytes per vm worker (default is 256MB)
     --vm-stride B  touch a byte every B bytes (default is 4096)
     --vm-hang N    sleep N secs before free (default none, 0 is inf)
     --vm-keep      redirty memory instead of freeing and reallocating
 -d, --hdd N        spawn N workers spinning on write()/unlink()
     --hdd-bytes B  write B bytes per hdd worker (default is 1GB)

Example: stress --cpu 8 --io 4 --vm 2 --vm-bytes 128M --timeout 10s

Note: Numbers may be suffixed with s,m,h,d,y (time) or B,K,M,G (size)."""


@tool("stress", options="v,verbose q,quiet n,dry-run t,timeout= backoff= c,cpu= i,io= m,vm= vm-bytes= vm-stride= "
      "vm-hang= vm-keep d,hdd= hdd-bytes=", usage="[OPTION [ARG]] ...", version="1.0.4")  # fmt: skip
async def stress(ctx: Context, options: Options) -> int:
    """Use up processors, memory or disk until told to stop."""
    if not options.given:
        await ctx.out(f"{USAGE}\n")
        return 0
    wanted = _parse_workload(ctx, options)
    timeout_s = _number(ctx, options, "t", TIMES) if options.any("t") else 0
    if not sum(wanted.counts.values()):
        await _say(ctx, options, "info", "dispatching hogs: 0 cpu, 0 io, 0 vm, 0 hdd")
        raise _wrong(ctx, 194, "no workers specified; nothing to do")
    hogs = ", ".join(f"{count} {kind}" for kind, count in wanted.counts.items())
    await _say(ctx, options, "info", f"dispatching hogs: {hogs}")
    if options.any("n"):
        return 0
    begun = ctx.kernel.now
    try:
        workers = start_workers(ctx, wanted)
    except ForkFailed:
        raise _wrong(ctx, 284, "fork failed: Resource temporarily unavailable") from None
    failed = await failure_of(ctx, workers, timeout_s or None)
    took = int(ctx.kernel.now - begun)
    if failed is None:
        await _say(ctx, options, "info", f"successful run completed in {took}s")
        return 0
    signal = failed.ended_by
    how = f"got signal {int(signal)}" if signal is not None else f"returned error {failed.status}"
    line = 415 if signal is not None else 408
    await ctx.err(f"stress: FAIL: [{ctx.process.pid}] ({line}) <-- worker {failed.pid} {how}\n")
    await ctx.err(f"stress: WARN: [{ctx.process.pid}] (417) now reaping child worker processes\n")
    await ctx.err(f"stress: FAIL: [{ctx.process.pid}] (451) failed run completed in {took}s\n")
    return 1


async def failure_of(ctx: Context, workers: list[Process], timeout_s: float | None) -> Process | None:
    """Wait for the time to pass; the worker that ended before, if one did. None of them is left."""
    try:
        with ctx.kernel.timeout(timeout_s if timeout_s is not None else 1e9):
            await first_of(ctx.kernel, [worker.wait() for worker in workers], "workers")
    except TimedOut:
        pass
    ended = next((worker for worker in workers if not worker.alive), None)
    for worker in workers:
        worker.send(Signal.KILL, outside=True)
    return ended


def _parse_workload(ctx: Context, options: Options) -> Workload:
    kinds = {"cpu": "c", "io": "i", "vm": "m", "hdd": "d"}
    counts = {kind: _number(ctx, options, letter, {"": 1}) for kind, letter in kinds.items()}
    if sum(counts.values()) > MOST_WORKERS:
        raise _wrong(ctx, 284, "fork failed: Resource temporarily unavailable")
    return Workload(
        **counts,
        vm_bytes=_number(ctx, options, "vm-bytes", SIZES) or 256 << 20,
        vm_keep=options.any("vm-keep"),
        vm_hang_s=float(_number(ctx, options, "vm-hang", TIMES)) if options.any("vm-hang") else None,
        hdd_bytes=_number(ctx, options, "hdd-bytes", SIZES) or 1 << 30,
    )


def _number(ctx: Context, options: Options, name: str, units: dict[str, int]) -> int:
    word = options.last(name)
    if not word:
        return 0
    found = count_of(word, units)
    if found is None:
        raise _wrong(
            ctx, 244, f"incorrect argument format: {word}" if word[:1].isdigit() else f"not a number: {word}"
        )
    return found


def _wrong(ctx: Context, line: int, text: str) -> UsageError:
    return UsageError(f"stress: FAIL: [{ctx.process.pid}] ({line}) {text}")


async def _say(ctx: Context, options: Options, kind: str, text: str) -> None:
    if not options.any("q"):
        await ctx.out(f"stress: {kind}: [{ctx.process.pid}] {text}\n")
