"""The columns of ps: headings, widths, values and their layout.

A value that is too long for its column shifts the next one to the right, which uses its own padding to get back in
line. The last column is not cut.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from simcloud.machine.process import Process
from simcloud.userland.commands.system.processes.facts import PID_WIDTH, Facts, clock, format_elapsed

Value = Callable[[Facts, Process], str]
Key = Callable[[Facts, Process], float | str]


class Column(Struct, frozen=True):
    """One column. ``cut`` marks texts that are cut to the width unless they come last."""

    heading: str
    width: int
    value: Value
    right: bool = True
    cut: bool = False
    key: Key | None = None

    def with_heading(self, heading: str) -> Column:
        """The same column under another heading."""
        return replace(self, heading=heading, width=max(self.width, len(heading)))


def _number(heading: str, width: int, value: Callable[[Facts, Process], int]) -> Column:
    return Column(heading, width, lambda f, p: str(value(f, p)), key=value)


def _tenths(heading: str, value: Callable[[Facts, Process], float]) -> Column:
    """Tenths of a percent, cut off and not rounded."""
    return Column(heading, 4, lambda f, p: f"{int(10 * value(f, p)) / 10:.1f}", key=value)


def _text(heading: str, width: int, value: Value, cut: bool = False) -> Column:
    return Column(heading, width, value, right=False, cut=cut)


def _always(text: str) -> Value:
    return lambda _f, _p: text


def _name(facts: Facts, process: Process) -> str:
    return process.name


def _short_user(facts: Facts, process: Process) -> str:
    name = facts.user(process)
    return name if len(name) <= 8 else f"{name[:7]}+"


def _minutes(facts: Facts, process: Process) -> str:
    return f"{int(process.cpu_s) // 60}:{int(process.cpu_s) % 60:02d}"


_PID = _number("PID", PID_WIDTH, lambda f, p: f.pid(p))
_TTY = _text("TT", 8, lambda f, p: f.terminal(p))
_TIME = Column("TIME", 8, lambda _f, p: clock(p.cpu_s), key=lambda _f, p: p.cpu_s)
_ARGS = _text("COMMAND", 27, lambda f, p: f.command_line(p), cut=True)
_COMM = _text("COMMAND", 15, _name, cut=True)
_USER = _text("USER", 8, _short_user, cut=True)

COLUMNS: Final[dict[str, Column]] = {
    "addr": _text("ADDR", 1, _always("-")),
    "args": _ARGS,
    "bsdstart": Column("START", 5, lambda f, p: f.start_clock(p), key=lambda _f, p: p.started_at),
    "bsdtime": Column("TIME", 6, _minutes, key=lambda _f, p: p.cpu_s),
    "c": _number("C", 2, lambda f, p: min(99, int(f.cpu_percent(p)))),
    "cmd": _ARGS.with_heading("CMD"),
    "comm": _COMM,
    "cputimes": _number("TIME", 8, lambda _f, p: int(p.cpu_s)),
    "drs": _number("DRS", 5, lambda f, p: f.virtual_kib(p)),
    "egroup": _text("EGROUP", 8, lambda f, p: f.group_name(p), cut=True),
    "etime": Column("ELAPSED", 11, lambda f, p: format_elapsed(f.age_s(p)), key=lambda f, p: f.age_s(p)),
    "etimes": _number("ELAPSED", 7, lambda f, p: int(f.age_s(p))),
    "euid": _number("EUID", 5, lambda _f, p: p.uid),
    "euser": _USER.with_heading("EUSER"),
    "f": _text("F", 1, _always("4")),
    "gid": _number("GID", 5, lambda _f, p: p.files.gid),
    "group": _text("GROUP", 8, lambda f, p: f.group_name(p), cut=True),
    "lstart": Column(
        "STARTED", 24, lambda f, p: f.start_time(p, "%a %b %e %H:%M:%S %Y"), key=lambda _f, p: p.started_at
    ),
    "lwp": _PID.with_heading("LWP"),
    "maj_flt": _number("MAJFL", 6, lambda _f, _p: 0),
    "ni": _number("NI", 3, lambda _f, p: p.nice),
    "nlwp": _number("NLWP", 4, lambda _f, p: p.threads),
    "opri": _number("PRI", 3, lambda _f, p: 80 + p.nice),
    "pcpu": _tenths("%CPU", lambda f, p: f.cpu_percent(p)),
    "pgid": _number("PGID", PID_WIDTH, lambda f, p: f.group(p)),
    "pid": _PID,
    "pmem": _tenths("%MEM", lambda f, p: f.memory_percent(p)),
    "ppid": _number("PPID", PID_WIDTH, lambda f, p: f.parent_pid(p)),
    "pri": _number("PRI", 3, lambda _f, p: 19 - p.nice),
    "psr": _number("PSR", 3, lambda _f, _p: 0),
    "rss": _number("RSS", 5, lambda f, p: f.resident_kib(p)),
    "ruser": _USER.with_heading("RUSER"),
    "s": _text("S", 1, lambda f, p: f.state(p)),
    "sid": _number("SID", PID_WIDTH, lambda f, p: f.session(p)),
    "spid": _PID.with_heading("SPID"),
    "start": Column("STARTED", 8, lambda f, p: f.start_time(p, "%H:%M:%S"), key=lambda _f, p: p.started_at),
    "stat": _text("STAT", 4, lambda f, p: f.full_state(p)),
    "stime": Column("STIME", 5, lambda f, p: f.start_clock(p), right=False, key=lambda _f, p: p.started_at),
    "sz": _number("SZ", 5, lambda f, p: f.virtual_kib(p) // 4),
    "time": _TIME,
    "tpgid": _number("TPGID", PID_WIDTH, lambda _f, _p: -1),
    "trs": _number("TRS", 5, lambda _f, _p: 0),
    "tty": _TTY,
    "tname": _TTY.with_heading("TTY"),
    "ucmd": _COMM.with_heading("CMD"),
    "uid": _number("UID", 5, lambda _f, p: p.uid),
    "user": _USER,
    "vsz": _number("VSZ", 6, lambda f, p: f.virtual_kib(p)),
    "wchan": _text("WCHAN", 6, _always("-")),
}
ALIASES: Final = {
    "%cpu": "pcpu", "%mem": "pmem", "command": "args", "tt": "tty", "cputime": "time", "rssize": "rss", "rsz": "rss",
    "vsize": "vsz", "state": "s", "ucomm": "comm", "start_time": "stime", "nice": "ni", "thcount": "nlwp",
    "sess": "sid", "session": "sid", "pgrp": "pgid", "tid": "lwp", "uname": "user", "cp": "c", "flag": "f",
    "flags": "f", "rgroup": "group", "rgid": "gid", "ruid": "uid", "egid": "gid", "fname": "comm",
}  # fmt: skip
FORMATS: Final = {
    "": ("pid", "tname", "time", "ucmd"),
    "-f": ("user=UID", "pid", "ppid", "c", "stime", "tname", "time", "cmd"),
    "-F": ("user=UID", "pid", "ppid", "c", "sz", "rss", "psr", "stime", "tname", "time", "cmd"),
    "-j": ("pid", "pgid", "sid", "tname", "time", "ucmd"),
    "-l": ("f", "s", "uid", "pid", "ppid", "c", "opri", "ni", "addr", "sz", "wchan", "tname", "time", "ucmd"),
    "bsd": ("pid", "tname", "stat", "bsdtime", "args"),
    "u": ("user", "pid", "pcpu", "pmem", "vsz", "rss", "tname", "stat", "bsdstart", "bsdtime", "args"),
    "l": ("f", "uid", "pid", "ppid", "pri", "ni", "vsz", "rss", "wchan", "stat", "tname", "bsdtime", "args"),
    "j": ("ppid", "pid", "pgid", "sid", "tname", "tpgid", "stat", "uid", "bsdtime", "args"),
    "v": ("pid", "tname", "stat", "bsdtime", "maj_flt", "trs", "drs", "rss", "pmem", "args"),
}
"""The columns of the ready-made formats; ``name=HEADING`` gives one another heading."""


def column(name: str) -> Column | None:
    """A column by any of its names."""
    name = name.lower()
    return COLUMNS.get(ALIASES.get(name, name))


def ready_made(name: str) -> list[Column]:
    """The columns of a format."""
    columns = []
    for word in FORMATS[name]:
        key, equals, heading = word.partition("=")
        columns.append(replace(COLUMNS[key], heading=heading) if equals else COLUMNS[key])
    return columns


def set_side_by_side(columns: list[Column], cells: list[str]) -> str:
    """One line."""
    line, start = "", 0
    for number, (column_, text) in enumerate(zip(columns, cells, strict=True)):
        if column_.cut and number < len(columns) - 1:
            text = text[: column_.width]
        end = start + column_.width
        space = end - len(line) - len(text) if column_.right else start - len(line)
        line += " " * max(space, 1 if number else 0) + text
        start = end + 1
    return line
