"""``JSON``."""

from __future__ import annotations

import json
import re
from typing import Any

from simcloud.datastores.mongodb.shell.javascript.builtins.natives import Natives, argument, text_argument
from simcloud.datastores.mongodb.shell.javascript.builtins.strings import whole_characters
from simcloud.datastores.mongodb.shell.javascript.calls import call
from simcloud.datastores.mongodb.shell.javascript.engine import Engine
from simcloud.datastores.mongodb.shell.javascript.numbers import number_text, to_integer
from simcloud.datastores.mongodb.shell.javascript.properties import get
from simcloud.datastores.mongodb.shell.javascript.values import (
    UNDEFINED,
    JsArray,
    JsFunction,
    JsObject,
    Value,
    plain_text,
)

natives = Natives("JSON")
MAX_DEPTH = 100
_DEEP = re.compile(r'"(?:[^"\\]|\\.)*"|[\[{]|[\]}]')


def install(engine: Engine) -> None:
    """Give an engine ``JSON``."""
    natives.install_namespace(engine)


def quote(value: str) -> str:
    """Return a string in JSON."""
    return json.dumps(value, ensure_ascii=False)


@natives.static("stringify")
async def stringify(engine: Engine, this: Value, args: list[Value]) -> Value:
    """Return a value in JSON; undefined when it has none."""
    writer = _Writer(engine, argument(args, 1), await _indent(engine, argument(args, 2)))
    written = await writer.write(engine.object({"": argument(args, 0)}), "", argument(args, 0), "\n")
    return UNDEFINED if written is None else engine.charge_text(written)


async def _indent(engine: Engine, given: Value) -> str:
    if type(given) is float:
        return " " * int(min(max(to_integer(given), 0.0), 10.0))
    return given[:10] if type(given) is str else ""


class _Writer:
    """Serializes a value; ``choose`` selects or replaces properties, ``indent`` is one level."""

    def __init__(self, engine: Engine, choose: Value, indent: str) -> None:
        self._engine = engine
        self._function = choose if isinstance(choose, JsFunction) else None
        self._names = [plain_text(each) for each in choose.items] if isinstance(choose, JsArray) else None
        self._indent = indent
        self._open: list[JsObject] = []
        self._length = 0

    async def write(self, holder: JsObject, key: str, value: Value, newline: str) -> str | None:
        engine = self._engine
        if isinstance(value, JsObject):
            convert = await get(engine, value, "toJSON")
            if isinstance(convert, JsFunction):
                value = await call(engine, convert, value, [key])
        if self._function is not None:
            value = await call(engine, self._function, holder, [key, value])
        if isinstance(value, JsFunction) or value is UNDEFINED:
            return None
        if isinstance(value, JsObject):
            return await self._write_object(value, newline)
        written = quote(value) if type(value) is str else _plain(value)
        self._length += len(written)
        engine.check_text(self._length)
        return written

    async def _write_object(self, value: JsObject, newline: str) -> str:
        engine = self._engine
        if len(self._open) >= MAX_DEPTH or any(value is each for each in self._open):
            raise engine.type_error(engine.messages.circular())
        if engine.count_turn():
            await engine.pay_turns()
        self._open.append(value)
        inner = newline + self._indent
        parts: list[str] = []
        if isinstance(value, JsArray):
            for index, item in enumerate(value.items):
                parts.append(await self.write(value, str(index), item, inner) or "null")
            opening, closing = "[]"
        else:
            for name in self._names if self._names is not None else value.names():
                written = await self.write(value, name, await get(engine, value, name), inner)
                if written is not None:
                    parts.append(f"{quote(name)}:{' ' if self._indent else ''}{written}")
            opening, closing = "{}"
        self._open.pop()
        if not parts:
            return opening + closing
        if not self._indent:
            return f"{opening}{','.join(parts)}{closing}"
        return f"{opening}{inner}{(',' + inner).join(parts)}{newline}{closing}"


def _plain(value: Value) -> str:
    if type(value) is float:
        return number_text(value) if value == value and abs(value) != float("inf") else "null"
    return plain_text(value)


@natives.static("parse")
async def parse(engine: Engine, this: Value, args: list[Value]) -> Value:
    """Parse JSON."""
    given = await text_argument(engine, args, 0)
    engine.work(len(given))
    engine.host.spend_bytes(len(given))
    depth = 0
    for match in _DEEP.finditer(given):
        depth += {"[": 1, "{": 1, "]": -1, "}": -1}.get(match[0], 0)
        if depth > MAX_DEPTH:
            raise engine.error("SyntaxError", engine.messages.too_deep())
    try:
        found = json.loads(given, parse_int=float, parse_constant=_refuse)
    except json.JSONDecodeError as error:
        raise engine.error("SyntaxError", engine.messages.bad_json(given, error.pos)) from None
    except ValueError:
        raise engine.error("SyntaxError", engine.messages.bad_json(given, 0)) from None
    value = from_python(engine, found)
    revive = argument(args, 1)
    return (
        await _revive_value(engine, engine.object({"": value}), "", revive)
        if isinstance(revive, JsFunction)
        else value
    )


def _refuse(word: str) -> Any:
    raise ValueError(word)


def from_python(engine: Engine, value: Any) -> Value:
    """Return a value from what Python's JSON reads."""
    if isinstance(value, dict):
        return engine.object(
            {whole_characters(key): from_python(engine, each) for key, each in value.items()}
        )
    if isinstance(value, list):
        return engine.array([from_python(engine, each) for each in value])
    return whole_characters(value) if isinstance(value, str) else value


async def _revive_value(engine: Engine, holder: JsObject, key: str, revive: JsFunction) -> Value:
    value = await get(engine, holder, key)
    if isinstance(value, JsObject):
        for name in value.names():
            new = await _revive_value(engine, value, name, revive)
            if new is UNDEFINED:
                value.remove(name)
            else:
                value.put(name, new)
    return await call(engine, revive, holder, [key, value])
