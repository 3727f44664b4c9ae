"""Processes as an operator sees them: ps, top, pgrep, pidof, pstree."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Final

from aiopslab.machine.proc import state_letter
from aiopslab.machine.process import Context, Process
from aiopslab.machine.shell.commands.options import UsageError, parse
from aiopslab.machine.shell.commands.registry import command
from aiopslab.machine.shell.commands.system.clock import uptime_line
from aiopslab.machine.shell.commands.system.identity import name_of
from aiopslab.machine.shell.regex import compile_regex

Column = tuple[str, int, bool, Callable[[Context, Process], str]]
"""A heading, a width (0 for as long as it is), whether it stands on the right, and the value."""


def _pid(ctx: Context, process: Process) -> str:
    return str(ctx.container.pid_seen(process))


def _ppid(ctx: Context, process: Process) -> str:
    return _pid(ctx, process.parent) if process.parent is not None else "0"


def _user(ctx: Context, process: Process) -> str:
    return name_of(ctx, process.uid)


def _cpu_percent(ctx: Context, process: Process) -> float:
    elapsed = max(ctx.kernel.now - process.started_at, 1e-3)
    return 100 * process.cpu_s / elapsed


def _memory_percent(ctx: Context, process: Process) -> float:
    return 100 * process.memory.resident_bytes / ctx.machine.memory_bytes


def _start_clock(ctx: Context, process: Process) -> str:
    started = ctx.now - (ctx.kernel.now - process.started_at)
    return datetime.fromtimestamp(started, UTC).strftime("%H:%M")


def _cpu_clock(ctx: Context, process: Process) -> str:
    seconds = int(process.cpu_s)
    return f"{seconds // 3600:02d}:{seconds // 60 % 60:02d}:{seconds % 60:02d}"


def _bsd_clock(ctx: Context, process: Process) -> str:
    return f"{int(process.cpu_s) // 60}:{int(process.cpu_s) % 60:02d}"


def _elapsed(ctx: Context, process: Process) -> str:
    seconds = int(ctx.kernel.now - process.started_at)
    days, hours = seconds // 86_400, seconds // 3600 % 24
    text = f"{seconds // 60 % 60:02d}:{seconds % 60:02d}"
    if days or hours:
        text = f"{hours:02d}:{text}"
    return f"{days}-{text}" if days else text


def _command_line(ctx: Context, process: Process) -> str:
    return " ".join(process.argv)


def _rss(ctx: Context, process: Process) -> str:
    return str(process.memory.resident_bytes // 1024)


def _vsz(ctx: Context, process: Process) -> str:
    return str(process.memory.resident_bytes // 512)


COLUMNS: Final[dict[str, Column]] = {
    "pid": ("PID", 7, True, _pid),
    "ppid": ("PPID", 7, True, _ppid),
    "pgid": ("PGID", 7, True, lambda _c, p: str(p.group)),
    "user": ("USER", 8, False, _user),
    "uid": ("UID", 5, True, lambda _c, p: str(p.uid)),
    "pcpu": ("%CPU", 4, True, lambda c, p: f"{_cpu_percent(c, p):.1f}"),
    "pmem": ("%MEM", 4, True, lambda c, p: f"{_memory_percent(c, p):.1f}"),
    "vsz": ("VSZ", 6, True, _vsz),
    "rss": ("RSS", 5, True, _rss),
    "tty": ("TT", 8, False, lambda _c, _p: "?"),
    "stat": ("STAT", 4, False, lambda _c, p: state_letter(p)),
    "s": ("S", 1, False, lambda _c, p: state_letter(p)),
    "start": ("START", 5, True, _start_clock),
    "stime": ("STIME", 5, True, _start_clock),
    "time": ("TIME", 8, True, _cpu_clock),
    "bsdtime": ("TIME", 6, True, _bsd_clock),
    "etime": ("ELAPSED", 11, True, _elapsed),
    "etimes": ("ELAPSED", 7, True, lambda c, p: str(int(c.kernel.now - p.started_at))),
    "comm": ("COMMAND", 15, False, lambda _c, p: p.name),
    "args": ("COMMAND", 27, False, _command_line),
    "cmd": ("CMD", 27, False, _command_line),
    "ucmd": ("CMD", 15, False, lambda _c, p: p.name),
    "c": ("C", 2, True, lambda c, p: str(min(99, int(_cpu_percent(c, p))))),
    "ni": ("NI", 3, True, lambda _c, _p: "0"),
    "nlwp": ("NLWP", 4, True, lambda _c, _p: "1"),
}
ALIASES: Final = {"%cpu": "pcpu", "%mem": "pmem", "command": "args", "tname": "tty", "tt": "tty", "euser": "user",
                  "cputime": "time", "rssize": "rss", "vsize": "vsz", "state": "s", "ucomm": "comm",
                  "lstart": "start", "start_time": "stime", "nice": "ni", "ruser": "user"}  # fmt: skip
FULL: Final = ("user", "pid", "ppid", "c", "stime", "tty", "time", "cmd")
BSD_USER: Final = ("user", "pid", "pcpu", "pmem", "vsz", "rss", "tty", "stat", "start", "bsdtime", "args")
BSD_PLAIN: Final = ("pid", "tty", "stat", "bsdtime", "args")
PLAIN: Final = ("pid", "tty", "time", "ucmd")
HEADINGS: Final = {FULL: {"user": "UID", "tty": "TTY"}, BSD_USER: {"tty": "TTY"}, BSD_PLAIN: {"tty": "TTY"},
                   PLAIN: {"tty": "TTY"}}  # fmt: skip


@command("ps")
async def ps(ctx: Context) -> int:
    """Show processes, in the UNIX or the BSD manner."""
    bsd = "".join(word for word in ctx.args[1:] if word.isalpha())
    args = [ctx.args[0], *(word for word in ctx.args[1:] if not word.isalpha())]
    options = parse(
        args,
        "eAafFlp:C:u:U:o:Hwd",
        ("sort=", "no-headers", "no-heading", "pid=", "forest", "ppid=", "user=", "format="),
    )
    names = ",".join(options.all("o", "format"))
    columns = _default_columns(bsd, options.any("f", "F"))
    headings = dict(HEADINGS.get(columns, {}))
    if names:
        columns, headings = _chosen_columns(names)
    shown = list(ctx.container.visible().values())
    everyone = options.any("e", "A") or "a" in bsd or "x" in bsd
    if options.any("p", "pid"):
        wanted = {
            int(n) for n in ",".join(options.all("p", "pid")).replace(" ", ",").split(",") if n.isdigit()
        }
        shown = [p for p in shown if ctx.container.pid_seen(p) in wanted]
    elif options.any("ppid"):
        shown = [p for p in shown if _ppid(ctx, p) == options.last("ppid")]
    elif options.any("C"):
        shown = [p for p in shown if p.name in options.last("C").split(",")]
    elif options.any("u", "U", "user"):
        shown = [p for p in shown if options.last("u", "U", "user") in (_user(ctx, p), str(p.uid))]
    elif not everyone:
        shown = [p for p in shown if p is ctx.process or p is ctx.process.parent]
    if options.any("sort"):
        shown = _sorted(ctx, shown, options.last("sort"))
    quiet = options.any("no-headers", "no-heading")
    await ctx.out(_table(ctx, shown, columns, headings, quiet))
    return 0 if shown else 1


def _default_columns(bsd: str, full: bool) -> tuple[str, ...]:
    if "u" in bsd:
        return BSD_USER
    if bsd:
        return BSD_PLAIN
    return FULL if full else PLAIN


def _chosen_columns(names: str) -> tuple[tuple[str, ...], dict[str, str]]:
    columns, headings = [], {}
    for word in names.replace(" ", ",").split(","):
        name, equals, heading = word.partition("=")
        name = ALIASES.get(name.lower(), name.lower())
        if not name:
            continue
        if name not in COLUMNS:
            raise UsageError(
                f'error: unknown user-defined format specifier "{word}"\n\nUsage:\n ps [options]\n'
            )
        columns.append(name)
        if equals:
            headings[name] = heading
    return tuple(columns), headings


def _sorted(ctx: Context, shown: list[Process], keys: str) -> list[Process]:
    for key in reversed(keys.split(",")):
        name = ALIASES.get(key.lstrip("+-").lower(), key.lstrip("+-").lower())
        if name not in COLUMNS:
            raise UsageError("error: unknown sort specifier\n\nUsage:\n ps [options]\n")
        shown = sorted(shown, key=_sort_key(ctx, name), reverse=key.startswith("-"))
    return shown


def _sort_key(ctx: Context, name: str) -> Callable[[Process], float | str]:
    numbers: dict[str, Callable[[Process], float]] = {
        "pcpu": lambda p: _cpu_percent(ctx, p),
        "pmem": lambda p: p.memory.resident_bytes,
        "rss": lambda p: p.memory.resident_bytes,
        "vsz": lambda p: p.memory.resident_bytes,
        "time": lambda p: p.cpu_s,
        "start": lambda p: p.started_at,
        "etime": lambda p: -p.started_at,
        "pid": ctx.container.pid_seen,
    }
    return numbers.get(name, lambda p: COLUMNS[name][3](ctx, p))


def _table(
    ctx: Context, shown: list[Process], columns: tuple[str, ...], headings: dict[str, str], quiet: bool
) -> str:
    rows = [[COLUMNS[name][3](ctx, process) for name in columns] for process in shown]
    titles = [headings.get(name, COLUMNS[name][0]) for name in columns]
    if not quiet and any(titles):
        rows.insert(0, titles)
    lines = []
    for row in rows:
        cells = []
        for name, title, text in zip(columns, titles, row, strict=True):
            _, width, right, _ = COLUMNS[name]
            width = max(width, len(title))
            cells.append(text.rjust(width) if right else text.ljust(width))
        lines.append(" ".join(cells).rstrip() + "\n")
    return "".join(lines)


@command("top")
async def top(ctx: Context) -> int:
    """A summary of the machine and its processes, in batch mode."""
    options = parse(ctx.args, "bn:d:o:p:cHiSu:w::E:e:")
    if not options.any("b"):
        await ctx.err("top: failed tty get\n")
        return 1
    rounds = int(options.last("n") or 0) or 1_000_000
    for number in range(rounds):
        if number:
            await ctx.sleep(float(options.last("d") or 3.0))
            await ctx.out("\n")
        ctx.spend_turn()
        await ctx.out(_top_frame(ctx, options.last("o") or "%CPU", options.any("c")))
    return 0


def _top_frame(ctx: Context, order: str, whole_line: bool) -> str:
    machine = ctx.machine
    mib = 1024 * 1024
    total, used = machine.memory_bytes / mib, machine.memory_used_bytes / mib
    shown = list(ctx.container.visible().values())
    key = "pmem" if order.lstrip("+-") in ("%MEM", "RES") else "pcpu"
    shown = sorted(shown, key=_sort_key(ctx, key), reverse=True)
    busy = min(100.0, 100.0 * machine.cpu.load[0] / machine.cpu.cores)
    stopped = sum(process.stopped for process in shown)
    head = (
        f"top - {uptime_line(ctx)}\n"
        f"Tasks: {len(shown):3d} total,   1 running, {len(shown) - 1 - stopped:3d} sleeping, {stopped:3d} stopped,"
        "   0 zombie\n"
        f"%Cpu(s): {busy:4.1f} us,  0.0 sy,  0.0 ni, {100 - busy:4.1f} id,  0.0 wa,  0.0 hi,  0.0 si,  0.0 st \n"
        f"MiB Mem : {total:8.1f} total, {total - used:8.1f} free, {used:8.1f} used, {0.0:8.1f} buff/cache     \n"
        f"MiB Swap: {0.0:8.1f} total, {0.0:8.1f} free, {0.0:8.1f} used. {total - used:8.1f} avail Mem \n\n"
        "    PID USER      PR  NI    VIRT    RES    SHR S  %CPU  %MEM     TIME+ COMMAND\n"
    )
    rows = []
    for process in shown:
        name = _command_line(ctx, process) if whole_line else process.name
        minutes, seconds = divmod(process.cpu_s, 60)
        rows.append(
            f"{_pid(ctx, process):>7} {_user(ctx, process):<8}  20   0 {_vsz(ctx, process):>7} {_rss(ctx, process):>6}"
            f"      0 {state_letter(process)} {_cpu_percent(ctx, process):5.1f} {_memory_percent(ctx, process):5.1f}"
            f" {int(minutes):3d}:{seconds:05.2f} {name}\n"
        )
    return head + "".join(rows)


def matching(ctx: Context, pattern: str, whole_line: bool, exact: bool, user: str) -> list[Process]:
    """Processes whose name, or whole command line, matches a pattern; never the one that asks."""
    regex = compile_regex(pattern.encode("utf-8", "surrogateescape"), "extended")
    found = []
    for process in ctx.container.visible().values():
        text = _command_line(ctx, process) if whole_line else process.name
        subject = text.encode("utf-8", "surrogateescape")
        match = regex.search(subject)
        if process is ctx.process or match is None:
            continue
        if exact and match.span(0) != (0, len(subject)):
            continue
        if user and user not in (_user(ctx, process), str(process.uid)):
            continue
        found.append(process)
    return found


@command("pgrep")
async def pgrep(ctx: Context) -> int:
    """The numbers of processes that match."""
    options = parse(
        ctx.args, "flaxcu:vnod:", ("full", "list-name", "list-full", "exact", "count", "newest", "oldest")
    )
    if not options.operands:
        raise UsageError("pgrep: no matching criteria specified\nTry `pgrep --help' for more information.", 2)
    found = matching(
        ctx, options.operands[0], options.any("f", "full"), options.any("x", "exact"), options.last("u")
    )
    if options.any("n", "newest"):
        found = found[-1:]
    if options.any("o", "oldest"):
        found = found[:1]
    if options.any("c", "count"):
        await ctx.out(f"{len(found)}\n")
        return 0 if found else 1
    for process in found:
        text = _pid(ctx, process)
        if options.any("a", "list-full"):
            text += f" {_command_line(ctx, process)}"
        elif options.any("l", "list-name"):
            text += f" {process.name}"
        await ctx.out(f"{text}\n")
    return 0 if found else 1


@command("pidof")
async def pidof(ctx: Context) -> int:
    """The numbers of processes by exact name."""
    names = parse(ctx.args, "sx").operands
    found = [_pid(ctx, p) for p in ctx.container.visible().values() if p.name in names]
    if found:
        await ctx.out(" ".join(reversed(found)) + "\n")
    return 0 if found else 1


@command("pstree")
async def pstree(ctx: Context) -> int:
    """Processes as a tree."""
    options = parse(ctx.args, "pan", ("show-pids", "arguments"))
    visible = list(ctx.container.visible().values())

    def label(process: Process) -> str:
        text = _command_line(ctx, process) if options.any("a", "arguments") else process.name
        return f"{text}({_pid(ctx, process)})" if options.any("p", "show-pids") else text

    def lines(process: Process, depth: int) -> list[str]:
        children = [child for child in visible if child.parent is process]
        return ["  " * depth + label(process)] + [
            row for child in children for row in lines(child, depth + 1)
        ]

    roots = [process for process in visible if process.parent is None or process.parent not in visible]
    await ctx.out("".join(f"{row}\n" for root in roots for row in lines(root, 0)))
    return 0
