"""``Function``: call, apply and bind. Functions cannot be made from text."""

from __future__ import annotations

from simcloud.datastores.mongodb.shell.javascript.builtins.natives import Natives, argument
from simcloud.datastores.mongodb.shell.javascript.calls import call
from simcloud.datastores.mongodb.shell.javascript.engine import Engine
from simcloud.datastores.mongodb.shell.javascript.properties import items_of
from simcloud.datastores.mongodb.shell.javascript.scope import Closure
from simcloud.datastores.mongodb.shell.javascript.values import UNDEFINED, JsFunction, Value

natives = Natives("Function")


def install(engine: Engine) -> None:
    """Give an engine ``Function``."""
    natives.install(engine, _refuse)


def _refuse(engine: Engine, this: Value, args: list[Value]) -> Value:
    raise engine.error("EvalError", "Code generation from strings disallowed for this context")


def _function(engine: Engine, this: Value, method: str) -> JsFunction:
    if not isinstance(this, JsFunction):
        raise engine.type_error(
            engine.messages.bad_this(f"Function.prototype.{method}", "function", "object")
        )
    return this


@natives.method("call")
async def call_with(engine: Engine, this: Value, args: list[Value]) -> Value:
    """Call with another ``this``."""
    return await call(engine, _function(engine, this, "call"), argument(args, 0), args[1:])


@natives.method("apply")
async def apply(engine: Engine, this: Value, args: list[Value]) -> Value:
    """Call with another ``this`` and arguments from an array."""
    given = argument(args, 1)
    items = [] if given is UNDEFINED or given is None else list(await items_of(engine, given))
    return await call(engine, _function(engine, this, "apply"), argument(args, 0), items)


@natives.method("toString")
def to_string(engine: Engine, this: Value, args: list[Value]) -> Value:
    """Return the function's text."""
    return function_text(_function(engine, this, "toString"))


def function_text(function: JsFunction) -> str:
    """A function as it was written."""
    if isinstance(function, Closure):
        return function.node.text
    return f"function {function.name}() {{\n    [native code]\n}}"
