"""``Error`` and its subclasses."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from simcloud.datastores.mongodb.shell.javascript.builtins.natives import (
    Natives,
    argument,
    native,
    text_argument,
)
from simcloud.datastores.mongodb.shell.javascript.engine import ERRORS, Engine
from simcloud.datastores.mongodb.shell.javascript.properties import get
from simcloud.datastores.mongodb.shell.javascript.values import UNDEFINED, JsObject, Value

natives = Natives("Error")


def install(engine: Engine) -> None:
    """Give an engine its errors."""
    natives.install(engine, _maker("Error"), _maker("Error"))
    engine.prototypes["Error"].hide("name", "Error")
    engine.prototypes["Error"].hide("message", "")
    for kind in ERRORS[1:]:
        define_kind(engine, kind, "Error")


def define_kind(engine: Engine, kind: str, parent: str) -> None:
    """Add a kind of error below another."""
    prototype = engine.prototype(kind, engine.prototypes[parent])
    prototype.hide("name", kind)
    prototype.hide("message", "")
    made = native(engine, kind, _maker(kind), _maker(kind))
    made.prototype = engine.prototypes[parent].own("constructor")
    made.hide("prototype", prototype)
    prototype.hide("constructor", made)
    engine.define(kind, made)


def _maker(kind: str) -> Callable[[Engine, Value, list[Value]], Awaitable[Value]]:
    async def make(engine: Engine, this: Value, args: list[Value]) -> Value:
        made = engine.make_error(kind, await text_argument(engine, args, 0, ""))
        if argument(args, 0) is UNDEFINED:
            made.remove("message")
        return made

    return make


@natives.method("toString")
async def to_string(engine: Engine, this: Value, args: list[Value]) -> Value:
    """``Kind: message``."""
    if not isinstance(this, JsObject):
        raise engine.type_error(engine.messages.bad_this("Error.prototype.toString", "Error", "object"))
    name = await text_argument(engine, [await get(engine, this, "name")], 0, "Error")
    message = await text_argument(engine, [await get(engine, this, "message")], 0, "")
    return f"{name}: {message}" if name and message else name or message
