"""The methods of arrays that call a function for each item."""

from __future__ import annotations

from simcloud.datastores.mongodb.shell.javascript.builtins.arrays import items, natives
from simcloud.datastores.mongodb.shell.javascript.builtins.natives import argument, function_argument
from simcloud.datastores.mongodb.shell.javascript.calls import call
from simcloud.datastores.mongodb.shell.javascript.engine import Engine
from simcloud.datastores.mongodb.shell.javascript.values import UNDEFINED, Value, truthy


async def _visit(engine: Engine, this: Value, args: list[Value], at: int) -> Value:
    return await call(engine, args[0], argument(args, 1), [this.items[at], float(at), this])


@natives.method("forEach")
async def for_each(engine: Engine, this: Value, args: list[Value]) -> Value:
    """Call a function for each item."""
    found = items(engine, this)
    function_argument(engine, args)
    at = 0
    while at < len(found):
        await _visit(engine, this, args, at)
        at += 1
    return UNDEFINED


@natives.method("map")
async def map_(engine: Engine, this: Value, args: list[Value]) -> Value:
    """What a function makes of each item."""
    found, made = items(engine, this), []
    function_argument(engine, args)
    for at in range(len(found)):
        if at < len(found):
            made.append(await _visit(engine, this, args, at))
    return engine.array(made)


@natives.method("filter")
async def filter_(engine: Engine, this: Value, args: list[Value]) -> Value:
    """The items a function approves of."""
    found, kept = items(engine, this), []
    function_argument(engine, args)
    for at in range(len(found)):
        if at < len(found):
            each = found[at]
            if truthy(await _visit(engine, this, args, at)):
                kept.append(each)
    return engine.array(kept)


async def _first(engine: Engine, this: Value, args: list[Value], wanted: bool) -> int:
    found = items(engine, this)
    function_argument(engine, args)
    for at in range(len(found)):
        if at < len(found) and truthy(await _visit(engine, this, args, at)) is wanted:
            return at
    return -1


@natives.method("find")
async def find(engine: Engine, this: Value, args: list[Value]) -> Value:
    """The first item a function approves of."""
    at = await _first(engine, this, args, True)
    return this.items[at] if at >= 0 else UNDEFINED


@natives.method("findIndex")
async def find_index(engine: Engine, this: Value, args: list[Value]) -> Value:
    """Where that stands."""
    return float(await _first(engine, this, args, True))


@natives.method("some")
async def some(engine: Engine, this: Value, args: list[Value]) -> Value:
    """Whether a function approves of one at least."""
    return await _first(engine, this, args, True) >= 0


@natives.method("every")
async def every(engine: Engine, this: Value, args: list[Value]) -> Value:
    """Whether a function approves of all."""
    return await _first(engine, this, args, False) < 0


@natives.method("reduce")
async def reduce(engine: Engine, this: Value, args: list[Value]) -> Value:
    """All items combined, from the first."""
    found = items(engine, this)
    function = function_argument(engine, args)
    places = list(range(len(found)))
    if len(args) > 1:
        result = args[1]
    elif places:
        result = found[places.pop(0)]
    else:
        raise engine.type_error(engine.words.reduce_empty())
    for at in places:
        if at < len(found):
            result = await call(engine, function, UNDEFINED, [result, found[at], float(at), this])
    return result
