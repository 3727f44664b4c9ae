"""Conversion between JavaScript values and BSON values."""

from __future__ import annotations

import math
from datetime import datetime, timedelta
from typing import Any, Final

from simcloud.datastores.mongodb import bson
from simcloud.datastores.mongodb.shell.javascript.builtins.functions import function_text
from simcloud.datastores.mongodb.shell.javascript.engine import Engine
from simcloud.datastores.mongodb.shell.javascript.regexes import JsRegExp
from simcloud.datastores.mongodb.shell.javascript.values import (
    UNDEFINED,
    Boxed,
    JsArray,
    JsDate,
    JsFunction,
    JsObject,
    Value,
)

MAX_DEPTH: Final = 150
_EARLIEST_MS: Final = -62_135_596_800_000
_LATEST_MS: Final = 253_402_300_799_999


class Int32(int):
    """A number that is stored as a 32-bit integer."""

    __slots__ = ()


def to_script(engine: Engine, value: Any) -> Value:
    """Return a value of the database as a script sees it."""
    kind = value.__class__
    if kind is dict:
        return engine.object({key: to_script(engine, each) for key, each in value.items()})
    if kind is list:
        return engine.array([to_script(engine, each) for each in value])
    if kind is str or kind is float or kind is bool or value is None:
        return value
    if kind is int and bson.INT32_MIN <= value <= bson.INT32_MAX:
        return float(value)
    if kind is datetime:
        return JsDate(engine.prototypes["Date"], float(bson.milliseconds(value)))
    if kind is bson.Regex:
        flags = "".join(letter for letter in value.options if letter in "ims")
        return JsRegExp(engine, value.pattern, flags)
    return box(engine, value)


def box(engine: Engine, value: Any) -> Boxed:
    """Return an object around a value that scripts have no type for."""
    name = _BOXES[value.__class__]
    return Boxed(engine.prototypes[name], name, value)


_BOXES: Final[dict[type, str]] = {
    int: "NumberLong",
    bson.Int64: "NumberLong",
    Int32: "NumberInt",
    bson.ObjectId: "ObjectId",
    bson.Binary: "BinData",
    bytes: "BinData",
}


def to_document(engine: Engine, value: Value, *, whole: bool) -> bson.Document:
    """Return an object of a script as a document; with ``whole``, whole numbers are stored as integers."""
    found = to_stored(engine, value, whole=whole)
    return found if isinstance(found, dict) else {}


def to_stored(engine: Engine, value: Value, *, whole: bool, depth: int = 0) -> Any:
    """A script's value as the database takes it."""
    if value is None or value is UNDEFINED:
        return None
    kind = type(value)
    if kind is float:
        return _number(value) if whole else value
    if kind is str or kind is bool:
        return value
    if depth > MAX_DEPTH:
        raise engine.error(
            "Error",
            f"Exceeded depth limit of {MAX_DEPTH} when converting js object to BSON. Do you have a cycle?",
        )
    if isinstance(value, JsArray):
        engine.work(len(value.items))
        return [to_stored(engine, each, whole=whole, depth=depth + 1) for each in value.items]
    if isinstance(value, JsDate):
        return _date(engine, value.time_ms)
    if isinstance(value, JsRegExp):
        return bson.Regex(value.pattern, "".join(letter for letter in value.flags if letter in "ims"))
    if isinstance(value, Boxed):
        inner = value.value
        if type(inner) is Int32:
            return int(inner)
        return inner if not isinstance(inner, (str, float, bool)) else to_stored(engine, inner, whole=whole)
    if isinstance(value, JsFunction):
        return function_text(value)
    return _document(engine, value, whole, depth)


def _document(engine: Engine, value: JsObject, whole: bool, depth: int) -> bson.Document:
    found: bson.Document = {}
    for key in value.names():
        found[key] = to_stored(engine, value.own(key), whole=whole, depth=depth + 1)
    engine.work(len(found))
    return found


def _number(value: float) -> int | float:
    if math.isfinite(value) and value == int(value) and bson.INT32_MIN <= value <= bson.INT32_MAX:
        return int(value)
    return value


def _date(engine: Engine, time_ms: float) -> datetime:
    if time_ms != time_ms or not _EARLIEST_MS <= time_ms <= _LATEST_MS:
        raise engine.error("Error", "Invalid Date cannot be stored")
    return bson.EPOCH + timedelta(milliseconds=time_ms)
