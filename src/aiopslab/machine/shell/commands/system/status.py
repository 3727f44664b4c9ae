"""The machine's state: free, vmstat, dmesg, mount, lscpu, lsof, df."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime

from aiopslab.machine.files import Space
from aiopslab.machine.proc import CPU_MODEL
from aiopslab.machine.process import Context
from aiopslab.machine.shell.commands.options import UsageError, parse
from aiopslab.machine.shell.commands.registry import command

KIB = 1024


def human(size_bytes: float, units: str = "BKMGTP", base: int = 1024) -> str:
    """A size as df and du print it with -h: at most three digits, rounded up."""
    value, unit = float(size_bytes), 0
    while value >= base and unit < len(units) - 1:
        value /= base
        unit += 1
    if unit == 0:
        return f"{int(size_bytes)}"
    rounded = -(-value * 10 // 1) / 10 if value < 10 else -(-value // 1)
    if rounded >= base:
        return human(base ** (unit + 1), units, base)
    return f"{rounded:.1f}{units[unit]}" if rounded < 10 else f"{rounded:.0f}{units[unit]}"


@command("free")
async def free(ctx: Context) -> int:
    """Memory that is used and free."""
    options = parse(
        ctx.args,
        "bkmghwts:c:",
        ("bytes", "kibi", "kilo", "mebi", "mega", "gibi", "giga", "human", "wide", "total"),
    )
    scale = 1024
    for names, size in (
        (("b", "bytes"), 1),
        (("m", "mebi", "mega"), 1024**2),
        (("g", "gibi", "giga"), 1024**3),
    ):
        if options.any(*names):
            scale = size
    show = _human_free if options.any("h", "human") else lambda size: str(size // scale)
    total, used = ctx.machine.memory_bytes, ctx.machine.memory_used_bytes
    left = max(0, total - used)
    rows = [
        ("Mem:", (total, used, left, 0, 0, left)),
        ("Swap:", (0, 0, 0)),
    ]
    if options.any("t", "total"):
        rows.append(("Total:", (total, used, left)))
    titles = ("total", "used", "free", "shared", "buff/cache", "available")
    await ctx.out(
        " " * 7 + "".join(title.rjust(13 if i == 0 else 12) for i, title in enumerate(titles)) + "\n"
    )
    for name, sizes in rows:
        await ctx.out(
            f"{name:<7}"
            + "".join(show(size).rjust(13 if i == 0 else 12) for i, size in enumerate(sizes))
            + "\n"
        )
    return 0


def _human_free(size_bytes: int) -> str:
    value, unit = float(size_bytes), 0
    units = ("B", "Ki", "Mi", "Gi", "Ti")
    while value >= 1000 and unit < len(units) - 1:
        value /= 1024
        unit += 1
    return f"{value:.0f}{units[unit]}" if value >= 10 or unit == 0 else f"{value:.1f}{units[unit]}"


@command("vmstat")
async def vmstat(ctx: Context) -> int:
    """A line about memory and CPU, once or every so many seconds."""
    words = parse(ctx.args, "w").operands
    delay_s, count = float(words[0]) if words else 0.0, int(words[1]) if len(words) > 1 else 1
    await ctx.out(
        "procs -----------memory---------- ---swap-- -----io---- -system-- ------cpu-----\n"
        " r  b   swpd   free   buff  cache   si   so    bi    bo   in   cs us sy id wa st\n"
    )
    machine = ctx.machine
    for number in range(count if not words or len(words) > 1 else 1_000_000):
        if number:
            await ctx.sleep(delay_s)
        ctx.spend_turn()
        machine.cpu.settle(ctx.kernel.now)
        busy = min(100, int(100 * machine.cpu.load[0] / machine.cpu.cores))
        left = max(0, machine.memory_bytes - machine.memory_used_bytes) // KIB
        runnable = int(machine.cpu.load[0])
        await ctx.out(
            f"{runnable:2d}  0      0 {left:6d}      0      0    0    0     0     0    0    0 "
            f"{busy:2d}  0 {100 - busy:2d}  0  0\n"
        )
    return 0


@command("dmesg")
async def dmesg(ctx: Context) -> int:
    """What the machine's kernel has had to say."""
    options = parse(ctx.args, "THwxrtk", ("ctime", "human", "follow", "decode", "raw", "notime"))
    booted = ctx.now - (ctx.kernel.now - ctx.machine.booted_at)
    for time, text in ctx.machine.kernel_log:
        if options.any("t", "notime"):
            stamp = ""
        elif options.any("T", "ctime"):
            stamp = datetime.fromtimestamp(booted + time, UTC).strftime("[%a %b %e %H:%M:%S %Y] ")
        else:
            stamp = f"[{time:12.6f}] "
        await ctx.out(f"{stamp}{text}\n")
    return 0


@command("mount")
async def mount(ctx: Context) -> int:
    """What is mounted where."""
    options = parse(ctx.args, "t:o:rwl")
    if options.operands:
        await ctx.err(f"mount: {options.operands[-1]}: permission denied.\n")
        return 32
    for entry in ctx.files.mounts():
        access = "ro" if entry.frozen else "rw"
        await ctx.out(
            f"{entry.source or entry.fstype} on {entry.path} type {entry.fstype} ({access},relatime)\n"
        )
    return 0


@command("lscpu")
async def lscpu(ctx: Context) -> int:
    """The machine's processors."""
    cores = ctx.machine.cpu.cores
    await ctx.out(
        "Architecture:            x86_64\n  CPU op-mode(s):        32-bit, 64-bit\n"
        f"CPU(s):                  {cores}\n  On-line CPU(s) list:   0-{cores - 1}\n"
        f"Vendor ID:               GenuineIntel\n  Model name:            {CPU_MODEL}\n"
    )
    return 0


@command("lsof")
async def lsof(ctx: Context) -> int:
    """Open files of processes."""
    options = parse(ctx.args, "p:nPi::t")
    wanted = {int(number) for number in options.last("p").split(",") if number.isdigit()}
    rows = []
    for pid, process in ctx.container.visible().items():
        if wanted and pid not in wanted:
            continue
        for number, stream in sorted(process.streams.items()):
            rows.append(f"{process.name:<9} {pid:>5} {process.uid:>4} {number:>4}u {stream.describe()}\n")
    if not rows:
        return 1
    await ctx.out(f"{'COMMAND':<9} {'PID':>5} {'USER':>4} {'FD':>5} NAME\n" + "".join(rows))
    return 0


@command("sysctl")
async def sysctl(ctx: Context) -> int:
    """Kernel settings, read from /proc/sys."""
    options = parse(ctx.args, "nawpe", ("values", "all", "write"))
    if not options.operands:
        raise UsageError("sysctl: no variables specified\nTry `sysctl --help' for more information.")
    status = 0
    for name in options.operands:
        path = f"/proc/sys/{name.replace('.', '/')}"
        if not ctx.files.is_file(path):
            await ctx.err(f"sysctl: cannot stat {path}: No such file or directory\n")
            status = 1
            continue
        value = ctx.files.read(path).decode().rstrip("\n")
        await ctx.out(f"{value}\n" if options.any("n", "values") else f"{name} = {value}\n")
    return status
