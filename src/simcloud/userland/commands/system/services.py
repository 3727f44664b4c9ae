"""systemctl: control the services of a machine.

Services are reached from the machine's own root only (outside containers, or after ``chroot /host``), and changed by
root there. A command waits until its request is done.
"""

from __future__ import annotations

from collections.abc import Sequence
from fnmatch import fnmatchcase
from typing import Final, NamedTuple

from simcloud.machine import Unit, format_cpu_time, turn_off
from simcloud.machine.proc import TASK_BYTES
from simcloud.machine.process import Context, Process
from simcloud.userland.commands.options import Options, UsageError
from simcloud.userland.commands.system.dates import Moment, format_moment, zone_of
from simcloud.userland.commands.system.journal import TIME_FORMAT, VERSION, format_entries
from simcloud.userland.commands.text.tool import fail, tool

NO_SYSTEMD: Final = (
    "System has not been booted with systemd as init system (PID 1). Can't operate.\n"
    "Failed to connect to bus: Host is down"
)
LEGEND: Final = """
LOAD   = Reflects whether the unit definition was properly loaded.
ACTIVE = The high-level unit activation state, i.e. generalization of SUB.
SUB    = The low-level unit activation state, values depend on unit type.
"""
HINT: Final = "To show all installed unit files use 'systemctl list-unit-files'.\n"
DAY_S: Final = 86_400
_COARSE_UNITS: Final = (
    (31_557_600, "year", 2_629_800, "month"), (2_629_800, "month", DAY_S, "day"), (7 * DAY_S, "week", DAY_S, "day"),
)  # fmt: skip
TASKS_SHARE: Final = 0.3
"""Of the tasks that a user may have: 15% of those that a machine may have, which are twice as many."""
SUBSTATES: Final = {"active": "running", "inactive": "dead", "failed": "failed", "activating": "auto-restart",
                    "deactivating": "stop-sigterm"}  # fmt: skip
NOT_ACTIVE: Final = 3
UNKNOWN: Final = 4
NOT_LOADED: Final = 5
WANTS: Final = "/etc/systemd/system/multi-user.target.wants"
STATUS_LINES: Final = 10


def _limit_tasks(ctx: Context) -> int:
    return int(ctx.machine.memory_bytes // TASK_BYTES * TASKS_SHARE)


def need_systemd(ctx: Context) -> None:
    """Fail in systemd's words where there is none to talk to."""
    if not ctx.on_machine:
        raise UsageError(NO_SYSTEMD)


@tool(
    "systemctl",
    options="t,type= state= failed p,property= P= a,all r,recursive l,full no-pager no-legend legend= q,quiet n,lines= "
    "o,output= f,force i now user system no-block wait value plain no-ask-password s,signal= kill-whom= no-reload "
    "show-types job-mode= H,host= M,machine=",
    usage="[OPTIONS...] COMMAND ...",
    version=VERSION,
)
async def systemctl(ctx: Context, options: Options) -> int:
    """Query or control the services of the machine."""
    need_systemd(ctx)
    verb, *names = options.operands or ["list-units"]
    if verb in ("poweroff", "reboot", "halt"):
        return await _power(ctx, verb, options)
    if verb in ("list-units", "list-unit-files"):
        await ctx.out(_list_units(ctx, options, files=verb == "list-unit-files"))
        return 0
    if verb in ("daemon-reload", "reset-failed", "daemon-reexec"):
        _need_root(ctx, "reload daemon")
        return 0
    if verb == "is-system-running":
        failed = any(unit.state == "failed" for unit in ctx.machine.units.values())
        await ctx.out("degraded\n" if failed else "running\n")
        return 1 if failed else 0
    if verb not in VERBS:
        raise UsageError(f"Unknown command verb {verb}.")
    if not names:
        raise UsageError("Too few arguments.")
    statuses: list[int] = []
    for name in names:
        if statuses and verb in ("status", "show", "cat") and not options.any("P", "value"):
            await ctx.out("\n")
        full = name if "." in name else f"{name}.service"
        statuses.append(await VERBS[verb](ctx, verb, full, options))
    # The verbs that ask whether units are in a state succeed if one of them is.
    return min(statuses) if verb in ("is-active", "is-failed") else max(statuses)


async def _power(ctx: Context, verb: str, options: Options) -> int:
    _need_root(ctx, f"{verb} system via logind")
    turn_off(ctx.machine, again=verb == "reboot", orderly=not options.any("f"))
    return 0


def _need_root(ctx: Context, what: str) -> None:
    if ctx.files.uid != 0:
        raise UsageError(f"Failed to {what}: Interactive authentication required.")


# -- changing ------------------------------------------------------------------------------------


async def _act(ctx: Context, verb: str, name: str, options: Options) -> int:
    unit = ctx.machine.units.get(name)
    what = verb.removeprefix("try-").partition("-")[0]
    starts = verb not in ("stop", "kill")
    if unit is None:
        why = "not found" if starts else "not loaded"
        raise UsageError(f"Failed to {what} {name}: Unit {name} {why}.", NOT_LOADED)
    _need_root(ctx, f"{what} {name}")
    if starts and unit.masked:
        fail_unit(f"Failed to {what} {name}: Unit {name} is masked.")
    if verb == "try-restart" and not unit.running:
        return 0
    if verb != "start":
        unit.stop()
        await unit.wait_stopped()
    if starts:
        unit.start()
    return 0


def fail_unit(message: str) -> None:
    """Raise the error of a failed request about a unit."""
    raise UsageError(message, 1)


async def _able(ctx: Context, verb: str, name: str, options: Options) -> int:
    unit = ctx.machine.units.get(name)
    if unit is None:
        raise UsageError(f"Failed to {verb} unit: Unit file {name} does not exist.")
    _need_root(ctx, f"{verb} unit")
    if verb == "enable" and not unit.enabled:
        await ctx.err(f"Created symlink {WANTS}/{name} → {unit.path}.\n")
    elif verb == "disable" and unit.enabled:
        await ctx.err(f'Removed "{WANTS}/{name}".\n')
    elif verb == "mask" and not unit.masked:
        await ctx.err(f"Created symlink /etc/systemd/system/{name} → /dev/null.\n")
    elif verb == "unmask" and unit.masked:
        await ctx.err(f'Removed "/etc/systemd/system/{name}".\n')
    if verb in ("enable", "disable"):
        unit.enabled = verb == "enable"
    else:
        unit.masked = verb == "mask"
    if options.any("now"):
        return await _act(ctx, "start" if verb == "enable" else "stop", name, options)
    return 0


# -- showing -------------------------------------------------------------------------------------


async def _is(ctx: Context, verb: str, name: str, options: Options) -> int:
    unit = ctx.machine.units.get(name)
    if verb == "is-enabled":
        if unit is None:
            raise UsageError(f"Failed to get unit file state for {name}: No such file or directory")
        word = "masked" if unit.masked else "enabled" if unit.enabled else "disabled"
        right = word == "enabled"
    else:
        word = unit.state if unit is not None else "inactive"
        right = word == ("failed" if verb == "is-failed" else "active")
    if not options.any("q"):
        await ctx.out(f"{word}\n")
    if right:
        return 0
    return 1 if verb != "is-active" else NOT_ACTIVE if unit is not None else UNKNOWN


async def _show(ctx: Context, verb: str, name: str, options: Options) -> int:
    facts = _list_properties(ctx, name)
    wanted = [word for text in options.all("p", "P") for word in text.split(",")]
    bare = options.any("value", "P")
    lines = [
        f"{value}\n" if bare else f"{key}={value}\n"
        for key, value in facts.items()
        if key in wanted or not wanted
    ]
    await ctx.out("".join(lines))
    return 0


def _list_properties(ctx: Context, name: str) -> dict[str, str]:
    """Properties of a unit, of those that systemd has, in its order."""
    unit = ctx.machine.units.get(name)
    if unit is None:
        missing = {"MainPID": "0", "NRestarts": "0", "Result": "success", "Id": name, "Names": name}
        return missing | {
            "Description": name,
            "LoadState": "not-found",
            "ActiveState": "inactive",
            "SubState": "dead",
        }
    process, processes, running = unit.process, unit.list_processes(), unit.running
    command = " ".join(process.argv) if process is not None else ""
    began_s = ctx.now - (ctx.kernel.now - process.started_at) if process is not None else None
    left_s = None if unit.state == "active" else unit.since_s

    def stamp(time_s: float | None) -> str:
        return "" if time_s is None else format_moment(Moment.of(time_s), TIME_FORMAT, zone_of(ctx.env))

    def count(value: float) -> str:
        return str(round(value)) if running else "[not set]"

    return {
        "Restart": "no" if unit.restart_s is None else "always",
        "RestartUSec": "100ms" if unit.restart_s is None else f"{unit.restart_s:g}s",
        "MainPID": str(process.host_pid if running and process is not None else 0),
        "NRestarts": str(unit.restarts),
        "ExecMainStartTimestamp": stamp(began_s),
        "ExecMainPID": str(process.host_pid if process is not None else 0),
        "ExecMainStatus": str(process.status if process is not None else 0),
        "ExecStart": f"{{ path={command.partition(' ')[0]} ; argv[]={command} ; ignore_errors=no }}",
        "Slice": unit.cgroup_path.split("/")[1],
        "ControlGroup": unit.cgroup_path if running else "",
        "MemoryCurrent": count(sum(each.memory.resident_bytes for each in processes)),
        "CPUUsageNSec": count(sum(each.cpu_s for each in processes) * 1e9),
        "TasksCurrent": count(sum(each.threads for each in processes)),
        "TasksMax": str(_limit_tasks(ctx)) if unit.has_task_limit else "infinity",
        "Result": _name_result(unit),
        "Id": unit.name,
        "Names": unit.name,
        "Description": unit.description,
        "LoadState": "masked" if unit.masked else "loaded",
        "ActiveState": unit.state,
        "SubState": SUBSTATES[unit.state],
        "FragmentPath": unit.path,
        "DropInPaths": " ".join(unit.drop_ins),
        "UnitFileState": "enabled" if unit.enabled else "disabled",
        "StateChangeTimestamp": stamp(unit.since_s),
        "ActiveEnterTimestamp": stamp(unit.active_s),
        "ActiveExitTimestamp": stamp(left_s),
        "InactiveEnterTimestamp": stamp(left_s),
    }


def _name_result(unit: Unit) -> str:
    if unit.state not in ("failed", "activating"):
        return "success"
    return "signal" if "killed" in unit.result else "exit-code"


async def _cat(ctx: Context, verb: str, name: str, options: Options) -> int:
    unit = ctx.machine.units.get(name)
    if unit is None:
        raise UsageError(f"No files found for {name}.")
    files = [
        f"# {path}\n{ctx.files.read(path).decode('utf-8', 'replace')}"
        for path in (unit.path, *unit.drop_ins)
        if ctx.files.is_file(path)
    ]
    await ctx.out("\n".join(files))
    return 0


async def _status(ctx: Context, verb: str, name: str, options: Options) -> int:
    unit = ctx.machine.units.get(name)
    if unit is None:
        raise UsageError(f"Unit {name} could not be found.", UNKNOWN)
    await ctx.out(_describe(ctx, unit))
    lines = (
        int(options.last("n", default=str(STATUS_LINES))) if options.last("n", default="0").isdecimal() else 0
    )
    entries = ctx.machine.journal.list_entries(name)[-lines:] if lines else []
    if entries:
        await ctx.out("\n" + format_entries(ctx, entries))
    return 0 if unit.state in ("active", "deactivating") else NOT_ACTIVE


def _describe(ctx: Context, unit: Unit) -> str:
    mark = {"active": "●", "failed": "×", "inactive": "○"}.get(unit.state, "●")
    enabled = "enabled" if unit.enabled else "disabled"
    where = f"{unit.path}; {enabled}; preset: enabled"
    loaded = f"masked (Reason: Unit {unit.name} is masked.)" if unit.masked else f"loaded ({where})"
    since = format_moment(Moment.of(unit.since_s), TIME_FORMAT, zone_of(ctx.env))
    result = f" (Result: {_name_result(unit)})" if unit.state in ("failed", "activating") else ""
    rows = [("Loaded", [loaded])]
    if unit.drop_ins:
        folder = unit.drop_ins[0].rpartition("/")[0]
        names = ", ".join(path.rpartition("/")[2] for path in unit.drop_ins)
        rows.append(("Drop-In", [folder, f"└─{names}"]))
    state = f"{unit.state} ({SUBSTATES[unit.state]}){result}"
    rows.append(("Active", [f"{state} since {since}; {ago(ctx.now - unit.since_s)} ago"]))
    if unit.documentation:
        rows.append(("Docs", unit.documentation.split()))
    process, processes = unit.process, unit.list_processes()
    for command, pid in unit.preparations.items() if process is not None else ():
        rows.append(("Process", [f"{pid} ExecStartPre={command} (code=exited, status=0/SUCCESS)"]))
    if process is not None and not process.alive and unit.result:
        rows += [
            ("Process", [f"{process.host_pid} ExecStart={process.argv[0]} ({unit.result})"]),
            ("Main PID", [f"{process.host_pid} ({unit.result})"]),
        ]
    elif process is not None and process.alive:
        rows.append(("Main PID", [f"{process.host_pid} ({process.name})"]))
    if processes:
        size_bytes = sum(each.memory.resident_bytes for each in processes)
        limit = f" (limit: {_limit_tasks(ctx)})" if unit.has_task_limit else ""
        rows += [
            ("Tasks", [f"{sum(each.threads for each in processes)}{limit}"]),
            ("Memory", [_format_size(size_bytes)]),
            ("CPU", [format_cpu_time(sum(each.cpu_s for each in processes))]),
            ("CGroup", [unit.cgroup_path, *_draw_processes(processes)]),
        ]
    lines = [f"{mark} {unit.name} - {unit.description}"]
    for name, texts in rows:
        lines += [f"{name:>11}: {texts[0]}", *(f"{'':13}{text}" for text in texts[1:])]
    return "\n".join(lines) + "\n"


def _draw_processes(processes: Sequence[Process]) -> list[str]:
    width = max(len(str(process.host_pid)) for process in processes)
    return [
        f"{'└─' if process is processes[-1] else '├─'}{process.host_pid:>{width}} {' '.join(process.argv)}"
        for process in processes
    ]


def _format_size(size_bytes: int) -> str:
    return f"{size_bytes / 1024**3:.1f}G" if size_bytes >= 1024**3 else f"{size_bytes / 1024**2:.1f}M"


def ago(seconds: float) -> str:
    """A span of time as systemd words it: the longer it is, the coarser."""
    left_s = int(seconds)
    if left_s < 1:
        return f"{seconds * 1000:.0f}ms"
    for size_s, unit, part_s, part in _COARSE_UNITS:
        if left_s >= size_s:
            count, rest = left_s // size_s, left_s % size_s // part_s
            words = f"{count} {unit}{'s' * (count > 1)}"
            return words + (f" {rest} {part}{'s' * (rest > 1)}" if rest else "")
    hours, minutes = left_s // 3600, left_s % 3600 // 60
    if left_s >= 2 * DAY_S:
        return f"{left_s // DAY_S} days"
    if left_s >= 25 * 3600:
        return f"1 day {hours - 24}h"
    if hours:
        return f"{hours}h" if hours >= 6 else f"{hours}h {minutes}min"
    return (
        f"{minutes}min {left_s % 60}s" if 1 <= minutes < 5 else f"{minutes}min" if minutes else f"{left_s}s"
    )


class _Row(NamedTuple):
    """One unit of a list."""

    name: str
    load: str
    state: str
    sub_state: str
    description: str


_PASSIVE: Final = (
    ("-.mount", "mounted", "Root Mount"),
    ("init.scope", "running", "System and Service Manager"),
    ("-.slice", "active", "Root Slice"),
    ("system.slice", "active", "System Slice"),
    ("systemd-journald-dev-log.socket", "running", "Journal Socket (/dev/log)"),
    ("systemd-journald.socket", "running", "Journal Socket"),
    ("basic.target", "active", "Basic System"),
    ("local-fs-pre.target", "active", "Preparation for Local File Systems"),
    ("local-fs.target", "active", "Local File Systems"),
    ("multi-user.target", "active", "Multi-User System"),
    ("paths.target", "active", "Path Units"),
    ("slices.target", "active", "Slice Units"),
    ("sockets.target", "active", "Socket Units"),
    ("swap.target", "active", "Swaps"),
    ("sysinit.target", "active", "System Initialization"),
    ("timers.target", "active", "Timer Units"),
)
"""Units without a process, in the order of their kinds."""


def _list_rows(ctx: Context) -> list[_Row]:
    """All units, ordered by kind and name."""
    rows = [
        _Row(
            unit.name,
            "masked" if unit.masked else "loaded",
            unit.state,
            SUBSTATES[unit.state],
            unit.description,
        )
        for unit in ctx.machine.units.values()
    ]
    rows += [_Row(name, "loaded", "active", sub_state, text) for name, sub_state, text in _PASSIVE]
    kinds = [".mount", ".scope", ".service", ".slice", ".socket", ".target"]
    return sorted(rows, key=lambda row: (kinds.index(f".{row.name.rpartition('.')[2]}"), row.name))


def _list_units(ctx: Context, options: Options, files: bool) -> str:
    kinds = options.last("t").split(",") if options.any("t") else []
    states = options.last("state").split(",") if options.any("state") else []
    if options.any("failed"):
        states.append("failed")
    patterns = [word if "." in word or "*" in word else f"{word}.service" for word in options.operands[1:]]
    rows = [
        row
        for row in _list_rows(ctx)
        if (not kinds or row.name.rpartition(".")[2] in kinds)
        and (not patterns or any(fnmatchcase(row.name, pattern) for pattern in patterns))
        and (options.any("a") or files or states or row.state != "inactive")
        and (not states or {row.state, row.sub_state, row.load} & set(states))
    ]
    if files:
        return _list_files(ctx, options, rows)
    cells = [["  UNIT", "LOAD", "ACTIVE", "SUB", "DESCRIPTION"]]
    for row in rows:
        mark = "× " if row.state == "failed" else "● " if row.state == "activating" else "  "
        cells.append(["" if options.any("plain") else mark, *row])
        cells[-1][:2] = ["".join(cells[-1][:2])]
    if options.any("plain"):
        cells[0][0] = "UNIT"
    if _hides_legend(options):
        return _align(cells[1:])
    end = f"{len(rows)} loaded units listed."
    if options.any("a") or "inactive" in states:
        end += f"\n{HINT}"
    elif states:
        end += "\n"
    else:
        end += f" Pass --all to see loaded but inactive units, too.\n{HINT}"
    return _align(cells) + (LEGEND if rows else "") + end


def _hides_legend(options: Options) -> bool:
    return options.any("no-legend") or options.last("legend") in ("no", "false")


def _list_files(ctx: Context, options: Options, rows: Sequence[_Row]) -> str:
    cells = [["UNIT FILE", "STATE", "PRESET"]]
    for row in rows:
        unit = ctx.machine.units.get(row.name)
        if unit is not None:
            state = "masked" if unit.masked else "enabled" if unit.enabled else "disabled"
            cells.append([row.name, state, "enabled"])
        elif row.name.endswith((".target", ".socket")):
            cells.append([row.name, "static", "-"])
    if _hides_legend(options):
        return _align(cells[1:])
    return _align(cells) + f"\n{len(cells) - 1} unit files listed.\n"


def _align(rows: Sequence[Sequence[str]]) -> str:
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))] if rows else []
    return "".join(
        " ".join(word.ljust(width) for word, width in zip(row, widths, strict=True)).rstrip() + "\n"
        for row in rows
    )


VERBS: Final = {
    **dict.fromkeys(("start", "stop", "restart", "try-restart", "reload-or-restart", "kill"), _act),
    **dict.fromkeys(("enable", "disable", "mask", "unmask"), _able),
    **dict.fromkeys(("is-active", "is-enabled", "is-failed"), _is),
    "status": _status,
    "show": _show,
    "cat": _cat,
}


@tool(
    "service",
    usage="< option > | --status-all | [ service_name [ command | --full-restart ] ]",
    version="ver. 1.65",
)
async def service(ctx: Context, options: Options) -> int:
    """The older way to say the same."""
    need_systemd(ctx)
    if len(options.operands) < 2:
        fail(ctx, "usage: service SERVICE COMMAND")
    name, verb = options.operands[:2]
    if verb not in VERBS:
        raise UsageError(f"Unknown command verb {verb}.")
    return await VERBS[verb](ctx, verb, name if "." in name else f"{name}.service", Options())
