"""Calling functions and making objects with ``new``.

A script's function runs as a coroutine of its own on a list (``invoke``), so that deep recursion in a
script never becomes deep recursion in Python.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from inspect import iscoroutine
from typing import Any

from simcloud.datastores.mongodb.shell.javascript import syntax as js
from simcloud.datastores.mongodb.shell.javascript.engine import Engine
from simcloud.datastores.mongodb.shell.javascript.scope import Scope
from simcloud.datastores.mongodb.shell.javascript.values import (
    MISSING,
    UNDEFINED,
    Closure,
    JsFunction,
    JsObject,
    NativeFunction,
    Value,
)
from simcloud.userland.awk.flat import invoke

NEW_TARGET = "new.target"
"""The variable in which a constructor finds what ``new`` was used on; no script can write that name."""

RunBody = Callable[[Engine, Closure, Scope, list[Value]], Awaitable[Value]]
_run_body: list[RunBody] = []
"""How a body is run; ``execute.py`` puts it here, because running needs calling and calling running."""


def runs_bodies(run: RunBody) -> RunBody:
    """Register what runs a function's body."""
    _run_body.append(run)
    return run


async def call(engine: Engine, function: Value, this: Value, args: list[Value]) -> Value:
    """Call a function."""
    if type(function) is NativeFunction:
        await engine.turn()
        result = function.run(engine, this, args)
        return await result if function.waits else result
    if type(function) is not Closure:
        raise engine.type_error(engine.words.not_callable(_shown(function)))
    if function.is_class:
        raise engine.type_error(engine.words.class_without_new(function.name))
    return await invoke(_run(engine, function, this, args, None))


def _shown(value: Value) -> str:
    from simcloud.datastores.mongodb.shell.javascript.convert import plain_text

    return "object" if isinstance(value, JsObject) else plain_text(value)


async def _run(
    engine: Engine, function: Closure, this: Value, args: list[Value], target: JsObject | None
) -> Value:
    await engine.turn()
    scope = Scope(function.scope)
    if not function.node.arrow:
        if (this is UNDEFINED or this is None) and target is None:
            this = engine.global_object
        scope.this = this
        scope.callee = function
        scope.variables[NEW_TARGET] = target
    engine.enter(function.name, function.source, function.node.at)
    completion = engine.completion
    try:
        result = await _run_body[0](engine, function, scope, args)
    finally:
        engine.completion = completion
        engine.frames.pop()
    if target is not None:
        return result if isinstance(result, JsObject) else scope.this
    return result


async def construct(
    engine: Engine, function: Value, args: list[Value], target: JsObject | None = None, text: str = ""
) -> Value:
    """``new function(...args)``; ``target`` is the class that is really being made."""
    target = target or function
    if type(function) is NativeFunction and function.construct is not None:
        made: Any = function.construct(engine, UNDEFINED, args)
        made = await made if iscoroutine(made) else made
        if target is not function and isinstance(target, JsFunction):
            prototype = target.find("prototype")
            made.prototype = prototype if isinstance(prototype, JsObject) else made.prototype
        return made
    if type(function) is not Closure or function.node.arrow:
        raise engine.type_error(engine.words.not_constructor(text or _shown(function)))
    this: Value = UNDEFINED
    if function.base is None:
        prototype = target.find("prototype") if isinstance(target, JsObject) else MISSING
        this = JsObject(prototype if isinstance(prototype, JsObject) else engine.object_prototype)
        await initialize_fields(engine, function, this)
    return await invoke(_run(engine, function, this, args, target))


async def initialize_fields(engine: Engine, function: Closure, this: JsObject) -> None:
    """Give a new object the fields its class declares."""
    if not function.fields:
        return
    from simcloud.datastores.mongodb.shell.javascript.convert import key_text
    from simcloud.datastores.mongodb.shell.javascript.evaluate import evaluate

    scope = Scope(function.scope)
    scope.this = this
    for member in function.fields:
        value = UNDEFINED if member.value is None else await evaluate(engine, member.value, scope)
        this.put(await key_text(engine, await evaluate(engine, member.key, scope)), value)


def make_closure(
    engine: Engine, node: js.Function, scope: Scope, source: js.Source, name: str = ""
) -> Closure:
    """A function of the script."""
    made = Closure(engine.function_prototype, node, scope, source, node.name or name)
    if not node.arrow:
        prototype = engine.object()
        prototype.hide("constructor", made)
        made.hide("prototype", prototype)
    return made
