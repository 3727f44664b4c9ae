"""Unary and binary operators."""

from __future__ import annotations

import math

from simcloud.datastores.mongodb.shell.javascript import syntax as js
from simcloud.datastores.mongodb.shell.javascript.conversions import (
    key_text,
    less,
    loosely_equal,
    number,
    primitive,
    text,
)
from simcloud.datastores.mongodb.shell.javascript.engine import Engine
from simcloud.datastores.mongodb.shell.javascript.numbers import (
    power,
    quotient,
    remainder,
    to_int32,
    to_uint32,
)
from simcloud.datastores.mongodb.shell.javascript.properties import describe
from simcloud.datastores.mongodb.shell.javascript.values import (
    MISSING,
    JsFunction,
    JsObject,
    Value,
    plain_text,
    same,
)

numeric = number


async def apply_unary(engine: Engine, op: str, value: Value) -> Value:
    """Apply ``-``, ``+`` or ``~`` to a value."""
    found = await number(engine, value)
    if op == "-":
        return -found
    return found if op == "+" else float(~to_int32(found))


async def binary(engine: Engine, op: str, left: Value, right: Value, node: js.Node) -> Value:
    """Apply a binary operator."""
    if op == "===":
        return same(left, right)
    if op == "!==":
        return not same(left, right)
    if op == "+":
        return await _add(engine, left, right)
    if op in ("==", "!="):
        return await loosely_equal(engine, left, right) is (op == "==")
    if op in ("<", ">", "<=", ">="):
        return await _compare(engine, op, left, right)
    if op in ("in", "instanceof"):
        engine.frames[-1].at = node.at
        return await _test_relation(engine, op, left, right, node)
    return _arithmetic(op, await number(engine, left), await number(engine, right))


async def _add(engine: Engine, left: Value, right: Value) -> Value:
    if type(left) is float and type(right) is float:
        return left + right
    if isinstance(left, JsObject):
        left = await primitive(engine, left)
    if isinstance(right, JsObject):
        right = await primitive(engine, right)
    if type(left) is str or type(right) is str:
        return engine.concatenate(plain_text(left), plain_text(right))
    return await number(engine, left) + await number(engine, right)


async def _compare(engine: Engine, op: str, left: Value, right: Value) -> bool:
    if type(left) is float and type(right) is float:
        if op == "<":
            return left < right
        if op == ">":
            return left > right
        return left <= right if op == "<=" else left >= right
    if op == "<":
        return await less(engine, left, right) is True
    if op == ">":
        return await less(engine, right, left) is True
    if op == "<=":
        return await less(engine, right, left) is False
    return await less(engine, left, right) is False


def _arithmetic(op: str, left: float, right: float) -> float:
    match op:
        case "-":
            return left - right
        case "*":
            return left * right
        case "/":
            return quotient(left, right)
        case "%":
            return remainder(left, right)
        case "**":
            return power(left, right)
        case "&":
            return float(to_int32(left) & to_int32(right))
        case "|":
            return float(to_int32(left) | to_int32(right))
        case "^":
            return float(to_int32(left) ^ to_int32(right))
        case "<<":
            return float(to_int32(float(to_int32(left) << (to_uint32(right) & 31))))
        case ">>":
            return float(to_int32(left) >> (to_uint32(right) & 31))
        case ">>>":
            return float(to_uint32(left) >> (to_uint32(right) & 31))
    return math.nan


async def _test_relation(engine: Engine, op: str, left: Value, right: Value, node: js.Node) -> bool:
    shown = describe(node.right) if isinstance(node, js.Binary) else ""
    if op == "in":
        key = await key_text(engine, left)
        if not isinstance(right, JsObject):
            raise engine.type_error(engine.messages.not_object_in(key, await text(engine, right)))
        return right.find(key) is not MISSING
    if not isinstance(right, JsFunction):
        raise engine.type_error(engine.messages.bad_instanceof(shown))
    prototype = right.find("prototype")
    return isinstance(left, JsObject) and isinstance(prototype, JsObject) and left.inherits(prototype)
