"""The items of what can be iterated: arrays, strings and cursors (``hasNext`` and ``next``).

There are no symbols and no generators, so a script cannot add kinds of its own.
"""

from __future__ import annotations

from simcloud.datastores.mongodb.shell.javascript import syntax as js
from simcloud.datastores.mongodb.shell.javascript.calls import call
from simcloud.datastores.mongodb.shell.javascript.engine import Engine
from simcloud.datastores.mongodb.shell.javascript.properties import describe, get
from simcloud.datastores.mongodb.shell.javascript.values import (
    JsArray,
    JsFunction,
    JsObject,
    Value,
    truthy,
)


async def items_of(engine: Engine, value: Value, node: js.Node | None = None) -> list[Value]:
    """All the items, in order; the list must not be changed."""
    if isinstance(value, JsArray):
        return value.items
    if type(value) is str:
        return list(value)
    if isinstance(value, JsObject):
        has_next, take = await get(engine, value, "hasNext"), await get(engine, value, "next")
        if isinstance(has_next, JsFunction) and isinstance(take, JsFunction):
            return await _drain(engine, value, has_next, take)
    shown = "object" if node is None else describe(node)
    raise engine.type_error(engine.words.not_iterable(shown))


async def _drain(engine: Engine, cursor: JsObject, has_next: JsFunction, take: JsFunction) -> list[Value]:
    found: list[Value] = []
    while truthy(await call(engine, has_next, cursor, [])):
        found.append(await call(engine, take, cursor, []))
    return found
