"""date: print the machine's clock, or another time, in a format, or set the clock. timedatectl: show and set the clock."""

from __future__ import annotations

from typing import Final

from simcloud.machine.files import FileError
from simcloud.machine.process import Context
from simcloud.userland.commands.options import Options, UsageError
from simcloud.userland.commands.records import read_path
from simcloud.userland.commands.system.dates import (
    UTC,
    Moment,
    Zone,
    format_moment,
    read_moment,
    zone_of,
)
from simcloud.userland.commands.text.quoting import quote, quote_name
from simcloud.userland.commands.text.tool import fail, misuse, one_of, tool

MOST_SKEW_S: Final = 0.5
"""A clock that is further off is not synchronized."""
DEFAULT_FORMAT: Final = "%a %b %e %H:%M:%S %Z %Y"
EMAIL_FORMAT: Final = "%a, %d %b %Y %H:%M:%S %z"
ISO_FORMATS: Final = {
    "hours": "%Y-%m-%dT%H%:z",
    "minutes": "%Y-%m-%dT%H:%M%:z",
    "date": "%Y-%m-%d",
    "seconds": "%Y-%m-%dT%H:%M:%S%:z",
    "ns": "%Y-%m-%dT%H:%M:%S,%N%:z",
}
RFC_3339_FORMATS: Final = {
    "date": "%Y-%m-%d",
    "seconds": "%Y-%m-%d %H:%M:%S%:z",
    "ns": "%Y-%m-%d %H:%M:%S.%N%:z",
}


@tool(
    "date",
    options="d,date= debug f,file= I,iso-8601=? resolution R,rfc-email,rfc-822,rfc-2822 rfc-3339= r,reference= s,set= "
    "u,utc,uct,universal",
    usage="[OPTION]... [+FORMAT]",
)
async def date(ctx: Context, options: Options) -> int:
    """Print the date and time, now or at another moment."""
    if sum(options.any(option) for option in ("d", "f", "r", "resolution")) > 1:
        misuse(ctx, "the options to specify dates for printing are mutually exclusive")
    zone = UTC if options.any("u") else zone_of(ctx.env)
    form = _format(ctx, options)
    if options.any("f"):
        return await _each_line(ctx, options.last("f"), form, zone)
    if options.any("resolution"):
        await ctx.out("0.000001000\n")
        return 0
    moment = _moment(ctx, options, zone)
    status = 0
    if options.any("s") or _sets_clock(options):
        if ctx.capable("SYS_TIME"):
            ctx.machine.clock_skew_s += moment.timestamp() - ctx.now
        else:
            await ctx.err(f"{ctx.args[0]}: cannot set date: Operation not permitted\n")
            status = 1
    await ctx.out(format_moment(moment, form, zone) + "\n")
    return status


def _sets_clock(options: Options) -> bool:
    return any(not word.startswith("+") for word in options.operands)


def _format(ctx: Context, options: Options) -> str:
    form = ""
    for option, value in options.given:
        chosen = ""
        if option == "R":
            chosen = EMAIL_FORMAT
        elif option == "I":
            chosen = ISO_FORMATS[one_of(ctx, "iso-8601", value or "date", tuple(ISO_FORMATS))]
        elif option == "rfc-3339":
            chosen = RFC_3339_FORMATS[one_of(ctx, option, value, tuple(RFC_3339_FORMATS))]
        if chosen and form:
            fail(ctx, "multiple output formats specified")
        form = chosen or form
    operands = options.operands
    if len(operands) > 1:
        misuse(ctx, f"extra operand {quote(operands[1])}")
    if operands and operands[0].startswith("+"):
        if form:
            fail(ctx, "multiple output formats specified")
        return operands[0][1:]
    if operands and options.any("d", "f", "r", "s"):
        misuse(
            ctx,
            f"the argument {quote(operands[0])} lacks a leading '+';\n"
            "when using an option to specify date(s), any non-option\n"
            "argument must be a format string beginning with '+'",
        )
    return form or DEFAULT_FORMAT


def _moment(ctx: Context, options: Options, zone: Zone) -> Moment:
    now = Moment.of(ctx.now)
    if options.any("r"):
        try:
            return Moment.of(ctx.files.stat(options.last("r")).mtime)
        except FileError as error:
            fail(ctx, f"{quote_name(options.last('r'))}: {error}")
    if options.any("d", "s"):
        text = options.last("d", "s")
        moment = read_moment(text, now, zone)
        if moment is None:
            fail(ctx, f"invalid date {quote(text)}")
        return moment
    if _sets_clock(options):
        return _clock_setting(ctx, options.operands[0], now, zone)
    return now


def _clock_setting(ctx: Context, text: str, now: Moment, zone: Zone) -> Moment:
    """``MMDDhhmm[[CC]YY][.ss]``, by which the clock would be set."""
    digits, dot, seconds = text.partition(".")
    if not (digits + seconds).isdecimal() or len(digits) not in (8, 10, 12) or (dot and len(seconds) != 2):
        fail(ctx, f"invalid date {quote(text)}")
    year = digits[8:] or format_moment(now, "%Y", zone)
    clock = f"{digits[4:6]}:{digits[6:8]}:{seconds or '00'}"
    moment = read_moment(f"{digits[:2]}/{digits[2:4]}/{year} {clock}", now, zone)
    if moment is None:
        fail(ctx, f"invalid date {quote(text)}")
    return moment


async def _each_line(ctx: Context, path: str, form: str, zone: Zone) -> int:
    """Every line of a file is a date."""
    try:
        data = await read_path(ctx, path)
    except FileError as error:
        raise UsageError(f"{ctx.args[0]}: {quote_name(path)}: {error}") from None
    status = 0
    for line in data.decode("utf-8", "surrogateescape").splitlines():
        ctx.spend_turn()
        moment = read_moment(line, Moment.of(ctx.now), zone)
        if moment is None:
            await ctx.err(f"{ctx.args[0]}: invalid date {quote(line)}\n")
            status = 1
        else:
            await ctx.out(format_moment(moment, form, zone) + "\n")
    return status


@tool("timedatectl", options="no-pager no-ask-password H,host= M,machine= adjust-system-clock l a,all p,property= value",
      usage="[OPTIONS...] COMMAND ...", version="252 (252.38-1~deb12u1)")  # fmt: skip
async def timedatectl(ctx: Context, options: Options) -> int:
    """Show or set the machine's clock, which the hypervisor keeps: there is no time service. It needs the bus of the system."""
    bus = ctx.machine.units.get("dbus.service")
    if ctx.container.is_host and not (bus and bus.running):
        raise UsageError("Failed to connect to bus: No such file or directory")
    verb, *words = options.operands or ["status"]
    skewed = abs(ctx.machine.clock_skew_s) > MOST_SKEW_S
    if verb == "status":
        now, kept = Moment.of(ctx.now), Moment.of(ctx.now - ctx.machine.clock_skew_s)
        day = "%a %Y-%m-%d %H:%M:%S"
        rows = {"Local time": f"{format_moment(now, day, UTC)} UTC", "Universal time": f"{format_moment(now, day, UTC)} UTC",
                "RTC time": format_moment(kept, day, UTC), "Time zone": "Etc/UTC (UTC, +0000)",
                "System clock synchronized": "no" if skewed else "yes", "NTP service": "n/a", "RTC in local TZ": "no"}  # fmt: skip
        await ctx.out("".join(f"{name:>25}: {value}\n" for name, value in rows.items()))
        return 0
    if verb == "show":
        rows = {
            "Timezone": "Etc/UTC",
            "LocalRTC": "no",
            "CanNTP": "no",
            "NTP": "no",
            "NTPSynchronized": "no" if skewed else "yes",
        }
        await ctx.out("".join(f"{name}={value}\n" for name, value in rows.items()))
        return 0
    if verb == "set-time" and words:
        moment = read_moment(" ".join(words), Moment.of(ctx.now), UTC)
        if moment is None:
            fail(ctx, f"Failed to parse time specification '{' '.join(words)}': Invalid argument")
        if not ctx.capable("SYS_TIME"):
            raise UsageError("Failed to set time: Interactive authentication required.")
        ctx.machine.clock_skew_s += moment.timestamp() - ctx.now
        return 0
    if verb == "set-ntp":
        raise UsageError("Failed to set ntp: NTP not supported")
    raise UsageError(f"Unknown command verb {verb}.")
