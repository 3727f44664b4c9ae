"""Assignments to variables, properties and patterns, and destructuring in declarations and parameters."""

from __future__ import annotations

from simcloud.datastores.mongodb.shell.javascript import syntax as js
from simcloud.datastores.mongodb.shell.javascript.conversions import key_text
from simcloud.datastores.mongodb.shell.javascript.engine import Engine
from simcloud.datastores.mongodb.shell.javascript.evaluator import (
    evaluate,
    evaluate_named,
    evaluates,
    key_of,
    owner_of,
)
from simcloud.datastores.mongodb.shell.javascript.operators import binary, numeric
from simcloud.datastores.mongodb.shell.javascript.properties import describe, get, items_of, put
from simcloud.datastores.mongodb.shell.javascript.scope import UNREADY, Scope
from simcloud.datastores.mongodb.shell.javascript.values import UNDEFINED, JsArray, JsObject, Value


async def assign_name(engine: Engine, node: js.Name, value: Value, scope: Scope) -> None:
    """Set a variable; an undeclared one becomes global."""
    name = node.name
    holder = scope.holder(name) or engine.global_scope
    if holder.constants is not None and name in holder.constants:
        engine.frames[-1].at = node.at
        raise engine.type_error(engine.messages.constant(name))
    if holder.variables.get(name) is UNREADY:
        engine.frames[-1].at = node.at
        raise engine.error("ReferenceError", engine.messages.too_early(name))
    if holder is engine.global_scope:
        await put(engine, engine.global_object, name, value)
    else:
        holder.variables[name] = value


@evaluates(js.Assign)
async def _assign(engine: Engine, node: js.Assign, scope: Scope) -> Value:
    target, op = node.target, node.op
    if type(target) is js.Member:
        return await _assign_member(engine, node, target, scope)
    if type(target) is js.Name:
        if op != "=":
            before = await evaluate(engine, target, scope)
            value = await _combine(engine, node, before, scope)
        else:
            value = await evaluate_named(engine, node.value, scope, target.name)
        await assign_name(engine, target, value, scope)
        return value
    value = await evaluate(engine, node.value, scope)
    await bind(engine, target, value, scope, "")
    return value


async def _combine(engine: Engine, node: js.Assign, before: Value, scope: Scope) -> Value:
    value = await evaluate(engine, node.value, scope)
    return await binary(engine, node.op[:-1], before, value, node)


async def _assign_member(engine: Engine, node: js.Assign, target: js.Member, scope: Scope) -> Value:
    owner = await owner_of(engine, target, scope)
    key = await key_of(engine, target, scope)
    if node.op == "=":
        name = "" if engine.messages.is_v8 else describe(target)
        value = await evaluate_named(engine, node.value, scope, name)
    else:
        before = await get(engine, owner, await key_text(engine, key), target.object)
        value = await _combine(engine, node, before, scope)
    await put_member(engine, owner, key, value, target)
    return value


async def put_member(engine: Engine, owner: Value, key: Value, value: Value, target: js.Member) -> None:
    """Set what a member expression names."""
    if type(key) is float:
        if type(owner) is JsArray and 0 <= key < len(owner.items) and key % 1 == 0:
            owner.items[int(key)] = value
            return
        key = await key_text(engine, key)
    engine.frames[-1].at = target.at
    await put(engine, owner, key, value, target.object)


async def assign_member(engine: Engine, target: js.Member, value: Value, scope: Scope) -> None:
    """Set a property that a pattern names."""
    owner = await owner_of(engine, target, scope)
    await put_member(engine, owner, await key_of(engine, target, scope), value, target)


@evaluates(js.Update)
async def _update(engine: Engine, node: js.Update, scope: Scope) -> Value:
    step = 1.0 if node.op == "++" else -1.0
    target = node.target
    if type(target) is js.Name:
        before = await numeric(engine, await evaluate(engine, target, scope))
        await assign_name(engine, target, before + step, scope)
    else:
        assert type(target) is js.Member
        owner = await owner_of(engine, target, scope)
        key = await key_of(engine, target, scope)
        found = await get(engine, owner, await key_text(engine, key), target.object)
        before = await numeric(engine, found)
        await put_member(engine, owner, key, before + step, target)
    return before + step if node.prefix else before


# -- patterns ------------------------------------------------------------------------------------


async def bind(engine: Engine, target: js.Node, value: Value, scope: Scope, kind: str) -> None:
    """Set a target; ``kind`` is how it is being declared (var, let, const) or empty."""
    match target:
        case js.Name(_, name):
            if kind == "const":
                scope.constant(name, value)
            elif kind in ("let", "param"):
                scope.variables[name] = value
            else:
                await assign_name(engine, target, value, scope)
        case js.Member():
            await assign_member(engine, target, value, scope)
        case js.Default(_, inner, default):
            if value is UNDEFINED:
                name = inner.name if isinstance(inner, js.Name) else ""
                value = await evaluate_named(engine, default, scope, name)
            await bind(engine, inner, value, scope, kind)
        case js.ArrayPattern():
            await _bind_array(engine, target, value, scope, kind)
        case js.ObjectPattern():
            await _bind_object(engine, target, value, scope, kind)


async def _bind_array(engine: Engine, target: js.ArrayPattern, value: Value, scope: Scope, kind: str) -> None:
    engine.frames[-1].at = target.at
    items = await items_of(engine, value)
    for index, each in enumerate(target.items):
        if type(each) is js.Spread:
            await bind(engine, each.value, engine.array(items[index:]), scope, kind)
        elif each is not None:
            await bind(engine, each, items[index] if index < len(items) else UNDEFINED, scope, kind)


async def _bind_object(
    engine: Engine, target: js.ObjectPattern, value: Value, scope: Scope, kind: str
) -> None:
    engine.frames[-1].at = target.at
    taken: dict[str, None] = {}
    if value is UNDEFINED or value is None:
        await get(engine, value, "", target)
    for entry in target.entries:
        if isinstance(entry, js.Spread):
            rest = engine.object()
            for key in value.names() if isinstance(value, JsObject) else []:
                if key not in taken:
                    rest.put(key, await get(engine, value, key))
            await bind(engine, entry.value, rest, scope, kind)
            continue
        key = await key_text(engine, await evaluate(engine, entry.key, scope))
        taken[key] = None
        await bind(engine, entry.value, await get(engine, value, key, entry.key), scope, kind)


async def bind_parameters(engine: Engine, params: list[js.Node], args: list[Value], scope: Scope) -> None:
    """Give a function its arguments."""
    count = len(args)
    for index, param in enumerate(params):
        if type(param) is js.Name:
            scope.variables[param.name] = args[index] if index < count else UNDEFINED
        elif type(param) is js.Spread:
            await bind(engine, param.value, engine.array(args[index:]), scope, "param")
        else:
            await bind(engine, param, args[index] if index < count else UNDEFINED, scope, "param")
