"""free and vmstat: report memory and its use."""

from __future__ import annotations

from typing import Final

from simcloud.machine.proc import TICKS_PER_S, cpu_times, event_counts, measure_activity, measure_memory, vary
from simcloud.machine.process import Context
from simcloud.userland.commands.options import Options
from simcloud.userland.commands.system.durations import parse_seconds
from simcloud.userland.commands.system.uptime import HELP, PROCPS
from simcloud.userland.commands.text.counts import parse_number
from simcloud.userland.commands.text.tool import fail, tool

KIB: Final = 1024
UNITS: Final = {"b": 1, "k": KIB, "m": KIB**2, "g": KIB**3, "tebi": KIB**4, "pebi": KIB**5, "kilo": 1000,
                "mega": 1000**2, "giga": 1000**3, "tera": 1000**4, "peta": 1000**5}  # fmt: skip
ENDLESS: Final = 1 << 40
VMSTAT_TITLES: Final = (
    "procs -----------memory---------- ---swap-- -----io---- -system-- ------cpu-----\n"
    " r  b   swpd   free   buff  cache   si   so    bi    bo   in   cs us sy id wa st\n"
)
VMSTAT_WIDE_TITLES: Final = (
    "--procs-- -----------------------memory---------------------- ---swap-- -----io---- -system-- ----------cpu----------\n"
    "   r    b         swpd         free         buff        cache   si   so    bi    bo   in   cs  us  sy  id  wa  st  gu\n"
)


@tool(
    "free",
    options="b,bytes c,count= g,gibi h,human k,kibi l,lohi m,mebi s,seconds= t,total v,committed w,wide kilo mega giga "
    "tera peta tebi pebi si",
    usage="[options]",
    version=PROCPS,
    try_help=HELP,
)
async def free(ctx: Context, options: Options) -> int:
    """Show how much memory is free and used."""
    interval_s = parse_seconds(options.last("s")) if options.any("s") else 0.0
    if interval_s is None:
        fail(ctx, f"seconds argument failed: '{options.last('s')}': Invalid argument")
    count = parse_number(options.last("c")) if options.any("c") else ENDLESS if options.any("s") else 1
    if count is None or count < 1:
        fail(ctx, f"failed to parse count argument: '{options.last('c')}'")
    for number in range(count):
        if number:
            await ctx.sleep(interval_s or 1.0)
            await ctx.out("\n")
        ctx.spend_turn()
        await ctx.out(_free_table(ctx, options))
    return 0


def _free_table(ctx: Context, options: Options) -> str:
    use = measure_memory(ctx.machine)
    total, used, left = use.total, use.used, use.free
    unit = next((UNITS[option] for option, _ in options.given[::-1] if option in UNITS), KIB)
    base = 1000 if options.any("si") else KIB
    wide = options.any("w")
    caches = (use.buffers, use.cache - use.buffers) if wide else (use.cache,)
    titles = (
        "total",
        "used",
        "free",
        "shared",
        *(("buffers", "cache") if wide else ("buff/cache",)),
        "available",
    )
    rows: list[tuple[str, tuple[int, ...]]] = [
        ("Mem:", (total, used, left, use.shared, *caches, use.available)),
        ("Swap:", (0, 0, 0)),
    ]
    if options.any("l"):
        rows[1:1] = [("Low:", (total, used, left)), ("High:", (0, 0, 0))]
    if options.any("t"):
        rows.append(("Total:", (total, used, left)))
    if options.any("v"):
        rows.append(("Comm:", (total // 2, use.anonymous * 2, total // 2 - use.anonymous * 2)))
    lines = [" " * 8 + "".join(title.rjust(12) for title in titles)]
    for name, sizes in rows:
        shown = [_human(size, base) if options.any("h") else str(size // unit) for size in sizes]
        lines.append(f"{name:<8}" + "".join(text.rjust(12) for text in shown))
    return "".join(f"{line}\n" for line in lines)


def _human(size_bytes: int, base: int) -> str:
    """At most three digits: one decimal where it fits, else cut to a whole number."""
    mark = "" if base == 1000 else "i"
    room = 4 + len(mark)
    if len(f"{size_bytes}B") <= room:
        return f"{size_bytes}B"
    for power, letter in enumerate("KMGTP", 1):
        value = size_bytes / base**power
        for text in (f"{value:.1f}{letter}{mark}", f"{int(value)}{letter}{mark}"):
            if len(text) <= room:
                return text
    return f"{size_bytes // base**5}P{mark}"


@tool(
    "vmstat",
    options="a,active d,disk D,disk-sum f,forks m,slabs n,one-header p,partition= s,stats S,unit= t,timestamp w,wide "
    "y,no-first",
    usage="[options] [delay [count]]",
    version=PROCPS,
    try_help=HELP.replace("{name}(1)", "vmstat(8)"),
)
async def vmstat(ctx: Context, options: Options) -> int:
    """Show memory and CPU, once or every so many seconds."""
    words = options.operands
    delay_s = parse_seconds(words[0]) if words else 0.0
    count = parse_number(words[1]) if len(words) > 1 else ENDLESS if words else 1
    for word, number in zip(words, (delay_s, count), strict=False):
        if number is None or number < 0:
            fail(ctx, f"failed to parse argument: '{word}'")
    if options.any("s"):
        await ctx.out(_memory_list(ctx))
        return 0
    await ctx.out(VMSTAT_WIDE_TITLES if options.any("w") else VMSTAT_TITLES)
    unit = {"k": 1000, "K": KIB, "m": 1000**2, "M": KIB**2}.get(options.last("S", default="K"), KIB)
    before = _sample(ctx)
    since = [0] * len(before)
    interval_s = max(int(min(delay_s or 0.0, ENDLESS)), 1)
    for number in range(count or 0):
        if number:
            await ctx.sleep(interval_s)
            since, before = before, _sample(ctx)
        ctx.spend_turn()
        changes = [new - old for new, old in zip(before, since, strict=True)]
        await ctx.out(_vmstat_row(ctx, changes, interval_s if number else 0, unit, options.any("w")))
    return 0


def _sample(ctx: Context) -> list[int]:
    """What vmstat shows the changes of: KiB read and written, interrupts, switches, and ticks by kind."""
    machine = ctx.machine
    machine.cpu.settle(ctx.kernel.now)
    activity = measure_activity(machine)
    user, nice, system, idle, waiting, _, soft, stolen, *_ = cpu_times(
        machine, ctx.kernel.now - machine.booted_at
    )
    ticks = (user + nice, system + soft, idle, waiting, stolen)
    return [activity.read_sectors // 2, activity.write_sectors // 2, *event_counts(machine), *ticks]


def _vmstat_row(ctx: Context, changes: list[int], passed_s: int, unit: int, wide: bool) -> str:
    """A row of the changes in ``passed_s``; the first row, with 0, is that of all the time since the boot."""
    machine, use = ctx.machine, measure_memory(ctx.machine)
    ticks = [max(0, count) for count in changes[4:]]
    total = max(1, sum(ticks))
    # The time since the boot is the ticks of all processors together: the first row has averages of one of them.
    scale, span = (1, passed_s) if passed_s else (TICKS_PER_S, total)
    rates = [(count * scale + span // 2) // span for count in changes[:4]]
    shares = [(100 * count + total // 2) // total for count in ticks]
    runnable = max(int(machine.cpu.load[0] + 0.5), 1 if vary(machine.name, ctx.kernel.now) > 0.7 else 0)
    blocked = 1 if machine.disk.latency_s > 0.05 else 0
    free, buffers, cache = use.free // unit, use.buffers // unit, (use.cache - use.buffers) // unit
    if wide:
        memory = f"{0:12d} {free:12d} {buffers:12d} {cache:12d}"
        rest = " ".join(f"{rate:{width}d}" for rate, width in zip(rates, (5, 5, 4, 4), strict=True))
        return f"{runnable:4d} {blocked:4d} {memory} {0:4d} {0:4d} {rest} {' '.join(f'{share:3d}' for share in shares)} {0:3d}\n"
    rest = " ".join(f"{rate:{width}d}" for rate, width in zip(rates, (5, 5, 4, 4), strict=True))
    return (
        f"{runnable:2d} {blocked:2d} {0:6d} {free:6d} {buffers:6d} {cache:6d} {0:4d} {0:4d} {rest} "
        f"{' '.join(f'{share:2d}' for share in shares)}\n"
    )


def _memory_list(ctx: Context) -> str:
    use = measure_memory(ctx.machine)
    rows = ((use.total, "total memory"), (use.used, "used memory"), (use.free, "free memory"),
            (use.buffers, "buffer memory"), (use.cache - use.buffers, "swap cache"), (0, "total swap"), (0, "used swap"),
            (0, "free swap"))  # fmt: skip
    return "".join(f"{size // KIB:13d} K {name}\n" for size, name in rows)
