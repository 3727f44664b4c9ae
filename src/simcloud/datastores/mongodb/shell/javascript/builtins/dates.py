"""``Date``. The time is the machine's and its zone is UTC, so local and universal methods agree."""

from __future__ import annotations

import math
from collections.abc import Awaitable, Callable

from simcloud.datastores.mongodb.shell.javascript.builtins.natives import Natives, argument, native
from simcloud.datastores.mongodb.shell.javascript.conversions import number, primitive
from simcloud.datastores.mongodb.shell.javascript.dates import (
    Parts,
    clip_time,
    clock_text,
    day_text,
    iso_text,
    moment,
    parts,
    read,
)
from simcloud.datastores.mongodb.shell.javascript.engine import Engine
from simcloud.datastores.mongodb.shell.javascript.values import JsDate, Value

natives = Natives("Date")
_FIELDS = ("FullYear", "Month", "Date", "Hours", "Minutes", "Seconds", "Milliseconds")


def install(engine: Engine) -> None:
    """Give an engine ``Date``."""
    natives.install(engine, _now_text, _date)
    prototype = engine.prototypes["Date"]
    for index, field in enumerate(_FIELDS):
        for zone in ("", "UTC"):
            prototype.hide(f"get{zone}{field}", native(engine, f"get{zone}{field}", _getter(index)))
            prototype.hide(f"set{zone}{field}", native(engine, f"set{zone}{field}", _setter(index)))
    for zone in ("", "UTC"):
        prototype.hide(f"get{zone}Day", native(engine, f"get{zone}Day", _getter(7)))


def now_ms(engine: Engine) -> float:
    """Return the machine's time in whole milliseconds."""
    return float(math.floor(engine.host.now * 1000 + 1e-6))


def date(engine: Engine, time_ms: float) -> JsDate:
    """Return a new date."""
    return JsDate(engine.prototypes["Date"], clip_time(time_ms))


def _time(engine: Engine, this: Value, method: str) -> JsDate:
    if not isinstance(this, JsDate):
        raise engine.type_error(engine.messages.bad_this(f"Date.prototype.{method}", "Date", "object"))
    return this


def _now_text(engine: Engine, this: Value, args: list[Value]) -> Value:
    return full_text(engine, now_ms(engine))


async def _date(engine: Engine, this: Value, args: list[Value]) -> Value:
    if not args:
        return date(engine, now_ms(engine))
    if len(args) == 1:
        value = args[0].time_ms if isinstance(args[0], JsDate) else await primitive(engine, args[0])
        return date(engine, read(value) if type(value) is str else await number(engine, value))
    return date(engine, await _moment_of(engine, args))


async def _moment_of(engine: Engine, args: list[Value]) -> float:
    fields = [await number(engine, arg) for arg in args[:7]]
    fields += [0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0][len(fields) :]
    if 0 <= fields[0] <= 99:
        fields[0] += 1900
    return moment(*fields)


@natives.static("UTC")
async def utc(engine: Engine, this: Value, args: list[Value]) -> Value:
    """Return the milliseconds of a moment given in fields."""
    return await _moment_of(engine, args)


@natives.static("now")
def now(engine: Engine, this: Value, args: list[Value]) -> Value:
    """Return the milliseconds of this moment."""
    return now_ms(engine)


@natives.static("parse")
async def parse(engine: Engine, this: Value, args: list[Value]) -> Value:
    """Return the milliseconds of a moment given as text."""
    value = await primitive(engine, argument(args, 0), "string")
    return read(value) if type(value) is str else math.nan


@natives.method("getTime", "valueOf")
def get_time(engine: Engine, this: Value, args: list[Value]) -> Value:
    """Milliseconds since 1970."""
    return _time(engine, this, "getTime").time_ms


@natives.method("setTime")
async def set_time(engine: Engine, this: Value, args: list[Value]) -> Value:
    """Become another moment."""
    held = _time(engine, this, "setTime")
    held.time_ms = clip_time(await number(engine, argument(args, 0)))
    return held.time_ms


def _getter(index: int) -> Callable[[Engine, Value, list[Value]], Value]:
    def get_field(engine: Engine, this: Value, args: list[Value]) -> Value:
        time_ms = _time(engine, this, "get").time_ms
        return time_ms if time_ms != time_ms else float(parts(time_ms)[index])

    return get_field


def _setter(index: int) -> Callable[[Engine, Value, list[Value]], Awaitable[Value]]:
    async def set_field(engine: Engine, this: Value, args: list[Value]) -> Value:
        held = _time(engine, this, "set")
        whole: Parts = parts(held.time_ms if held.time_ms == held.time_ms else 0.0)
        fields: list[float] = [float(field) for field in whole[:7]]
        for offset, arg in enumerate(args[: 7 - index]):
            fields[index + offset] = await number(engine, arg)
        held.time_ms = moment(*fields)
        return held.time_ms

    return set_field


def full_text(engine: Engine, time_ms: float) -> str:
    """Return a moment as ``Date`` itself writes it."""
    if time_ms != time_ms:
        return "Invalid Date"
    v8 = engine.messages.is_v8
    zone = "Coordinated Universal Time" if v8 else "UTC"
    return f"{day_text(time_ms)} {clock_text(time_ms)} GMT+0000 ({zone})"


@natives.method("toString")
def to_string(engine: Engine, this: Value, args: list[Value]) -> Value:
    """Day, time and zone."""
    return full_text(engine, _time(engine, this, "toString").time_ms)


@natives.method("toISOString")
def to_iso_string(engine: Engine, this: Value, args: list[Value]) -> Value:
    """Return the moment as standards write it."""
    time_ms = _time(engine, this, "toISOString").time_ms
    if time_ms != time_ms:
        raise engine.error("RangeError", engine.messages.bad_date())
    return iso_text(time_ms)


@natives.method("toJSON")
def to_json(engine: Engine, this: Value, args: list[Value]) -> Value:
    """Return the same, or null."""
    time_ms = _time(engine, this, "toJSON").time_ms
    return None if time_ms != time_ms else iso_text(time_ms)
