"""Formatting of values in mongosh, as Node.js inspects objects: lines of 80, three levels on one line."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import Final

from simcloud.datastores.mongodb import bson
from simcloud.datastores.mongodb.shell.documents import Int32
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
from simcloud.datastores.mongodb.shell.types import binary_shown

LINE_CHARACTERS: Final = 80
COMPACT: Final = 3
MAX_DEPTH: Final = 6
_IDENTIFIER: Final = re.compile(r"[a-zA-Z_][a-zA-Z_0-9]*")
_ESCAPED: Final = re.compile(r"[\x00-\x1f\x7f-\x9f\\]")
_ESCAPES: Final = {"\n": "\\n", "\t": "\\t", "\r": "\\r", "\b": "\\b", "\f": "\\f", "\v": "\\v", "\\": "\\\\"}


async def inspect(engine: Engine, value: Value, *, compact: bool = True) -> str:
    """Return a value as text; what is not compact has a line for each property."""
    return engine.charge_text(await _Inspector(engine, compact).show(value, 0))


def quote(value: str) -> str:
    """Return a string in the quotes that need the least escaping."""
    quote = next((each for each in "'\"`" if each not in value and not (each == "`" and "${" in value)), "'")
    escaped = _ESCAPED.sub(lambda found: _ESCAPES.get(found[0], f"\\x{ord(found[0]):02X}"), value)
    return quote + (escaped.replace("'", "\\'") if quote == "'" else escaped) + quote


class _Inspector:
    """Formats a value with the limits of Node.js."""

    def __init__(self, engine: Engine, compact: bool) -> None:
        self._engine = engine
        self._compact = compact
        self._indentation = 0
        self._current = 0
        self._open: list[JsObject] = []

    async def show(self, value: Value, level: int) -> str:
        if type(value) is str:
            return quote(value)
        if not isinstance(value, JsObject):
            return (
                "-0"
                if type(value) is float and value == 0 and math.copysign(1, value) < 0
                else plain_text(value)
            )
        special = _scalar(value)
        if special is not None:
            return special
        if any(value is each for each in self._open):
            return "[Circular *1]"
        if isinstance(value, JsFunction):
            return _function(value)
        if level > MAX_DEPTH:
            return (
                "[Array]"
                if isinstance(value, JsArray)
                else f"[{_class_name(value) or 'Object: null prototype'}]"
            )
        if self._engine.count_turn():
            await self._engine.pay_turns()
        return await self._composite(value, level)

    async def _composite(self, value: JsObject, level: int) -> str:
        self._open.append(value)
        if value.names():
            self._current = level
        braces, base = ("{", "}"), ""
        if isinstance(value, JsArray):
            braces = ("[", "]")
            parts = [await self._format_indented(each, level) for each in value.items]
        else:
            parts = []
            name = _class_name(value)
            if name != "Object":
                braces = (f"{name or '[Object: null prototype]'} {{", "}")
            if isinstance(value, JsError):
                base, braces = _error(value), ("{", "}")
        for key in value.names():
            if not (isinstance(value, JsArray) and key.isdecimal()):
                parts.append(await self._property(value, key, level))
        self._open.pop()
        if not parts:
            return base or f"{braces[0]}{braces[1]}"
        return self._join_parts(parts, base, braces, level, value)

    async def _format_indented(self, value: Value, level: int) -> str:
        self._indentation += 2
        shown = await self.show(value, level + 1)
        self._indentation -= 2
        return shown

    async def _property(self, value: JsObject, key: str, level: int) -> str:
        name = key if _IDENTIFIER.fullmatch(key) else quote(key)
        return f"{name}: {await self._format_indented(await get(self._engine, value, key), level)}"

    def _join_parts(
        self, parts: list[str], base: str, braces: tuple[str, str], level: int, value: JsObject
    ) -> str:
        entries = len(parts)
        if self._compact and isinstance(value, JsArray) and entries > 6:
            parts = _group_columns(parts, value.items, self._indentation)
        prefix = f"{base} " if base else ""
        if self._compact and self._current - level < COMPACT and entries == len(parts):
            start = len(parts) + self._indentation + len(braces[0]) + len(base) + 10
            if _fits(parts, start, base):
                joined = ", ".join(parts)
                if "\n" not in joined:
                    return f"{prefix}{braces[0]} {joined} {braces[1]}"
        newline = "\n" + " " * self._indentation
        return f"{prefix}{braces[0]}{newline}  {f',{newline}  '.join(parts)}{newline}{braces[1]}"


def _fits(parts: list[str], start: int, base: str) -> bool:
    total = len(parts) + start + sum(map(len, parts))
    return total <= LINE_CHARACTERS and "\n" not in base


def _group_columns(parts: list[str], items: Sequence[Value], indentation: int) -> list[str]:
    """Return the items of a long array in columns, if they are short and alike."""
    count = len(parts)
    widths = [len(part) for part in parts]
    total, widest = sum(widths) + 2 * count, max(widths)
    actual = widest + 2
    if not (actual * 3 + indentation < LINE_CHARACTERS and (total / actual > 5 or widest <= 6)):
        return parts
    biased = max(actual - 3 - math.sqrt(actual - total / len(parts)), 1)
    columns = min(
        math.floor(math.sqrt(2.5 * biased * count) / biased + 0.5),
        (LINE_CHARACTERS - indentation) // actual,
        COMPACT * 4,
        15,
    )
    if columns <= 1:
        return parts
    line_widths = [max(widths[column::columns], default=0) + 2 for column in range(columns)]
    numeric = all(type(item) is float for item in items[: len(parts)])
    lines = []
    for start in range(0, count, columns):
        row = parts[start : min(start + columns, count)]
        cells = [
            f"{cell}, ".rjust(line_widths[at]) if numeric else f"{cell}, ".ljust(line_widths[at])
            for at, cell in enumerate(row[:-1])
        ]
        last = row[-1].rjust(line_widths[len(row) - 1] - 2) if numeric else row[-1]
        lines.append("".join(cells) + last)
    return lines


def _class_name(value: JsObject) -> str:
    maker = value.find("constructor")
    return maker.name if isinstance(maker, JsFunction) else ""


def _function(value: JsFunction) -> str:
    return f"[Function: {value.name}]" if value.name else "[Function (anonymous)]"


def _error(value: JsError) -> str:
    name, message = value.find("name"), value.own("message")
    head = name if type(name) is str else "Error"
    return f"{head}: {message}" if type(message) is str and message else head


def _scalar(value: JsObject) -> str | None:
    if isinstance(value, JsDate):
        return "Invalid Date" if value.time_ms != value.time_ms else f"ISODate('{iso_text(value.time_ms)}')"
    if isinstance(value, JsRegExp):
        return f"/{value.pattern or '(?:)'}/{value.flags}"
    if type(value) is not Boxed:
        return None
    inner = value.value
    if isinstance(inner, bson.ObjectId):
        return f"ObjectId('{inner}')"
    if isinstance(inner, Int32):
        return f"Int32({int(inner)})"
    if isinstance(inner, (bson.Binary, bytes)):
        return binary_shown(inner, "'")
    if isinstance(inner, int) and not isinstance(inner, bool):
        return f"Long('{int(inner)}')"
    return f"[{value.class_name}: {quote(inner) if isinstance(inner, str) else plain_text(inner)}]"
