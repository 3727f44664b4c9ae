"""Taking values apart: destructuring in declarations, parameters and assignments."""

from __future__ import annotations

from simcloud.datastores.mongodb.shell.javascript import syntax as js
from simcloud.datastores.mongodb.shell.javascript.assignment import assign_member, assign_name
from simcloud.datastores.mongodb.shell.javascript.convert import key_text
from simcloud.datastores.mongodb.shell.javascript.engine import Engine
from simcloud.datastores.mongodb.shell.javascript.evaluate import evaluate, named_value
from simcloud.datastores.mongodb.shell.javascript.iteration import items_of
from simcloud.datastores.mongodb.shell.javascript.properties import get
from simcloud.datastores.mongodb.shell.javascript.scope import Scope
from simcloud.datastores.mongodb.shell.javascript.values import UNDEFINED, JsObject, Value


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
                value = await named_value(engine, default, scope, name)
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
        assert entry.value is not None
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
