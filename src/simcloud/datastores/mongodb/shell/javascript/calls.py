"""Calls of functions, and ``new``.

A script's function runs as a coroutine on an explicit stack (``invoke``), so that deep recursion in a script is not
deep recursion in Python.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from inspect import iscoroutine
from typing import Any

from simcloud.datastores.mongodb.shell.javascript import syntax as js
from simcloud.datastores.mongodb.shell.javascript.engine import Engine, NativeFunction
from simcloud.datastores.mongodb.shell.javascript.scope import Closure, Scope
from simcloud.datastores.mongodb.shell.javascript.values import UNDEFINED, JsObject, Value, plain_text
from simcloud.userland.awk import invoke

RunBody = Callable[[Engine, Closure, Scope, list[Value]], Awaitable[Value]]
_run_body: list[RunBody] = []
"""The function that runs a body; ``executor.py`` registers it, because the two modules need each other."""


def runs_bodies(run: RunBody) -> RunBody:
    """Register what runs a function's body."""
    _run_body.append(run)
    return run


async def call(engine: Engine, function: Value, this: Value, args: list[Value]) -> Value:
    """Call a function."""
    if type(function) is NativeFunction:
        if engine.count_turn():
            await engine.pay_turns()
        result = function.run(engine, this, args)
        return await result if function.waits else result
    if type(function) is not Closure:
        raise engine.type_error(engine.messages.not_callable(_format_callee(function)))
    return await invoke(_run(engine, function, this, args))


def _format_callee(value: Value) -> str:
    return "object" if isinstance(value, JsObject) else plain_text(value)


async def _run(
    engine: Engine, function: Closure, this: Value, args: list[Value], *, new: bool = False
) -> Value:
    if engine.count_turn():
        await engine.pay_turns()
    scope = Scope(function.scope)
    if not function.node.arrow:
        if this is UNDEFINED or this is None:
            this = engine.global_object
        scope.this = this
    engine.enter(function.name, function.source, function.node.at)
    completion = engine.completion
    try:
        result = await _run_body[0](engine, function, scope, args)
    finally:
        engine.completion = completion
        engine.frames.pop()
    if new:
        return result if isinstance(result, JsObject) else scope.this
    return result


async def construct(engine: Engine, function: Value, args: list[Value], text: str = "") -> Value:
    """``new function(...args)``."""
    if type(function) is NativeFunction and function.construct is not None:
        made: Any = function.construct(engine, UNDEFINED, args)
        return await made if iscoroutine(made) else made
    if type(function) is not Closure or function.node.arrow:
        raise engine.type_error(engine.messages.not_constructor(text or _format_callee(function)))
    prototype = function.find("prototype")
    this = JsObject(prototype if isinstance(prototype, JsObject) else engine.object_prototype)
    return await invoke(_run(engine, function, this, args, new=True))


def make_closure(
    engine: Engine, node: js.Function, scope: Scope, source: js.Source, name: str = ""
) -> Closure:
    """Return a function of the script."""
    made = Closure(engine.function_prototype, node, scope, source, node.name or name)
    if not node.arrow:
        prototype = engine.object()
        prototype.hide("constructor", made)
        made.hide("prototype", prototype)
    return made
