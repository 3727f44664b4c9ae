"""``Object`` and its prototype."""

from __future__ import annotations

from simcloud.datastores.mongodb.shell.javascript.builtins.natives import Natives, argument, text_argument
from simcloud.datastores.mongodb.shell.javascript.conversions import key_text
from simcloud.datastores.mongodb.shell.javascript.engine import Engine
from simcloud.datastores.mongodb.shell.javascript.evaluator import copy_properties
from simcloud.datastores.mongodb.shell.javascript.properties import get, items_of
from simcloud.datastores.mongodb.shell.javascript.values import MISSING, UNDEFINED, JsArray, JsObject, Value

natives = Natives("Object")


def install(engine: Engine) -> None:
    """Give an engine ``Object``."""
    natives.install(engine, _object, _object)


def _object(engine: Engine, this: Value, args: list[Value]) -> Value:
    value = argument(args, 0)
    return value if isinstance(value, JsObject) else engine.object()


def _as_object(engine: Engine, value: Value) -> JsObject:
    if isinstance(value, JsObject):
        return value
    if value is UNDEFINED or value is None:
        shown = "undefined" if value is UNDEFINED else "null"
        if engine.messages.is_v8:
            raise engine.type_error("Cannot convert undefined or null to object")
        raise engine.type_error(f"can't convert {shown} to object")
    return engine.array(list(value)) if type(value) is str else engine.object()


@natives.method("hasOwnProperty")
async def has_own(engine: Engine, this: Value, args: list[Value]) -> Value:
    """Return whether the object itself has a property."""
    key = await text_argument(engine, args, 0)
    return _as_object(engine, this).own(key) is not MISSING


@natives.method("toString")
def to_string(engine: Engine, this: Value, args: list[Value]) -> Value:
    """``[object Kind]``."""
    if isinstance(this, JsObject):
        kind = (
            this.class_name
            if this.class_name in ("Array", "Function", "Error", "Date", "RegExp")
            else "Object"
        )
        return f"[object {kind}]"
    if this is UNDEFINED or this is None:
        return "[object Undefined]" if this is UNDEFINED else "[object Null]"
    return f"[object { {str: 'String', float: 'Number'}.get(type(this), 'Boolean') }]"


@natives.method("valueOf")
def value_of(engine: Engine, this: Value, args: list[Value]) -> Value:
    """Return the object itself."""
    return this


@natives.static("keys")
def keys(engine: Engine, this: Value, args: list[Value]) -> Value:
    """Return the names of an object's own properties."""
    found = _as_object(engine, argument(args, 0)).names()
    engine.charge_items(len(found))
    return engine.array(list(found))


@natives.static("values")
async def values(engine: Engine, this: Value, args: list[Value]) -> Value:
    """Return the values of an object's own properties."""
    holder = _as_object(engine, argument(args, 0))
    engine.charge_items(len(holder.names()))
    return engine.array([await get(engine, holder, key) for key in holder.names()])


@natives.static("entries")
async def entries(engine: Engine, this: Value, args: list[Value]) -> Value:
    """Pairs of name and value."""
    holder = _as_object(engine, argument(args, 0))
    engine.charge_items(len(holder.names()))
    return engine.array([engine.array([key, await get(engine, holder, key)]) for key in holder.names()])


@natives.static("fromEntries")
async def from_entries(engine: Engine, this: Value, args: list[Value]) -> Value:
    """Return an object from pairs of name and value."""
    made = engine.object()
    for pair in await items_of(engine, argument(args, 0)):
        made.put(await key_text(engine, await get(engine, pair, "0")), await get(engine, pair, "1"))
    return made


@natives.static("assign")
async def assign(engine: Engine, this: Value, args: list[Value]) -> Value:
    """Copy the properties of objects into the first."""
    target = _as_object(engine, argument(args, 0))
    for source in args[1:]:
        await copy_properties(engine, source, target)
    return target


@natives.static("create")
def create(engine: Engine, this: Value, args: list[Value]) -> Value:
    """Return an object with a given prototype."""
    prototype = argument(args, 0)
    if prototype is not None and not isinstance(prototype, JsObject):
        raise engine.type_error("Object prototype may only be an Object or null")
    made = engine.object()
    made.prototype = prototype
    return made


@natives.static("getOwnPropertyNames")
def own_names(engine: Engine, this: Value, args: list[Value]) -> Value:
    """Return the names of all own properties, hidden ones too."""
    holder = _as_object(engine, argument(args, 0))
    names = [*holder.names(), *holder.hidden]
    if isinstance(holder, JsArray):
        names.append("length")
    return engine.array(list(names))
