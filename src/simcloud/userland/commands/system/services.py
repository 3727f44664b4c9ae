"""systemctl: control the services of a machine.

Services are reached from the machine's own root only (outside containers, or after ``chroot /host``), and changed by
root there. A command waits until its request is done.
"""

from __future__ import annotations

from typing import Final

from simcloud.machine import Unit, turn_off
from simcloud.machine.process import Context
from simcloud.userland.commands.options import Options, UsageError
from simcloud.userland.commands.system.dates import Moment, format_moment, zone_of
from simcloud.userland.commands.system.journal import format_entries
from simcloud.userland.commands.text.tool import fail, tool

NO_SYSTEMD: Final = (
    "System has not been booted with systemd as init system (PID 1). Can't operate.\n"
    "Failed to connect to bus: Host is down"
)
VERSION: Final = "252 (252.39-1~deb12u1)"
LEGEND: Final = """
LOAD   = Reflects whether the unit definition was properly loaded.
ACTIVE = The high-level unit activation state, i.e. generalization of SUB.
SUB    = The low-level unit activation state, values depend on unit type.
{count} loaded units listed.{more}
To show all installed unit files use 'systemctl list-unit-files'.
"""
SUBSTATES: Final = {"active": "running", "inactive": "dead", "failed": "failed", "activating": "auto-restart",
                    "deactivating": "stop-sigterm"}  # fmt: skip
NOT_ACTIVE: Final = 3
UNKNOWN: Final = 4
NOT_LOADED: Final = 5
WANTS: Final = "/etc/systemd/system/multi-user.target.wants"
STATUS_LINES: Final = 10


def need_systemd(ctx: Context) -> None:
    """Fail in systemd's words where there is none to talk to."""
    if not ctx.on_machine:
        raise UsageError(NO_SYSTEMD)


@tool(
    "systemctl",
    options="t,type= state= p,property= P= a,all r,recursive l,full no-pager no-legend q,quiet n,lines= o,output= "
    "f,force i now user system no-block wait value plain no-ask-password",
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
    status = 0
    for name in names:
        full = name if "." in name else f"{name}.service"
        status = max(status, await VERBS[verb](ctx, verb, full, options))
    return status


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
        await ctx.err(f"Created symlink {WANTS}/{name} → {_path(name)}.\n")
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
    unit = ctx.machine.units.get(name)
    state = unit.state if unit is not None else "inactive"
    facts = {
        "Id": name,
        "LoadState": "loaded" if unit is not None else "not-found",
        "ActiveState": state,
        "SubState": SUBSTATES[state],
        "MainPID": str(unit.process.host_pid if unit is not None and unit.running and unit.process else 0),
        "Description": unit.description if unit is not None else name,
    }
    wanted = [word for text in options.all("p", "P") for word in text.split(",")] or list(facts)
    bare = options.any("value", "P")
    await ctx.out(
        "".join(facts[key] + "\n" if bare else f"{key}={facts[key]}\n" for key in wanted if key in facts)
    )
    return 0


async def _cat(ctx: Context, verb: str, name: str, options: Options) -> int:
    unit = ctx.machine.units.get(name)
    if unit is None:
        raise UsageError(f"No files found for {name}.")
    documentation = f"Documentation={unit.documentation}\n" if unit.documentation else ""
    command = " ".join(unit.process.argv) if unit.process is not None else ""
    await ctx.out(
        f"# {_path(name)}\n[Unit]\nDescription={unit.description}\n{documentation}\n[Service]\nExecStart={command}\n"
        "Restart=always\n\n[Install]\nWantedBy=multi-user.target\n"
    )
    return 0


async def _status(ctx: Context, verb: str, name: str, options: Options) -> int:
    unit = ctx.machine.units.get(name)
    if unit is None:
        raise UsageError(f"Unit {name} could not be found.", UNKNOWN)
    await ctx.out(_describe(ctx, unit))
    lines = (
        int(options.last("n", default=str(STATUS_LINES))) if options.last("n", default="0").isdecimal() else 0
    )
    entries = ctx.machine.journal.entries(name)[-lines:] if lines else []
    if entries:
        await ctx.out("\n" + format_entries(ctx, entries))
    return 0 if unit.state in ("active", "deactivating") else NOT_ACTIVE


def _describe(ctx: Context, unit: Unit) -> str:
    mark = {"active": "●", "failed": "×", "inactive": "○"}.get(unit.state, "●")
    enabled = "enabled" if unit.enabled else "disabled"
    where = f"{_path(unit.name)}; {enabled}; preset: enabled"
    loaded = "masked (Reason: Unit " + unit.name + " is masked.)" if unit.masked else f"loaded ({where})"
    zone = zone_of(ctx.env)
    since = format_moment(Moment.of(unit.since_s), "%a %Y-%m-%d %H:%M:%S %Z", zone)
    result = (
        f" (Result: {'signal' if 'killed' in unit.result else 'exit-code'})" if unit.state == "failed" else ""
    )
    rows = [
        ("Loaded", loaded),
        (
            "Active",
            f"{unit.state} ({SUBSTATES[unit.state]}){result} since {since}; {ago(ctx.now - unit.since_s)} ago",
        ),
    ]
    if unit.documentation:
        rows.append(("Docs", unit.documentation))
    process = unit.process
    if process is not None and process.alive:
        rows += [
            ("Main PID", f"{process.host_pid} ({process.name})"),
            ("Tasks", "1 (limit: 9483)"),
            ("Memory", f"{process.memory.resident_bytes / 1024**2:.1f}M"),
            ("CPU", f"{process.cpu_s * 1000:.0f}ms" if process.cpu_s < 1 else f"{process.cpu_s:.3f}s"),
            (
                "CGroup",
                f"/system.slice/{unit.name}\n             └─{process.host_pid} {' '.join(process.argv)}",
            ),
        ]
    elif process is not None and unit.result:
        command = process.argv[0]
        rows += [
            ("Process", f"{process.host_pid} ExecStart={command} ({unit.result})"),
            ("Main PID", f"{process.host_pid} ({unit.result})"),
        ]
    return f"{mark} {unit.name} - {unit.description}\n" + "".join(
        f"{name:>11}: {text}\n" for name, text in rows
    )


def ago(seconds: float) -> str:
    """A span of time as systemd words it: the two largest units."""
    left, words = int(seconds), []
    for unit, size in (("day", 86_400), ("h", 3600), ("min", 60), ("s", 1)):
        count, left = divmod(left, size)
        if count:
            space = f" {unit}{'s' if count > 1 else ''}" if unit == "day" else f"{unit}"
            words.append(f"{count}{space}")
    if not words:
        return f"{seconds * 1000:.0f}ms"
    return " ".join(words[:2])


def _path(name: str) -> str:
    return f"/lib/systemd/system/{name}"


def _list_units(ctx: Context, options: Options, files: bool) -> str:
    kinds, states = options.last("t").split(","), options.last("state")
    wanted = sorted(options.operands[1:])
    units = [
        unit
        for name, unit in sorted(ctx.machine.units.items())
        if (not options.any("t") or "service" in kinds)
        and (not wanted or any(name.startswith(each.rstrip("*")) for each in wanted))
        and (options.any("a") or files or states or unit.state != "inactive")
        and (not states or unit.state in states.split(",") or SUBSTATES[unit.state] in states.split(","))
    ]
    if files:
        rows = [["UNIT FILE", "STATE", "PRESET"]]
        rows += [
            [u.name, "masked" if u.masked else "enabled" if u.enabled else "disabled", "enabled"]
            for u in units
        ]
        end = f"\n{len(units)} unit files listed.\n"
    else:
        rows = [["  UNIT", "LOAD", "ACTIVE", "SUB", "DESCRIPTION"]]
        for unit in units:
            mark = "× " if unit.state == "failed" else "● " if unit.state == "activating" else "  "
            loaded = "masked" if unit.masked else "loaded"
            rows.append([mark + unit.name, loaded, unit.state, SUBSTATES[unit.state], unit.description])
        more = "" if options.any("a") else " Pass --all to see loaded but inactive units, too."
        end = LEGEND.format(count=len(units), more=more)
    if options.any("no-legend"):
        rows, end = rows[1:], ""
    widths = [max((len(row[at]) for row in rows), default=0) for at in range(len(rows[0]))] if rows else []
    text = "".join(
        " ".join(word.ljust(width) for word, width in zip(row, widths, strict=True)).rstrip() + "\n"
        for row in rows
    )
    return text + end


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
