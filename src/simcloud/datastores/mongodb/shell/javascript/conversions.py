"""Conversions of values to strings, numbers and primitives; equality and comparison."""

from __future__ import annotations

import math

from simcloud.datastores.mongodb.shell.javascript.calls import call
from simcloud.datastores.mongodb.shell.javascript.engine import Engine
from simcloud.datastores.mongodb.shell.javascript.numbers import text_number
from simcloud.datastores.mongodb.shell.javascript.properties import get
from simcloud.datastores.mongodb.shell.javascript.values import (
    UNDEFINED,
    JsDate,
    JsFunction,
    JsObject,
    Value,
    plain_text,
    same,
)


async def primitive(engine: Engine, value: Value, hint: str = "default") -> Value:
    """Convert an object to a primitive value."""
    if not isinstance(value, JsObject):
        return value
    if hint == "default":
        hint = "string" if isinstance(value, JsDate) else "number"
    names = ("toString", "valueOf") if hint == "string" else ("valueOf", "toString")
    for name in names:
        method = await get(engine, value, name)
        if isinstance(method, JsFunction):
            result = await call(engine, method, value, [])
            if not isinstance(result, JsObject):
                return result
    raise engine.type_error(engine.messages.no_conversion())


async def text(engine: Engine, value: Value) -> str:
    """Return the value as a string."""
    if type(value) is str:
        return value
    if isinstance(value, JsObject):
        value = await primitive(engine, value, "string")
    return plain_text(value)


async def number(engine: Engine, value: Value) -> float:
    """Return the value as a number."""
    if type(value) is float:
        return value
    if isinstance(value, JsObject):
        value = await primitive(engine, value, "number")
    if type(value) is float:
        return value
    if type(value) is str:
        return text_number(value)
    if value is UNDEFINED:
        return math.nan
    return 1.0 if value is True else 0.0


async def key_text(engine: Engine, value: Value) -> str:
    """Return the value as the name of a property."""
    return value if type(value) is str else await text(engine, value)


async def loosely_equal(engine: Engine, left: Value, right: Value) -> bool:
    """``==``."""
    if left is None or left is UNDEFINED:
        return right is None or right is UNDEFINED
    if right is None or right is UNDEFINED:
        return False
    if type(left) is type(right) or (isinstance(left, JsObject) and isinstance(right, JsObject)):
        return same(left, right)
    if isinstance(left, JsObject):
        return await loosely_equal(engine, await primitive(engine, left), right)
    if isinstance(right, JsObject):
        return await loosely_equal(engine, left, await primitive(engine, right))
    return await number(engine, left) == await number(engine, right)


async def less(engine: Engine, left: Value, right: Value) -> bool | None:
    """Return whether left comes first; None when one of them is no number."""
    left = await primitive(engine, left, "number")
    right = await primitive(engine, right, "number")
    if type(left) is str and type(right) is str:
        return left < right
    left, right = await number(engine, left), await number(engine, right)
    if left != left or right != right:
        return None
    return bool(left < right)
