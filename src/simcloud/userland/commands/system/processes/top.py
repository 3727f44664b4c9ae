"""top: print a summary of the machine and its busiest processes, on a terminal until Ctrl-C. Without one it needs -b."""

from __future__ import annotations

from typing import Final

from simcloud.machine.proc import SYSTEM_SHARE, measure_memory, vary
from simcloud.machine.process import Context, Process
from simcloud.userland.commands.options import Options, UsageError, parse
from simcloud.userland.commands.registry import command
from simcloud.userland.commands.screen import format_frame, redraw
from simcloud.userland.commands.system.durations import parse_seconds
from simcloud.userland.commands.system.processes.facts import PID_WIDTH, Facts
from simcloud.userland.commands.system.uptime import uptime_line
from simcloud.userland.commands.text.counts import parse_number

MIB: Final = 1024 * 1024
WIDTH: Final = 80
WIDEST: Final = 512
FIRST_TICKS: Final = 16
"""For the first frame top looks twice within this many hundredths of a second; only whole ones are counted."""
ENDLESS: Final = 1 << 40
FIELDS: Final = (
    "PID", "PPID", "USER", "PR", "NI", "VIRT", "RES", "SHR", "S", "%CPU", "%MEM", "TIME+", "TIME", "COMMAND",
)  # fmt: skip
BY_MEMORY: Final = ("%MEM", "RES", "VIRT", "SHR")


@command("top")
async def top(ctx: Context) -> int:
    """Show what the machine is busy with, again and again."""
    try:
        options = parse(ctx.args, "bcd:eE:hHin:o:Op:sSu:U:vw::1")
    except UsageError as mistake:
        raise UsageError(str(mistake).partition("\n")[0], 0) from None  # as the genuine one: no failure
    if options.any("h", "v"):
        await ctx.out("top from procps-ng 4.0.2\n" if options.any("v") else "\nUsage:\n top [options]\n")
        return 0
    rounds = _number(options, "n", "iterations argument", ENDLESS)
    interval_s = parse_seconds(options.last("d", default="3"))
    if interval_s is None:
        raise UsageError(f"top: bad delay interval '{options.last('d')}'")
    order = options.last("o", default="%CPU").lstrip("+-")
    if order not in FIELDS:
        raise UsageError(f"top: unrecognized field name '{order}'")
    if not options.any("b") and not ctx.stdout.isatty:
        raise UsageError("top: failed tty get")
    screen = _Screen(ctx, options, order)
    if not options.any("b"):
        frames = iter(range(rounds))

        async def draw() -> str | None:
            return format_frame(ctx, screen.frame()) if next(frames, None) is not None else None

        await redraw(ctx, interval_s, draw)
        return 0
    for number in range(rounds):
        if number:
            await ctx.sleep(interval_s)
            await ctx.out("\n")
        ctx.spend_turn()
        await ctx.out(screen.frame())
    return 0


def _number(options: Options, letter: str, what: str, default: int) -> int:
    if not options.any(letter):
        return default
    number = parse_number(options.last(letter))
    if number is None or number < 1:
        raise UsageError(f"top: bad {what} '{options.last(letter)}'")
    return number


class _Screen:
    """Keeps the last sample, because CPU shares are computed between samples."""

    def __init__(self, ctx: Context, options: Options, order: str) -> None:
        self._ctx = ctx
        self._options = options
        self._order = order
        self._looked_at = -1.0
        self._machine_s = 0.0
        self._process_s: dict[int, float] = {}
        columns = ctx.env.get("COLUMNS", "")
        width = options.last("w") if options.any("w") else columns
        self._width = int(width[:4]) if width.isdecimal() and width.isascii() else WIDTH
        if options.any("w") and not options.last("w"):
            self._width = WIDEST

    def frame(self) -> str:
        """One look."""
        ctx, facts = self._ctx, Facts(self._ctx)
        shown = self._select_processes(facts)
        passed_s = ctx.kernel.now - self._looked_at if self._looked_at >= 0 else 0.0
        shares = {process.host_pid: self._share(facts, process, passed_s) for process in shown}
        text = self._head(facts, passed_s)
        self._looked_at, self._machine_s = ctx.kernel.now, ctx.machine.cpu.used_s
        self._process_s = {process.host_pid: process.cpu_s for process in facts.processes}
        for process in self._sort_processes(facts, shown, shares):
            text += self._row(facts, process, shares[process.host_pid])
        return text

    def _select_processes(self, facts: Facts) -> list[Process]:
        shown = facts.processes
        if self._options.any("p"):
            words = ",".join(self._options.all("p")).split(",")
            shown = [process for process in shown if str(facts.pid(process)) in words]
        if self._options.any("u", "U"):
            number = facts.user_number(self._options.last("u", "U"))
            if number is None:
                raise UsageError("top: Invalid user")
            shown = [process for process in shown if process.uid == number]
        return shown

    def _share(self, facts: Facts, process: Process, passed_s: float) -> float:
        if passed_s > 0 and process.host_pid in self._process_s:
            ticks = int(process.cpu_s * 100) - int(self._process_s[process.host_pid] * 100)
            return ticks / passed_s
        return 100 * self._draw_ticks(str(process.host_pid), facts.cpu_percent(process) / 100) / FIRST_TICKS

    def _draw_ticks(self, name: str, cores: float) -> int:
        """Whole ticks in the time of the first frame."""
        place = f"{self._ctx.machine.name}/{name}/top"
        return int(cores * FIRST_TICKS + vary(place, self._ctx.kernel.now, 0.01))

    def _sort_processes(self, facts: Facts, shown: list[Process], shares: dict[int, float]) -> list[Process]:
        if self._order in BY_MEMORY:
            return sorted(shown, key=lambda p: -p.memory.resident_bytes)
        if self._order in ("PID", "PPID"):
            return sorted(shown, key=lambda p: -facts.pid(p))
        if self._order.startswith("TIME"):
            return sorted(shown, key=lambda p: -p.cpu_s)
        return sorted(shown, key=lambda p: (-round(shares[p.host_pid], 1), facts.pid(p)))

    def _head(self, facts: Facts, passed_s: float) -> str:
        machine, everybody = self._ctx.machine, facts.processes
        stopped = sum(process.stopped for process in everybody)
        cores = machine.cpu.cores
        machine.cpu.settle(self._ctx.kernel.now)
        span_s = passed_s or self._ctx.kernel.now - machine.booted_at
        used = min(100.0, 100 * (machine.cpu.used_s - self._machine_s) / (span_s * cores))
        system, waiting = used * SYSTEM_SHARE, min(100 - used, 100 * machine.disk.latency_s)
        if not passed_s:
            tick = 100 / FIRST_TICKS / cores
            shown = sum(self._share(facts, process, 0.0) for process in everybody) / cores
            user = tick * self._draw_ticks("user", (used - system) * cores / 100)
            system = tick * self._draw_ticks("system", system * cores / 100)
            used = min(100.0, max(shown, user + system))
            waiting = min(100 - used, tick * self._draw_ticks("wait", waiting * cores / 100))
        stolen = (1 - machine.cpu.speed) * min(100 - used - waiting, 100 * machine.cpu.load[0] / cores)
        use = measure_memory(machine)
        pid = "PID".rjust(PID_WIDTH)
        return (
            f"top - {uptime_line(self._ctx)}\n"
            f"Tasks: {len(everybody):3d} total,   1 running, {len(everybody) - 1 - stopped:3d} sleeping, "
            f"{stopped:3d} stopped,   0 zombie\n"
            f"%Cpu(s):{used - system:5.1f} us,{system:5.1f} sy,  0.0 ni,{100 - used - waiting - stolen:5.1f} id,{waiting:5.1f} wa,"
            f"  0.0 hi,  0.0 si,{stolen:5.1f} st \n"
            f"MiB Mem :{use.total / MIB:9.1f} total,{use.free / MIB:9.1f} free,{use.used / MIB:9.1f} used,"
            f"{use.cache / MIB:9.1f} buff/cache     \n"
            f"MiB Swap:{0.0:9.1f} total,{0.0:9.1f} free,{0.0:9.1f} used.{use.available / MIB:9.1f} avail Mem \n\n"
            f"{pid} USER      PR  NI    VIRT    RES    SHR S  %CPU  %MEM     TIME+ COMMAND\n"
        )

    def _row(self, facts: Facts, process: Process, share: float) -> str:
        minutes, seconds = divmod(process.cpu_s, 60)
        user = facts.user(process)
        user = user if len(user) <= 8 else f"{user[:7]}+"
        start = (
            f"{facts.pid(process):{PID_WIDTH}d} {user:<8} {20 + process.nice:3d} {process.nice:3d} {_scale(facts.virtual_kib(process), 7)} "
            f"{_scale(facts.resident_kib(process), 6)} {_scale(facts.common_kib(process), 6)} {facts.state(process)} {share:5.1f} "
            f"{facts.memory_percent(process):5.1f} {int(minutes):3d}:{seconds:05.2f} "
        )
        name = facts.command_line(process) if self._options.any("c") else process.name
        room = max(self._width - len(start), 1)
        return f"{start}{name if len(name) <= room else name[: room - 1] + '+'}\n"


def _scale(kib: int, width: int) -> str:
    """A size in KiB, or in a larger unit where it would not fit."""
    text, size = str(kib), float(kib)
    for unit in "mgtp":
        if len(text) <= width:
            break
        size /= 1024
        text = f"{size:.1f}{unit}" if len(f"{size:.1f}{unit}") <= width else f"{size:.0f}{unit}"
    return text.rjust(width)
