"""Assignments: to variables, properties and patterns."""

from __future__ import annotations

from simcloud.datastores.mongodb.shell.javascript import syntax as js
from simcloud.datastores.mongodb.shell.javascript.convert import key_text
from simcloud.datastores.mongodb.shell.javascript.engine import Engine
from simcloud.datastores.mongodb.shell.javascript.evaluate import (
    evaluate,
    evaluates,
    goes_on,
    key_of,
    named_value,
    owner_of,
)
from simcloud.datastores.mongodb.shell.javascript.operators import binary, numeric
from simcloud.datastores.mongodb.shell.javascript.properties import describe, get, put
from simcloud.datastores.mongodb.shell.javascript.scope import UNREADY, Scope
from simcloud.datastores.mongodb.shell.javascript.values import JsArray, Value


async def assign_name(engine: Engine, node: js.Name, value: Value, scope: Scope) -> None:
    """Set a variable; one that nobody declared becomes a global one."""
    name = node.name
    holder = scope.holder(name) or engine.global_scope
    if holder.constants is not None and name in holder.constants:
        engine.frames[-1].at = node.at
        raise engine.type_error(engine.words.constant(name))
    if holder.variables.get(name) is UNREADY:
        engine.frames[-1].at = node.at
        raise engine.error("ReferenceError", engine.words.too_early(name))
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
            if op in ("&&=", "||=", "??=") and not goes_on(op[:-1], before):
                return before
            value = await _combined(engine, node, before, scope)
        else:
            value = await named_value(engine, node.value, scope, target.name)
        await assign_name(engine, target, value, scope)
        return value
    from simcloud.datastores.mongodb.shell.javascript.patterns import bind

    value = await evaluate(engine, node.value, scope)
    await bind(engine, target, value, scope, "")
    return value


async def _combined(engine: Engine, node: js.Assign, before: Value, scope: Scope) -> Value:
    value = await evaluate(engine, node.value, scope)
    if node.op in ("&&=", "||=", "??="):
        return value
    return await binary(engine, node.op[:-1], before, value, node)


async def _assign_member(engine: Engine, node: js.Assign, target: js.Member, scope: Scope) -> Value:
    owner = await owner_of(engine, target, scope)
    key = await key_of(engine, target, scope)
    if node.op == "=":
        name = "" if engine.words.is_v8 else describe(target)
        value = await named_value(engine, node.value, scope, name)
    else:
        before = await get(engine, owner, await key_text(engine, key), target.object)
        if node.op in ("&&=", "||=", "??=") and not goes_on(node.op[:-1], before):
            return before
        value = await _combined(engine, node, before, scope)
    await put_member(engine, owner, key, value, target)
    return value


async def put_member(engine: Engine, owner: Value, key: Value, value: Value, target: js.Member) -> None:
    """Set what a member expression names."""
    if type(key) is float:
        if type(owner) is JsArray and 0 <= key < len(owner.items) and key % 1 == 0 and not owner.frozen:
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
