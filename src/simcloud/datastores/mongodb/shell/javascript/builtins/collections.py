"""``Map`` and ``Set``."""

from __future__ import annotations

from simcloud.datastores.mongodb.shell.javascript.builtins.natives import (
    Natives,
    argument,
    function_argument,
)
from simcloud.datastores.mongodb.shell.javascript.calls import call
from simcloud.datastores.mongodb.shell.javascript.engine import Engine
from simcloud.datastores.mongodb.shell.javascript.iteration import items_of
from simcloud.datastores.mongodb.shell.javascript.properties import get
from simcloud.datastores.mongodb.shell.javascript.values import UNDEFINED, JsMap, Value, map_key

maps = Natives("Map")
sets = Natives("Set")


def install(engine: Engine) -> None:
    """Give an engine both."""
    maps.install(engine, _needs_new, _map)
    sets.install(engine, _needs_new, _set)


async def _needs_new(engine: Engine, this: Value, args: list[Value]) -> Value:
    raise engine.type_error(engine.words.class_without_new("Map"))


async def _map(engine: Engine, this: Value, args: list[Value]) -> Value:
    made = JsMap(engine.prototypes["Map"], False)
    if argument(args, 0) is not UNDEFINED and args[0] is not None:
        for pair in await items_of(engine, args[0]):
            key = await get(engine, pair, "0")
            made.entries[map_key(key)] = (key, await get(engine, pair, "1"))
    engine.made_items(len(made.entries))
    return made


async def _set(engine: Engine, this: Value, args: list[Value]) -> Value:
    made = JsMap(engine.prototypes["Set"], True)
    if argument(args, 0) is not UNDEFINED and args[0] is not None:
        for each in await items_of(engine, args[0]):
            made.entries[map_key(each)] = (each, each)
    engine.made_items(len(made.entries))
    return made


def _entries(engine: Engine, this: Value) -> dict[object, tuple[Value, Value]]:
    if not isinstance(this, JsMap):
        raise engine.type_error(engine.words.bad_this("Map.prototype", "Map", "object"))
    return this.entries


@maps.method("get")
def get_(engine: Engine, this: Value, args: list[Value]) -> Value:
    """The value filed under a key."""
    found = _entries(engine, this).get(map_key(argument(args, 0)))
    return UNDEFINED if found is None else found[1]


@maps.method("set")
def set_(engine: Engine, this: Value, args: list[Value]) -> Value:
    """File a value under a key."""
    key = argument(args, 0)
    _entries(engine, this)[map_key(key)] = (key, argument(args, 1))
    return this


@sets.method("add")
def add(engine: Engine, this: Value, args: list[Value]) -> Value:
    """Put a value in."""
    value = argument(args, 0)
    _entries(engine, this).setdefault(map_key(value), (value, value))
    return this


@maps.method("has")
@sets.method("has")
def has(engine: Engine, this: Value, args: list[Value]) -> Value:
    """Whether the key is there."""
    return map_key(argument(args, 0)) in _entries(engine, this)


@maps.method("delete")
@sets.method("delete")
def delete(engine: Engine, this: Value, args: list[Value]) -> Value:
    """Take a key out."""
    return _entries(engine, this).pop(map_key(argument(args, 0)), None) is not None


@maps.method("clear")
@sets.method("clear")
def clear(engine: Engine, this: Value, args: list[Value]) -> Value:
    """Take everything out."""
    _entries(engine, this).clear()
    return UNDEFINED


@maps.getter("size")
@sets.getter("size")
def size(engine: Engine, this: Value, args: list[Value]) -> Value:
    """How many there are."""
    return float(len(_entries(engine, this)))


@maps.method("forEach")
@sets.method("forEach")
async def for_each(engine: Engine, this: Value, args: list[Value]) -> Value:
    """Call a function for each."""
    function = function_argument(engine, args)
    for key, value in list(_entries(engine, this).values()):
        await call(engine, function, argument(args, 1), [value, key, this])
    return UNDEFINED


@maps.method("keys")
@sets.method("keys", "values")
def keys(engine: Engine, this: Value, args: list[Value]) -> Value:
    """The keys, in the order they came."""
    engine.made_items(len(_entries(engine, this)))
    return engine.array([key for key, _ in _entries(engine, this).values()])


@maps.method("values")
def values(engine: Engine, this: Value, args: list[Value]) -> Value:
    """The values, in the order they came."""
    engine.made_items(len(_entries(engine, this)))
    return engine.array([value for _, value in _entries(engine, this).values()])


@maps.method("entries")
@sets.method("entries")
def entries(engine: Engine, this: Value, args: list[Value]) -> Value:
    """Pairs, in the order they came."""
    engine.made_items(len(_entries(engine, this)))
    return engine.array([engine.array([key, value]) for key, value in _entries(engine, this).values()])
