"""The types that the shells add to JavaScript: ObjectId, NumberLong, ISODate and others.

The two shells print them differently; their behaviour is the same.
"""

from __future__ import annotations

import re
from base64 import b64decode, b64encode
from collections.abc import Awaitable, Callable
from typing import Any, Final

from simcloud.datastores.mongodb import bson
from simcloud.datastores.mongodb.shell.documents import Int32, box
from simcloud.datastores.mongodb.shell.javascript.builtins.dates import date, now_ms
from simcloud.datastores.mongodb.shell.javascript.builtins.natives import (
    Natives,
    argument,
    native,
    text_argument,
)
from simcloud.datastores.mongodb.shell.javascript.conversions import number
from simcloud.datastores.mongodb.shell.javascript.dates import read
from simcloud.datastores.mongodb.shell.javascript.engine import Engine
from simcloud.datastores.mongodb.shell.javascript.numbers import to_integer, to_uint32
from simcloud.datastores.mongodb.shell.javascript.values import UNDEFINED, Boxed, JsDate, Value

_HEX: Final = re.compile(r"[0-9a-fA-F]{24}")
_UUID: Final = re.compile(r"[0-9a-fA-F]{8}-?(?:[0-9a-fA-F]{4}-?){3}[0-9a-fA-F]{12}")
_ISO: Final = re.compile(r"\d{4}-?\d{2}-?\d{2}.*")
Make = Callable[[Engine, Value, list[Value]], Value]
WaitingMake = Callable[[Engine, Value, list[Value]], Awaitable[Value]]


def install(engine: Engine, ids: bson.ObjectIds) -> None:
    """Give an engine the database's types."""

    async def object_id(engine: Engine, this: Value, args: list[Value]) -> Value:
        if argument(args, 0) is UNDEFINED:
            return box(engine, ids.new(engine.host.now))
        text = await text_argument(engine, args, 0)
        if not _HEX.fullmatch(text):
            raise engine.error("Error", _bad_object_id(engine))
        return box(engine, bson.ObjectId(text.lower()))

    makers: tuple[tuple[Natives, tuple[str, ...], Make | WaitingMake], ...] = (
        (object_ids, ("ObjectId", "ObjectID"), object_id),
        (longs, ("NumberLong", "Long"), number_long),
        (integers, ("NumberInt", "Int32"), number_int),
        (binaries, ("BinData", "Binary"), bin_data),
    )
    for natives, names, make in makers:
        made = natives.install(engine, make, make)
        for name in names[1:]:
            engine.define(name, made)
    engine.define("UUID", native(engine, "UUID", uuid, uuid))
    engine.define("ISODate", native(engine, "ISODate", iso_date, iso_date))


def _bad_object_id(engine: Engine) -> str:
    if engine.messages.is_v8:
        return "input must be a 24 character hex string, 12 byte Uint8Array, or an integer"
    return "invalid object id: length"


object_ids = Natives("ObjectId")
longs = Natives("NumberLong")
integers = Natives("NumberInt")
binaries = Natives("BinData")


def unbox(engine: Engine, this: Value, kind: type[Any] | tuple[type[Any], ...]) -> Any:
    """Return the database's value inside an object."""
    if type(this) is Boxed and isinstance(this.value, kind):
        return this.value
    raise engine.type_error(engine.messages.bad_this("this", "object", "object"))


async def _whole(engine: Engine, args: list[Value], lowest: int, highest: int) -> int:
    given = argument(args, 0)
    if given is UNDEFINED:
        return 0
    if type(given) is Boxed and isinstance(given.value, int):
        return int(given.value)
    if type(given) is str and re.fullmatch(r"[+-]?\d{1,19}", given.strip()):
        return min(max(int(given), lowest), highest)
    found = to_integer(await number(engine, given))
    if type(given) is str and found == 0:
        raise engine.error("Error", "could not convert string to long long")
    return int(min(max(found, float(lowest)), float(highest)))


async def number_long(engine: Engine, this: Value, args: list[Value]) -> Value:
    """Return a 64-bit integer."""
    return box(engine, bson.Int64(await _whole(engine, args, bson.INT64_MIN, bson.INT64_MAX)))


async def number_int(engine: Engine, this: Value, args: list[Value]) -> Value:
    """Return a 32-bit integer."""
    return box(engine, Int32(await _whole(engine, args, bson.INT32_MIN, bson.INT32_MAX)))


async def bin_data(engine: Engine, this: Value, args: list[Value]) -> Value:
    """Bytes, given in base64."""
    subtype = to_uint32(await number(engine, argument(args, 0))) & 0xFF
    try:
        data = b64decode(await text_argument(engine, args, 1, ""), validate=True)
    except ValueError:
        raise engine.error("Error", "BinData could not decode base64 parameter") from None
    return box(engine, bson.Binary(data, subtype))


async def uuid(engine: Engine, this: Value, args: list[Value]) -> Value:
    """Return a UUID, given or new."""
    if argument(args, 0) is UNDEFINED:
        data = bytearray(engine.host.random("uuid").randbytes(16))
        data[6], data[8] = data[6] & 0x0F | 0x40, data[8] & 0x3F | 0x80
        return box(engine, bson.Binary(bytes(data), 4))
    text = await text_argument(engine, args, 0)
    if not _UUID.fullmatch(text):
        raise engine.error("Error", "Invalid UUID string: " + text[:60])
    return box(engine, bson.Binary(bytes.fromhex(text.replace("-", "")), 4))


async def iso_date(engine: Engine, this: Value, args: list[Value]) -> Value:
    """Return a date in ISO's notation, or now."""
    given = argument(args, 0)
    if given is UNDEFINED:
        return date(engine, now_ms(engine))
    if isinstance(given, JsDate):
        return date(engine, given.time_ms)
    text = await text_argument(engine, args, 0)
    compact = re.fullmatch(r"(\d{4})(\d{2})(\d{2})(.*)", text)
    found = read(f"{compact[1]}-{compact[2]}-{compact[3]}{compact[4]}" if compact else text)
    if not _ISO.fullmatch(text) or found != found:
        shown = f'"{text}" is not a valid ISODate' if engine.messages.is_v8 else f"invalid ISO date: {text}"
        raise engine.error("Error", shown)
    return date(engine, found)


# -- methods -------------------------------------------------------------------------------------


@object_ids.method("toString")
def object_id_text(engine: Engine, this: Value, args: list[Value]) -> Value:
    """As each shell writes it."""
    text = str(unbox(engine, this, bson.ObjectId))
    return text if engine.messages.is_v8 else f'ObjectId("{text}")'


@object_ids.method("valueOf", "toHexString", "toJSON")
def object_id_hex(engine: Engine, this: Value, args: list[Value]) -> Value:
    """Return the digits alone."""
    return str(unbox(engine, this, bson.ObjectId))


@object_ids.getter("str")
def object_id_str(engine: Engine, this: Value, args: list[Value]) -> Value:
    """Return the digits alone."""
    return str(unbox(engine, this, bson.ObjectId))


@object_ids.method("getTimestamp")
def object_id_timestamp(engine: Engine, this: Value, args: list[Value]) -> Value:
    """Return the creation time."""
    return date(engine, float(bson.milliseconds(unbox(engine, this, bson.ObjectId).generated_at)))


@object_ids.method("equals")
def object_id_equals(engine: Engine, this: Value, args: list[Value]) -> Value:
    """Return whether two are the same."""
    other = argument(args, 0)
    return type(other) is Boxed and bool(unbox(engine, this, bson.ObjectId) == other.value)


@longs.method("toNumber", "valueOf")
@integers.method("toNumber", "valueOf", "toJSON")
def whole_number(engine: Engine, this: Value, args: list[Value]) -> Value:
    """As an ordinary number."""
    return float(unbox(engine, this, int))


@longs.method("toJSON")
def long_json(engine: Engine, this: Value, args: list[Value]) -> Value:
    """As an ordinary number; the old shell writes extended JSON."""
    value = int(unbox(engine, this, int))
    return float(value) if engine.messages.is_v8 else engine.object({"$numberLong": str(value)})


@longs.method("toString")
def long_text(engine: Engine, this: Value, args: list[Value]) -> Value:
    """As each shell writes it."""
    value = int(unbox(engine, this, int))
    return str(value) if engine.messages.is_v8 else long_shown(value)


def long_shown(value: int) -> str:
    """Return a 64-bit integer as the old shell writes it."""
    fits = bson.INT32_MIN <= value <= bson.INT32_MAX
    return f"NumberLong({value})" if fits else f'NumberLong("{value}")'


@integers.method("toString")
def int_text(engine: Engine, this: Value, args: list[Value]) -> Value:
    """As each shell writes it."""
    value = int(unbox(engine, this, int))
    return str(value) if engine.messages.is_v8 else f"NumberInt({value})"


def binary_shown(value: bson.Binary | bytes, quote: str) -> str:
    """Bytes, or a UUID, as the shells write them."""
    data, subtype = (value.data, value.subtype) if isinstance(value, bson.Binary) else (value, 0)
    if subtype == 4 and len(data) == 16:
        digits = data.hex()
        groups = (digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:])
        return f"UUID({quote}{'-'.join(groups)}{quote})"
    encoded = b64encode(data).decode()
    if quote == "'":
        return f"Binary.createFromBase64('{encoded}', {subtype})"
    return f'BinData({subtype},"{encoded}")'


@binaries.method("toString")
def binary_text(engine: Engine, this: Value, args: list[Value]) -> Value:
    """As each shell writes it."""
    return binary_shown(unbox(engine, this, (bson.Binary, bytes)), "'" if engine.messages.is_v8 else '"')
