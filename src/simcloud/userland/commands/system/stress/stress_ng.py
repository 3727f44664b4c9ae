"""stress-ng, with its most common stressors: cpu, vm, io, hdd."""

from __future__ import annotations

from typing import Final

from simcloud.machine.process import Context, ForkFailed
from simcloud.userland.commands.options import Options, UsageError
from simcloud.userland.commands.system.stress.command import SIZES, TIMES, count_of, failure_of
from simcloud.userland.commands.system.stress.hogs import MOST_WORKERS, Workload, start_workers
from simcloud.userland.commands.text.tool import tool

DEFAULT_S: Final = 86_400
NO_STRESSOR: Final = 1
FAILED: Final = 2


@tool("stress-ng", options="t,timeout= c,cpu= l,cpu-load= cpu-method= m,vm= vm-bytes= vm-keep vm-hang= vm-method= "
      "vm-populate i,io= d,hdd= hdd-bytes= q,quiet v,verbose M,metrics metrics-brief temp-path= verify times oomable",
      usage="[OPTION [ARG]]", version="0.15.06")  # fmt: skip
async def stress_ng(ctx: Context, options: Options) -> int:
    """Use up processors, memory or disk until told to stop."""
    wanted = _parse_workload(ctx, options)
    if not sum(wanted.counts.values()):
        raise UsageError(f"stress-ng: error: [{ctx.process.pid}] No stress workers invoked", NO_STRESSOR)
    timeout_s = _amount(options, "t", TIMES, DEFAULT_S)
    verb = "setting" if options.any("t") else "defaulting"
    await _say(ctx, options, f"{verb} to a {timeout_s} second{_in_words(timeout_s)} run per stressor")
    hogs = ", ".join(f"{count} {kind}" for kind, count in wanted.counts.items() if count)
    await _say(ctx, options, f"dispatching hogs: {hogs}")
    begun = ctx.kernel.now
    try:
        workers = start_workers(ctx, wanted)
    except ForkFailed:
        raise UsageError(f"stress-ng: error: [{ctx.process.pid}] Cannot fork stressor") from None
    failed = await failure_of(ctx, workers, timeout_s or None)
    took_s = ctx.kernel.now - begun
    if failed is not None:
        signal = failed.ended_by
        how = (
            f"terminated on signal: {int(signal)}"
            if signal is not None
            else f"returned error {failed.status}"
        )
        await ctx.err(f"stress-ng: error: [{ctx.process.pid}] process [{failed.pid}] {how}\n")
        await _say(ctx, options, f"unsuccessful run completed in {took_s:.2f}s")
        return FAILED
    await _say(ctx, options, f"successful run completed in {took_s:.2f}s")
    return 0


def _in_words(seconds: int) -> str:
    """Return the text in brackets that stress-ng adds to a minute or more."""
    if seconds < 60:
        return ""
    words, left = [], seconds
    for unit, size in (("day", 86_400), ("hour", 3600), ("min", 60)):
        count, left = divmod(left, size)
        if count:
            words.append(f"{count} {unit}{'s' if count > 1 else ''}")
    return f" ({', '.join([*words, f'{left:.2f} secs'])})"


def _parse_workload(ctx: Context, options: Options) -> Workload:
    counts = {}
    for kind, letter in (("cpu", "c"), ("io", "i"), ("vm", "m"), ("hdd", "d")):
        given = options.any(letter)
        # The default is one worker per processor.
        counts[kind] = (_amount(options, letter, {"": 1}, 0) or ctx.machine.cpu.cores) if given else 0
    if sum(counts.values()) > MOST_WORKERS:
        raise UsageError(f"stress-ng: error: [{ctx.process.pid}] Cannot fork stressor")
    return Workload(
        **counts,
        cpu_load=min(100, max(1, _amount(options, "l", {"": 1}, 100))) / 100,
        vm_bytes=_memory(ctx, options, max(1, counts["vm"])),
        vm_keep=options.any("vm-keep"),
        vm_hang_s=float(_amount(options, "vm-hang", TIMES, 0)) if options.any("vm-hang") else None,
        hdd_bytes=_amount(options, "hdd-bytes", SIZES, 1 << 30),
    )


def _memory(ctx: Context, options: Options, workers: int) -> int:
    """Bytes for each worker; a share is of what is free on the machine, all workers together."""
    word = options.last("vm-bytes")
    if word.endswith("%") and word[:-1].isdecimal():
        free = max(0, ctx.machine.memory_bytes - ctx.machine.memory_used_bytes)
        return free * min(100, int(word[:-1][:4])) // 100 // workers
    return _amount(options, "vm-bytes", SIZES, 256 << 20)


def _amount(options: Options, name: str, units: dict[str, int], default: int) -> int:
    word = options.last(name)
    if not word:
        return default
    found = count_of(word, units)
    if found is None:
        raise UsageError(f"stress-ng: error: Illegal number '{word}'")
    return found


async def _say(ctx: Context, options: Options, text: str) -> None:
    if not options.any("q"):
        await ctx.out(f"stress-ng: info:  [{ctx.process.pid}] {text}\n")
