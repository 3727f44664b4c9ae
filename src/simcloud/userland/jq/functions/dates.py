"""Dates: seconds since 1970, "broken down time" as an array of eight numbers, and texts.

The calendar is computed here, in UTC, independent of the host's clock, locale and time zone.
"""

from __future__ import annotations

import math

from simcloud.userland.jq.errors import JqError
from simcloud.userland.jq.functions.date_format import Time, format_time, parse_time
from simcloud.userland.jq.functions.registry import native
from simcloud.userland.jq.run import Run
from simcloud.userland.jq.tree import Value

ISO = "%Y-%m-%dT%H:%M:%SZ"
FURTHEST_YEAR = 2**31 + 1899
MAX_FORMATTED_BYTES = 4096


@native("now", 0)
def now(run: Run, _: Value) -> Value:
    """The machine's time."""
    return run.clock()


def _to_broken_down(value: Value, who: str) -> list[Value]:
    if type(value) is not float:
        raise JqError(f"{who}() requires numeric inputs")
    if not math.isfinite(value) or abs(value) >= 2.0**63:
        raise JqError("errror converting number of seconds since epoch to datetime")
    time = Time.of_seconds(int(value))
    if not -FURTHEST_YEAR < time.year <= FURTHEST_YEAR:
        raise JqError("errror converting number of seconds since epoch to datetime")
    fields = [float(field) for field in time.fields()]
    fields[5] += value - math.floor(value)
    return [*fields]


@native("gmtime", 0)
def gmtime(_: Run, value: Value) -> Value:
    """Seconds as broken down time."""
    return _to_broken_down(value, "gmtime")


@native("localtime", 0)
def localtime(_: Run, value: Value) -> Value:
    """The same; machines live in UTC."""
    return _to_broken_down(value, "localtime")


def _time(value: Value, who: str) -> Time:
    if type(value) is not list or len(value) < 8 or not all(type(field) is float for field in value[:8]):
        raise JqError(f"{who} requires parsed datetime inputs")
    year, month, day, hour, minute, second, weekday, yearday = (
        int(max(-(2.0**31), min(2.0**31 - 1, field))) if field == field else -(2**31) for field in value[:8]
    )
    return Time(year, month, day, hour, minute, second, weekday, yearday)


@native("mktime", 0)
def mktime(_: Run, value: Value) -> Value:
    """Broken down time as seconds."""
    if type(value) is not list:
        raise JqError("mktime requires array inputs")
    seconds = _time(value, "mktime").seconds()
    if seconds == -1:
        raise JqError("invalid gmtime representation")
    return float(seconds)


def _strftime(run: Run, value: Value, form: Value, who: str) -> Value:
    if type(value) is float:
        value = gmtime(run, value)
    elif type(value) is not list:
        raise JqError(f"{who} requires parsed datetime inputs")
    if type(form) is not str:
        raise JqError(f"{who} requires a string format")
    time = _time(value, who)
    text = format_time(time, form)
    if not text or len(text.encode()) >= MAX_FORMATTED_BYTES:
        raise JqError(f"{who}: unknown system failure")
    return text


@native("strftime", 1)
def strftime(run: Run, value: Value, form: Value) -> Value:
    """A time in a form."""
    return _strftime(run, value, form, "strftime/1")


@native("strflocaltime", 1)
def strflocaltime(run: Run, value: Value, form: Value) -> Value:
    """The same; machines live in UTC."""
    return _strftime(run, value, form, "strflocaltime/1")


@native("strptime", 1)
def strptime(_: Run, value: Value, form: Value) -> Value:
    """The time that a text in a form stands for; what is left of the text comes last."""
    if type(value) is not str or type(form) is not str:
        raise JqError("strptime/1 requires string inputs and arguments")
    parsed = parse_time(value, form)
    if parsed is None or (parsed[1] and not parsed[1][0].isspace()):
        raise JqError(f'date "{value}" does not match format "{form}"')
    time, rest = parsed
    fields: list[Value] = [float(field) for field in time.fields()]
    return [*fields, rest] if rest else fields


@native("todate", 0)
def todate(run: Run, value: Value) -> Value:
    """A time as ISO 8601."""
    return strftime(run, value, ISO)


native("todateiso8601", 0)(todate)


@native("fromdate", 0)
def fromdate(run: Run, value: Value) -> Value:
    """The seconds of such a text."""
    return mktime(run, strptime(run, value, ISO))


native("fromdateiso8601", 0)(fromdate)
