"""Formatting of values in ``mongo``: ``{ "_id" : ObjectId("…"), "n" : 1 }``, with tabs if it takes several lines."""

from __future__ import annotations

from typing import Final

from simcloud.datastores.mongodb import bson
from simcloud.datastores.mongodb.shell.documents import Int32
from simcloud.datastores.mongodb.shell.javascript.builtins.functions import function_text
from simcloud.datastores.mongodb.shell.javascript.builtins.json import quote
from simcloud.datastores.mongodb.shell.javascript.calls import call
from simcloud.datastores.mongodb.shell.javascript.conversions import text
from simcloud.datastores.mongodb.shell.javascript.dates import iso_text
from simcloud.datastores.mongodb.shell.javascript.engine import Engine
from simcloud.datastores.mongodb.shell.javascript.properties import get
from simcloud.datastores.mongodb.shell.javascript.regexes import JsRegExp
from simcloud.datastores.mongodb.shell.javascript.values import (
    Boxed,
    JsArray,
    JsDate,
    JsError,
    JsFunction,
    JsObject,
    Value,
    plain_text,
)
from simcloud.datastores.mongodb.shell.types import binary_shown, long_shown

MAX_DEPTH: Final = 100
ONE_LINE_CHARACTERS: Final = 80


async def tojson(
    engine: Engine, value: Value, *, one_line: bool | None = None, indent: str = "", depth: int = 0
) -> str:
    """Format a value. By default a short one is on one line."""
    if type(value) is str:
        return quote(value)
    if not isinstance(value, JsObject):
        return plain_text(value)
    written = await _object(engine, value, one_line is True, indent, depth)
    if one_line is not False and not indent and depth == 0 and len(written) < ONE_LINE_CHARACTERS:
        return _collapse(written)
    return engine.charge_text(written)


def _collapse(written: str) -> str:
    pieces: list[str] = []
    for character in written:
        if character not in "\t\r\n":
            pieces.append(character)
        elif not pieces or pieces[-1] != "\n":
            pieces.append("\n")
    return "".join(" " if piece == "\n" else piece for piece in pieces)


async def _object(engine: Engine, value: JsObject, one_line: bool, indent: str, depth: int) -> str:
    if depth > MAX_DEPTH:
        return "[Object]"
    if isinstance(value, JsFunction):
        return function_text(value)
    special = scalar(value)
    if special is not None:
        return special
    if isinstance(value, JsError):
        return await text(engine, value)
    own = await get(engine, value, "tojson")
    if isinstance(own, JsFunction):
        return await text(engine, await call(engine, own, value, [indent, one_line]))
    if engine.count_turn():
        await engine.pay_turns()
    end, tab = (" ", "") if one_line else ("\n", "\t")
    inner = indent + tab
    if isinstance(value, JsArray):
        if not value.items:
            return "[ ]"
        parts = [inner + await _format_nested(engine, each, one_line, inner, depth) for each in value.items]
        return f"[{end}{f',{end}'.join(parts)}{end}{indent}]"
    parts = []
    for key in value.names():
        each = await get(engine, value, key)
        parts.append(f"{inner}{quote(key)} : {await _format_nested(engine, each, one_line, inner, depth)}")
    engine.check_text(sum(map(len, parts)))
    return f"{{{end}{f',{end}'.join(parts) if parts else inner}{end}{indent}}}"


async def _format_nested(engine: Engine, value: Value, one_line: bool, indent: str, depth: int) -> str:
    return await tojson(engine, value, one_line=one_line, indent=indent, depth=depth + 1)


def scalar(value: JsObject) -> str | None:
    """Return a value of the database's that is no document; None for everything else."""
    if isinstance(value, JsDate):
        if value.time_ms != value.time_ms:
            return "Invalid Date"
        return f'ISODate("{iso_text(value.time_ms).replace(".000Z", "Z")}")'
    if isinstance(value, JsRegExp):
        return f"/{value.pattern}/{value.flags}"
    if type(value) is not Boxed:
        return None
    inner = value.value
    if isinstance(inner, bson.ObjectId):
        return f'ObjectId("{inner}")'
    if isinstance(inner, Int32):
        return f"NumberInt({int(inner)})"
    if isinstance(inner, (bson.Binary, bytes)):
        return binary_shown(inner, '"')
    if isinstance(inner, int) and not isinstance(inner, bool):
        return long_shown(int(inner))
    return quote(inner) if isinstance(inner, str) else plain_text(inner)
