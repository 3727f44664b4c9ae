"""date: print the machine's clock, or another time, in a format. The clock cannot be set."""

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
