"""free and vmstat: report memory and its use."""

from __future__ import annotations

from typing import Final

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
    total, used = ctx.machine.memory_bytes, ctx.machine.memory_used_bytes
    left = max(0, total - used)
    unit = next((UNITS[option] for option, _ in options.given[::-1] if option in UNITS), KIB)
    base = 1000 if options.any("si") else KIB
    caches = ("buffers", "cache") if options.any("w") else ("buff/cache",)
    titles = ("total", "used", "free", "shared", *caches, "available")
    rows: list[tuple[str, tuple[int, ...]]] = [
        ("Mem:", (total, used, left, 0, *(0 for _ in caches), left)),
        ("Swap:", (0, 0, 0)),
    ]
    if options.any("l"):
        rows[1:1] = [("Low:", (total, used, left)), ("High:", (0, 0, 0))]
    if options.any("t"):
        rows.append(("Total:", (total, used, left)))
    if options.any("v"):
        rows.append(("Comm:", (total, used, left)))
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
    used_s, looked_at = ctx.machine.cpu.used_s, ctx.kernel.now
    for number in range(count or 0):
        if number:
            await ctx.sleep(max(delay_s or 0.0, 1.0))
        ctx.spend_turn()
        cpu = ctx.machine.cpu
        cpu.settle(ctx.kernel.now)
        passed_s = ctx.kernel.now - looked_at
        busy = (cpu.used_s - used_s) / (passed_s * cpu.cores) if passed_s > 0 else cpu.load[0] / cpu.cores
        used_s, looked_at = cpu.used_s, ctx.kernel.now
        await ctx.out(_vmstat_row(ctx, min(100, int(100 * busy)), unit, options.any("w")))
    return 0


def _vmstat_row(ctx: Context, busy: int, unit: int, wide: bool) -> str:
    machine = ctx.machine
    left = max(0, machine.memory_bytes - machine.memory_used_bytes) // unit
    runnable = int(machine.cpu.load[0])
    if wide:
        memory = f"{0:12d} {left:12d} {0:12d} {0:12d}"
        return f"{runnable:4d} {0:4d} {memory} {0:4d} {0:4d} {0:5d} {0:5d} {0:4d} {0:4d} {busy:3d} {0:3d} {100 - busy:3d} {0:3d} {0:3d} {0:3d}\n"
    return (
        f"{runnable:2d} {0:2d} {0:6d} {left:6d} {0:6d} {0:6d} {0:4d} {0:4d} {0:5d} {0:5d} {0:4d} {0:4d} "
        f"{busy:2d} {0:2d} {100 - busy:2d} {0:2d} {0:2d}\n"
    )


def _memory_list(ctx: Context) -> str:
    machine = ctx.machine
    total, used = machine.memory_bytes // KIB, machine.memory_used_bytes // KIB
    rows = ((total, "total memory"), (used, "used memory"), (max(0, total - used), "free memory"), (0, "buffer memory"),
            (0, "swap cache"), (0, "total swap"), (0, "used swap"), (0, "free swap"))  # fmt: skip
    return "".join(f"{size:13d} K {name}\n" for size, name in rows)
