"""Execution of statements.

A statement returns None, or a ``Leave`` for break, continue or return.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, Final, TypeVar

from msgspec import Struct

from simcloud.datastores.mongodb.shell.javascript import syntax as js
from simcloud.datastores.mongodb.shell.javascript.assignment import bind, bind_parameters
from simcloud.datastores.mongodb.shell.javascript.calls import make_closure, runs_bodies
from simcloud.datastores.mongodb.shell.javascript.engine import Engine
from simcloud.datastores.mongodb.shell.javascript.evaluator import evaluate, evaluate_named
from simcloud.datastores.mongodb.shell.javascript.properties import items_of
from simcloud.datastores.mongodb.shell.javascript.scope import UNREADY, Closure, Scope
from simcloud.datastores.mongodb.shell.javascript.values import (
    UNDEFINED,
    JsObject,
    Thrown,
    Value,
    same,
    truthy,
)
from simcloud.userland.awk import run_flat


class Leave(Struct):
    """How a statement was left: ``break``, ``continue`` or ``return``."""

    kind: str
    value: Value = UNDEFINED


_BREAK: Final = Leave("break")
_CONTINUE: Final = Leave("continue")

Execute = Callable[[Engine, Any, Scope], Awaitable[Leave | None]]
_Function = TypeVar("_Function", bound=Execute)
_EXECUTE: dict[type, Execute] = {}


def executes(kind: type) -> Callable[[_Function], _Function]:
    """Register what runs a kind of statement."""

    def register(function: _Function) -> _Function:
        _EXECUTE[kind] = function
        return function

    return register


async def run_script(engine: Engine, script: js.Script) -> Value:
    """Run a script to its end; gives the value of its last expression. Raises ``Thrown``."""
    for name in script.declared:
        engine.global_object.properties.setdefault(name, UNDEFINED)
    engine.completion = UNDEFINED
    engine.enter("", script.source, 0)
    try:
        await run_flat(_run_all(engine, script.body, engine.global_scope))
    finally:
        engine.frames.pop()
    return engine.completion


async def run_inner(engine: Engine, script: js.Script) -> None:
    """Run a script from inside another one, as ``load`` does."""
    for name in script.declared:
        engine.global_object.properties.setdefault(name, UNDEFINED)
    completion = engine.completion
    engine.enter("", script.source, 0)
    try:
        await _run_all(engine, script.body, engine.global_scope)
    finally:
        engine.completion = completion
        engine.frames.pop()


async def _run_all(engine: Engine, body: list[js.Node], scope: Scope) -> Leave | None:
    _hoist(engine, body, scope)
    for statement in body:
        engine.step()
        leave = await _EXECUTE[type(statement)](engine, statement, scope)
        if leave is not None:
            return leave
    return None


@runs_bodies
async def _run_body(engine: Engine, function: Closure, scope: Scope, args: list[Value]) -> Value:
    node = function.node
    if not node.arrow and "arguments" in node.text:
        scope.variables["arguments"] = engine.array(list(args))
    await bind_parameters(engine, node.params, args, scope)
    for name in node.declared:
        scope.variables.setdefault(name, UNDEFINED)
    leave = await _run_all(engine, node.body, scope)
    return UNDEFINED if leave is None else leave.value


def _hoist(engine: Engine, body: list[js.Node], scope: Scope) -> None:
    for statement in body:
        if isinstance(statement, js.DeclareFunction):
            function = statement.function
            scope.variables[function.name] = make_closure(engine, function, scope, engine.frames[-1].source)
        elif isinstance(statement, js.Declare) and statement.kind != "var":
            for target, _ in statement.bindings:
                for name in js.names_in(target):
                    scope.variables[name] = UNREADY
                    if scope.constants is not None:
                        scope.constants.pop(name, None)


def _execute(engine: Engine, node: js.Node, scope: Scope) -> Awaitable[Leave | None]:
    return _EXECUTE[type(node)](engine, node, scope)


# -- simple ones ---------------------------------------------------------------------------------


@executes(js.Expression)
async def _expression(engine: Engine, node: js.Expression, scope: Scope) -> Leave | None:
    engine.completion = await evaluate(engine, node.value, scope)
    return None


@executes(js.Declare)
async def _declare(engine: Engine, node: js.Declare, scope: Scope) -> Leave | None:
    for target, initial in node.bindings:
        if initial is None:
            if node.kind != "var":
                await bind(engine, target, UNDEFINED, scope, node.kind)
            continue
        name = target.name if isinstance(target, js.Name) else ""
        value = await evaluate_named(engine, initial, scope, name)
        await bind(engine, target, value, scope, node.kind)
    return None


@executes(js.DeclareFunction)
@executes(js.Empty)
async def _nothing(engine: Engine, node: js.Node, scope: Scope) -> Leave | None:
    return None


@executes(js.Block)
async def _block(engine: Engine, node: js.Block, scope: Scope) -> Leave | None:
    return await _run_all(engine, node.body, Scope(scope))


@executes(js.If)
async def _if(engine: Engine, node: js.If, scope: Scope) -> Leave | None:
    if truthy(await evaluate(engine, node.test, scope)):
        return await _execute(engine, node.then, scope)
    return None if node.otherwise is None else await _execute(engine, node.otherwise, scope)


@executes(js.Return)
async def _return(engine: Engine, node: js.Return, scope: Scope) -> Leave | None:
    value = UNDEFINED if node.value is None else await evaluate(engine, node.value, scope)
    return Leave("return", value)


@executes(js.Jump)
async def _jump(engine: Engine, node: js.Jump, scope: Scope) -> Leave | None:
    return _BREAK if node.kind == "break" else _CONTINUE


@executes(js.Throw)
async def _throw(engine: Engine, node: js.Throw, scope: Scope) -> Leave | None:
    value = await evaluate(engine, node.value, scope)
    engine.frames[-1].at = node.at
    raise Thrown(value)


@executes(js.Try)
async def _try(engine: Engine, node: js.Try, scope: Scope) -> Leave | None:
    depth = len(engine.frames)
    leave: Leave | None = None
    problem: Thrown | None = None
    try:
        leave = await _block(engine, node.block, scope)
    except Thrown as thrown:
        problem = thrown.with_traceback(None)  # or it would grow with every function it passes
    if problem is not None and node.handler is not None:
        del engine.frames[depth:]
        inner = Scope(scope)
        caught, problem = problem, None
        try:
            if node.param is not None:
                await bind(engine, node.param, caught.value, inner, "let")
            leave = await _block(engine, node.handler, inner)
        except Thrown as thrown:
            problem = thrown
    if node.finalizer is not None:
        completion = engine.completion
        last = await _block(engine, node.finalizer, scope)
        if last is not None:
            return last
        engine.completion = completion
    if problem is not None:
        raise problem
    return leave


@executes(js.Switch)
async def _switch(engine: Engine, node: js.Switch, scope: Scope) -> Leave | None:
    value = await evaluate(engine, node.value, scope)
    inner = Scope(scope)
    start = None
    for index, (test, _) in enumerate(node.cases):
        if test is not None and same(value, await evaluate(engine, test, inner)):
            start = index
            break
    if start is None:
        start = next((index for index, (test, _) in enumerate(node.cases) if test is None), len(node.cases))
    for _, body in node.cases[start:]:
        leave = await _run_all(engine, body, inner)
        if leave is not None:
            return None if leave is _BREAK else leave
    return None


# -- loops ---------------------------------------------------------------------------------------


async def _turn(engine: Engine, body: js.Node, scope: Scope) -> Leave | None:
    """One turn of a loop; gives what ends the loop, or None to go on."""
    engine.step()
    if engine.count_turn():
        await engine.pay_turns()
    leave = await _EXECUTE[type(body)](engine, body, scope)
    return None if leave is _CONTINUE else leave


def _after(leave: Leave | None) -> Leave | None:
    return None if leave is _BREAK else leave


@executes(js.For)
async def _loop_for(engine: Engine, node: js.For, scope: Scope) -> Leave | None:
    inner = Scope(scope)
    if node.first is not None:
        await _execute(engine, node.first, inner)
    fresh = isinstance(node.first, js.Declare) and node.first.kind == "let"
    while node.test is None or truthy(await evaluate(engine, node.test, inner)):
        leave = await _turn(engine, node.body, inner)
        if leave is not None:
            return _after(leave)
        if fresh:  # each turn has variables of its own, for the functions made in it
            inner = Scope(scope, dict(inner.variables))
        if node.step is not None:
            await evaluate(engine, node.step, inner)
    return None


@executes(js.ForEach)
async def _loop_each(engine: Engine, node: js.ForEach, scope: Scope) -> Leave | None:
    value = await evaluate(engine, node.items, scope)
    items = await items_of(engine, value, node.items) if node.over == "of" else _all_keys(value)
    index = 0
    while index < len(items):  # an array may grow or shrink under the loop
        inner = Scope(scope)
        await bind(engine, node.target, items[index], inner, node.kind)
        leave = await _turn(engine, node.body, inner)
        if leave is not None:
            return _after(leave)
        index += 1
    return None


def _all_keys(value: Value) -> list[Value]:
    if type(value) is str:
        return [str(index) for index in range(len(value))]
    found: dict[str, None] = {}
    while isinstance(value, JsObject):
        found.update(dict.fromkeys(value.names()))
        value = value.prototype
    return list(found)


@executes(js.While)
async def _loop_while(engine: Engine, node: js.While, scope: Scope) -> Leave | None:
    while truthy(await evaluate(engine, node.test, scope)):
        leave = await _turn(engine, node.body, scope)
        if leave is not None:
            return _after(leave)
    return None


@executes(js.DoWhile)
async def _loop_do(engine: Engine, node: js.DoWhile, scope: Scope) -> Leave | None:
    while True:
        leave = await _turn(engine, node.body, scope)
        if leave is not None:
            return _after(leave)
        if not truthy(await evaluate(engine, node.test, scope)):
            return None
