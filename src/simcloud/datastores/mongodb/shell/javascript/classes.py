"""Classes: a constructor, its prototype, and what stands on either."""

from __future__ import annotations

from simcloud.datastores.mongodb.shell.javascript import syntax as js
from simcloud.datastores.mongodb.shell.javascript.calls import make_closure
from simcloud.datastores.mongodb.shell.javascript.convert import key_text
from simcloud.datastores.mongodb.shell.javascript.engine import Engine
from simcloud.datastores.mongodb.shell.javascript.evaluate import (
    define_entry,
    evaluate,
    evaluates,
    named_value,
)
from simcloud.datastores.mongodb.shell.javascript.scope import Scope
from simcloud.datastores.mongodb.shell.javascript.values import Closure, JsFunction, JsObject, Value


@evaluates(js.Class)
async def make_class(engine: Engine, node: js.Class, scope: Scope) -> Value:
    """The constructor function that a class is."""
    inner = Scope(scope)
    base = None if node.base is None else await evaluate(engine, node.base, scope)
    if base is not None and not isinstance(base, JsFunction):
        raise engine.type_error(engine.words.not_constructor("(intermediate value)"))
    made = make_closure(engine, _constructor(node), inner, engine.frames[-1].source, node.name)
    made.name = node.name
    made.is_class = True
    made.base = base
    prototype = made.properties["prototype"]
    made.home = prototype
    if base is not None:
        made.prototype = base
        parent = base.find("prototype")
        prototype.prototype = parent if isinstance(parent, JsObject) else None
    if node.name:
        inner.variables[node.name] = made
    await _add_members(engine, node, made, prototype, inner)
    return made


def _constructor(node: js.Class) -> js.Function:
    for member in node.members:
        if _is_constructor(member) and isinstance(member.value, js.Function):
            written = member.value
            return js.Function(
                node.at, node.name, written.params, written.body, node.text, False, written.declared
            )
    body: list[js.Node] = []
    params: list[js.Node] = []
    if node.base is not None:
        args = js.Name(node.at, "args")
        params = [js.Spread(node.at, args)]
        body = [js.Expression(node.at, js.Call(node.at, js.Super(node.at), [js.Spread(node.at, args)]))]
    return js.Function(node.at, node.name, params, body, node.text)


def _is_constructor(member: js.Property) -> bool:
    key = member.key
    return (
        member.kind == "method"
        and not member.static
        and isinstance(key, js.Literal)
        and key.value == "constructor"
    )


async def _add_members(
    engine: Engine, node: js.Class, made: Closure, prototype: JsObject, scope: Scope
) -> None:
    scope.this = made
    for member in node.members:
        if _is_constructor(member):
            continue
        if member.kind == "field" and not member.static:
            made.fields.append(member)
            continue
        owner = made if member.static else prototype
        key = await key_text(engine, await evaluate(engine, member.key, scope))
        if member.kind == "field":
            if member.value is not None:
                owner.put(key, await named_value(engine, member.value, scope, key))
            continue
        await define_entry(engine, owner, key, member, scope)
        owner.hidden[key] = None
