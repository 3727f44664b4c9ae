"""Properties and items of values."""

from __future__ import annotations

from simcloud.datastores.mongodb.shell.javascript import syntax as js
from simcloud.datastores.mongodb.shell.javascript.calls import call
from simcloud.datastores.mongodb.shell.javascript.engine import Engine
from simcloud.datastores.mongodb.shell.javascript.numbers import number_text
from simcloud.datastores.mongodb.shell.javascript.values import (
    MAX_PROTOTYPES,
    MISSING,
    UNDEFINED,
    Accessor,
    JsArray,
    JsFunction,
    JsObject,
    Value,
    is_index,
    truthy,
)


async def get(engine: Engine, value: Value, key: str, node: js.Node | None = None) -> Value:
    """Return a property, or undefined. ``node`` is the expression, for error messages."""
    found = find_property(engine, value, key, node)
    return found if type(found) is not Accessor else await call(engine, found.getter, value, [])


def find_property(engine: Engine, value: Value, key: str, node: js.Node | None = None) -> Value:
    """Return the same, or the ``Accessor`` that computes the property."""
    if isinstance(value, JsObject):
        found = value.find(key)
    elif type(value) is str:
        found = _of_text(engine, value, key)
    else:
        found = _wrapper(engine, value, key, node).find(key)
    if found is MISSING:
        if key == "__proto__":
            return _prototype_of(engine, value)
        return UNDEFINED
    return found


def _of_text(engine: Engine, value: str, key: str) -> Value:
    if key == "length":
        return float(len(value))
    if is_index(key):
        index = int(key)
        return value[index] if index < len(value) else MISSING
    return engine.prototypes["String"].find(key)


def _wrapper(
    engine: Engine, value: Value, key: str, node: js.Node | None, *, writing: bool = False
) -> JsObject:
    if value is UNDEFINED or value is None:
        plain = "undefined" if value is UNDEFINED else "null"
        shown = plain if node is None else describe(node)
        raise engine.type_error(engine.messages.no_properties(shown, plain, key, writing))
    return engine.prototypes["Number" if type(value) is float else "Boolean"]


def _prototype_of(engine: Engine, value: Value) -> Value:
    if isinstance(value, JsObject):
        return value.prototype
    return engine.prototypes[{str: "String", float: "Number"}.get(type(value), "Boolean")]


async def put(engine: Engine, value: Value, key: str, new: Value, node: js.Node | None = None) -> None:
    """Set a property. What does not take it ignores it, as scripts outside strict mode have it."""
    if not isinstance(value, JsObject):
        if type(value) is not str:
            _wrapper(engine, value, key, node, writing=True)
        return
    if key == "__proto__":
        _set_prototype(engine, value, new)
        return
    if type(value.find(key)) is Accessor:
        return
    if not value.put(key, new):
        raise engine.error("RangeError", engine.messages.bad_length())
    if isinstance(value, JsArray) and is_index(key):
        engine.charge_items(int(key) - len(value.items) + 2)


def _set_prototype(engine: Engine, value: JsObject, prototype: Value) -> None:
    """Give an object another prototype."""
    if prototype is not None and not isinstance(prototype, JsObject):
        return
    holder, depth = prototype, 0
    while holder is not None:
        depth += 1
        if holder is value or depth > MAX_PROTOTYPES:
            raise engine.type_error("can't set prototype: it would cause a prototype chain cycle")
        holder = holder.prototype
    value.prototype = prototype


def describe(node: js.Node) -> str:
    """Return an expression as complaints name it."""
    match node:
        case js.Name(_, name):
            return name
        case js.This():
            return "this"
        case js.Member(_, owner, js.Literal(_, str(key)), False):
            return f"{describe(owner)}.{key}"
        case js.Member(_, owner, js.Literal(_, float(index)), True):
            return f"{describe(owner)}[{number_text(index)}]"
        case js.Member(_, owner, key, True):
            return f"{describe(owner)}[{describe(key)}]"
        case js.Call(_, callee, _):
            return f"{describe(callee)}(...)"
        case js.Chain(_, value):
            return describe(value)
        case js.Literal(_, str(text)):
            return f'"{text}"'
        case js.Literal(_, None):
            return "null"
    return "(intermediate value)"


async def items_of(engine: Engine, value: Value, node: js.Node | None = None) -> list[Value]:
    """Return the items of an array, a string or a cursor (``hasNext`` and ``next``). Do not change the list.

    There are no symbols and no generators, so a script cannot define other kinds of iterables.
    """
    if isinstance(value, JsArray):
        return value.items
    if type(value) is str:
        return list(value)
    if isinstance(value, JsObject):
        has_next, take = await get(engine, value, "hasNext"), await get(engine, value, "next")
        if isinstance(has_next, JsFunction) and isinstance(take, JsFunction):
            return await _drain(engine, value, has_next, take)
    shown = "object" if node is None else describe(node)
    raise engine.type_error(engine.messages.not_iterable(shown))


async def _drain(engine: Engine, cursor: JsObject, has_next: JsFunction, take: JsFunction) -> list[Value]:
    found: list[Value] = []
    while truthy(await call(engine, has_next, cursor, [])):
        found.append(await call(engine, take, cursor, []))
    return found
