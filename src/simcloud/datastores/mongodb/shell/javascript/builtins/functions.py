"""``Function``: calling by other means, and functions made from text."""

from __future__ import annotations

from simcloud.datastores.mongodb.shell.javascript.builtins.natives import Natives, argument, native
from simcloud.datastores.mongodb.shell.javascript.calls import call
from simcloud.datastores.mongodb.shell.javascript.convert import text
from simcloud.datastores.mongodb.shell.javascript.engine import Engine
from simcloud.datastores.mongodb.shell.javascript.evaluate import evaluate
from simcloud.datastores.mongodb.shell.javascript.iteration import items_of
from simcloud.datastores.mongodb.shell.javascript.parser import parse
from simcloud.datastores.mongodb.shell.javascript.syntax import Expression, Source
from simcloud.datastores.mongodb.shell.javascript.tokens import SyntaxFailure
from simcloud.datastores.mongodb.shell.javascript.values import UNDEFINED, Closure, JsFunction, Value

natives = Natives("Function")


def install(engine: Engine) -> None:
    """Give an engine ``Function``."""
    natives.install(engine, _from_text, _from_text)


async def _from_text(engine: Engine, this: Value, args: list[Value]) -> Value:
    texts = [await text(engine, arg) for arg in args] or [""]
    written = f"(function anonymous({','.join(texts[:-1])}\n) {{\n{texts[-1]}\n}})"
    source = Source(written, "(shell) > Function")
    engine.work(len(written) * 4)
    try:
        script = parse(source, engine.words)
    except SyntaxFailure as failure:
        raise engine.error("SyntaxError", str(failure)) from None
    statement = script.body[0]
    assert isinstance(statement, Expression)
    engine.enter("", source, 0)
    try:
        return await evaluate(engine, statement.value, engine.global_scope)
    finally:
        engine.frames.pop()


def _function(engine: Engine, this: Value, method: str) -> JsFunction:
    if not isinstance(this, JsFunction):
        raise engine.type_error(engine.words.bad_this(f"Function.prototype.{method}", "function", "object"))
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


@natives.method("bind")
def bind(engine: Engine, this: Value, args: list[Value]) -> Value:
    """A function with ``this`` and first arguments fixed."""
    target = _function(engine, this, "bind")
    bound_this, bound = argument(args, 0), args[1:]

    async def run(engine: Engine, this: Value, rest: list[Value]) -> Value:
        return await call(engine, target, bound_this, [*bound, *rest])

    return native(engine, f"bound {target.name}", run)


@natives.method("toString")
def to_string(engine: Engine, this: Value, args: list[Value]) -> Value:
    """The function's text."""
    return function_text(_function(engine, this, "toString"))


def function_text(function: JsFunction) -> str:
    """A function as it was written."""
    if isinstance(function, Closure):
        return function.node.text
    return f"function {function.name}() {{\n    [native code]\n}}"
