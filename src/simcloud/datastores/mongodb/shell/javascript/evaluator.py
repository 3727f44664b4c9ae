"""Evaluation of expressions: names, literals, properties, calls, assignments."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

from simcloud.datastores.mongodb.shell.javascript import syntax as js
from simcloud.datastores.mongodb.shell.javascript.calls import call, construct, make_closure
from simcloud.datastores.mongodb.shell.javascript.conversions import key_text, text
from simcloud.datastores.mongodb.shell.javascript.engine import Engine, NativeFunction
from simcloud.datastores.mongodb.shell.javascript.operators import apply_unary, binary
from simcloud.datastores.mongodb.shell.javascript.properties import (
    describe,
    find_property,
    get,
    items_of,
    put,
)
from simcloud.datastores.mongodb.shell.javascript.scope import UNREADY, Closure, Scope
from simcloud.datastores.mongodb.shell.javascript.values import (
    MISSING,
    UNDEFINED,
    Accessor,
    JsArray,
    JsFunction,
    JsObject,
    Value,
    truthy,
    type_of,
)

Evaluate = Callable[[Engine, Any, Scope], Awaitable[Value]]
_Function = TypeVar("_Function", bound=Evaluate)
_Sided = TypeVar("_Sided", js.Binary, js.Logical)
_EVALUATE: dict[type, Evaluate] = {}


class ShortCut(Exception):
    """A chain with ``?.`` met null or undefined; its value is undefined."""


def evaluates(kind: type) -> Callable[[_Function], _Function]:
    """Register what evaluates a kind of node."""

    def register(function: _Function) -> _Function:
        _EVALUATE[kind] = function
        return function

    return register


def evaluate(engine: Engine, node: js.Node, scope: Scope) -> Awaitable[Value]:
    """Return the value of an expression. Most operands are simple: ``peek`` first saves their coroutines."""
    return _EVALUATE[type(node)](engine, node, scope)


def peek(node: js.Node, scope: Scope) -> Value:
    """Return the value of a literal, of ``this`` or of a plain variable; ``MISSING`` for all that must be evaluated."""
    if type(node) is js.Name:
        name = node.name
        holder: Scope | None = scope
        while holder is not None:
            if name in holder.variables:
                value = holder.variables[name]
                return MISSING if value is UNREADY or type(value) is Accessor else value
            holder = holder.parent
    elif type(node) is js.Literal:
        return node.value
    elif type(node) is js.This:
        return scope.this
    return MISSING


# -- names and literals --------------------------------------------------------------------------


@evaluates(js.Literal)
async def _literal(engine: Engine, node: js.Literal, scope: Scope) -> Value:
    return node.value


@evaluates(js.Name)
async def _name(engine: Engine, node: js.Name, scope: Scope) -> Value:
    name = node.name
    holder = scope.holder(name)
    if holder is not None:
        value = holder.variables[name]
        if value is UNREADY:
            engine.frames[-1].at = node.at
            raise engine.error("ReferenceError", engine.messages.too_early(name))
        if type(value) is Accessor:
            return await call(engine, value.getter, engine.global_object, [])
        return value
    if name == "undefined":
        return UNDEFINED
    engine.frames[-1].at = node.at
    raise engine.error("ReferenceError", engine.messages.not_defined(name))


@evaluates(js.This)
async def _this(engine: Engine, node: js.This, scope: Scope) -> Value:
    return scope.this


@evaluates(js.Template)
async def _template(engine: Engine, node: js.Template, scope: Scope) -> Value:
    pieces = [node.texts[0]]
    for part, after in zip(node.parts, node.texts[1:], strict=True):
        pieces.append(await text(engine, await evaluate(engine, part, scope)))
        pieces.append(after)
    engine.check_text(sum(map(len, pieces)))
    return engine.charge_text("".join(pieces))


@evaluates(js.RegexLiteral)
async def _regex(engine: Engine, node: js.RegexLiteral, scope: Scope) -> Value:
    engine.frames[-1].at = node.at
    make = engine.prototypes["RegExp"].own("constructor")
    return await construct(engine, make, [node.pattern, node.flags])


@evaluates(js.ArrayLiteral)
async def _array(engine: Engine, node: js.ArrayLiteral, scope: Scope) -> Value:
    return engine.array(await values_of(engine, node.items, scope))


async def values_of(engine: Engine, nodes: list[Any], scope: Scope) -> list[Value]:
    """Return the values of items or arguments, spread ones included."""
    found: list[Value] = []
    for node in nodes:
        if type(node) is js.Spread:
            value = await evaluate(engine, node.value, scope)
            found.extend(await items_of(engine, value, node.value))
            engine.charge_items(len(found))
        elif node is None:
            found.append(UNDEFINED)
        else:
            value = peek(node, scope)
            found.append(await evaluate(engine, node, scope) if value is MISSING else value)
    return found


@evaluates(js.ObjectLiteral)
async def _object(engine: Engine, node: js.ObjectLiteral, scope: Scope) -> Value:
    made = engine.object()
    for entry in node.entries:
        if type(entry) is js.Spread:
            await copy_properties(engine, await evaluate(engine, entry.value, scope), made)
            continue
        assert type(entry) is js.Property
        key = await key_text(engine, await evaluate(engine, entry.key, scope))
        await _define_entry(engine, made, key, entry, scope)
    return made


async def copy_properties(engine: Engine, value: Value, into: JsObject) -> None:
    """Copy an object's own properties, as spreading and ``Object.assign`` do."""
    if type(value) is str:
        value = engine.array(list(value))
    if not isinstance(value, JsObject):
        return
    keys = value.names()
    engine.charge_items(len(keys))
    for key in keys:
        await put(engine, into, key, await get(engine, value, key))


async def _define_entry(engine: Engine, owner: JsObject, key: str, entry: js.Property, scope: Scope) -> None:
    """Set the properties of a literal's entry on an object."""
    if entry.kind == "value":
        value = await evaluate_named(engine, entry.value, scope, key)
        if key == "__proto__" and isinstance(entry.key, js.Literal):
            await put(engine, owner, key, value)
        else:
            owner.put(key, value)
        return
    owner.put(key, await evaluate(engine, entry.value, scope))


async def evaluate_named(engine: Engine, node: js.Node, scope: Scope, name: str) -> Value:
    """Evaluate an expression; a function without a name gets ``name``."""
    value = await evaluate(engine, node, scope)
    if isinstance(node, js.Function) and not node.name:
        value.name = name
    return value


@evaluates(js.Function)
async def _function(engine: Engine, node: js.Function, scope: Scope) -> Value:
    source = engine.frames[-1].source
    if not node.name or node.arrow:
        return make_closure(engine, node, scope, source)
    around = Scope(scope)
    made = make_closure(engine, node, around, source)
    around.variables[node.name] = made
    return made


# -- properties and calls ------------------------------------------------------------------------


async def key_of(engine: Engine, node: js.Member, scope: Scope) -> Value:
    """Evaluate the key of a member expression: text, or a number that may be an array index."""
    if type(node.key) is js.Literal:
        key = node.key.value
        return key if type(key) is str else await key_text(engine, key)
    key = await evaluate(engine, node.key, scope)
    return key if type(key) is str or type(key) is float else await key_text(engine, key)


@evaluates(js.Member)
async def _member(engine: Engine, node: js.Member, scope: Scope) -> Value:
    owner = await owner_of(engine, node, scope)
    return await _read(engine, owner, node, scope)


async def owner_of(engine: Engine, node: js.Member, scope: Scope) -> Value:
    """Return the value whose property a member expression names."""
    owner = peek(node.object, scope)
    if owner is MISSING:
        owner = await evaluate(engine, node.object, scope)
    if node.optional and (owner is None or owner is UNDEFINED):
        raise ShortCut
    return owner


async def _read(engine: Engine, owner: Value, node: js.Member, scope: Scope) -> Value:
    key = peek(node.key, scope)
    if type(key) is not str:
        key = await key_of(engine, node, scope)
    if type(key) is float:
        if type(owner) is JsArray and 0 <= key < len(owner.items) and key % 1 == 0:
            return owner.items[int(key)]
        key = await key_text(engine, key)
    if owner is None or owner is UNDEFINED:
        engine.frames[-1].at = node.at
    found = find_property(engine, owner, key, node.object)
    return found if type(found) is not Accessor else await call(engine, found.getter, owner, [])


@evaluates(js.Call)
async def _call(engine: Engine, node: js.Call, scope: Scope) -> Value:
    callee = node.callee
    this: Value = UNDEFINED
    if type(callee) is js.Member:
        this = await owner_of(engine, callee, scope)
        function = await _read(engine, this, callee, scope)
    else:
        function = await evaluate(engine, callee, scope)
    if node.optional and (function is None or function is UNDEFINED):
        raise ShortCut
    args = await values_of(engine, node.args, scope)
    engine.frames[-1].at = node.at
    if not isinstance(function, JsFunction):
        raise engine.type_error(engine.messages.not_callable(describe(callee)))
    return await call(engine, function, this, args)


@evaluates(js.Chain)
async def _chain(engine: Engine, node: js.Chain, scope: Scope) -> Value:
    try:
        return await evaluate(engine, node.value, scope)
    except ShortCut:
        return UNDEFINED


@evaluates(js.New)
async def _new(engine: Engine, node: js.New, scope: Scope) -> Value:
    function = await evaluate(engine, node.callee, scope)
    args = await values_of(engine, node.args, scope)
    engine.frames[-1].at = node.at
    if type(function) is NativeFunction or type(function) is Closure:
        return await construct(engine, function, args, describe(node.callee))
    raise engine.type_error(engine.messages.not_constructor(describe(node.callee)))


# -- operators -----------------------------------------------------------------------------------


@evaluates(js.Unary)
async def _unary(engine: Engine, node: js.Unary, scope: Scope) -> Value:
    op = node.op
    if op == "typeof":
        if type(node.value) is js.Name and scope.holder(node.value.name) is None:
            return "undefined"
        return type_of(await evaluate(engine, node.value, scope))
    if op == "delete":
        return await _delete(engine, node.value, scope)
    value = await evaluate(engine, node.value, scope)
    if op == "!":
        return not truthy(value)
    if op == "void":
        return UNDEFINED
    return await apply_unary(engine, op, value)


async def _delete(engine: Engine, node: js.Node, scope: Scope) -> Value:
    if type(node) is js.Member:
        owner = await owner_of(engine, node, scope)
        key = await key_text(engine, await key_of(engine, node, scope))
        return owner.remove(key) if isinstance(owner, JsObject) else True
    if type(node) is js.Name and node.name in engine.global_object.properties:
        return engine.global_object.remove(node.name)
    return True


def _spine(node: _Sided) -> list[_Sided]:
    """An operator and those of its kind on its left: long sums are deep trees, and are not to become deep calls."""
    spine = [node]
    while type(spine[-1].left) is type(node):
        spine.append(spine[-1].left)
    return spine


@evaluates(js.Binary)
async def _binary(engine: Engine, node: js.Binary, scope: Scope) -> Value:
    spine = _spine(node)
    left = peek(spine[-1].left, scope)
    if left is MISSING:
        left = await evaluate(engine, spine[-1].left, scope)
    for each in reversed(spine):
        right = peek(each.right, scope)
        if right is MISSING:
            right = await evaluate(engine, each.right, scope)
        left = await binary(engine, each.op, left, right, each)
    return left


@evaluates(js.Logical)
async def _logical(engine: Engine, node: js.Logical, scope: Scope) -> Value:
    spine = _spine(node)
    left = await evaluate(engine, spine[-1].left, scope)
    for each in reversed(spine):
        if goes_on(each.op, left):
            left = await evaluate(engine, each.right, scope)
    return left


def goes_on(op: str, left: Value) -> bool:
    """Return whether a logical operator looks at its right side."""
    if op == "??":
        return left is None or left is UNDEFINED
    return truthy(left) is (op == "&&")


@evaluates(js.Conditional)
async def _conditional(engine: Engine, node: js.Conditional, scope: Scope) -> Value:
    test = truthy(await evaluate(engine, node.test, scope))
    return await evaluate(engine, node.then if test else node.otherwise, scope)


@evaluates(js.Comma)
async def _comma(engine: Engine, node: js.Comma, scope: Scope) -> Value:
    value: Value = UNDEFINED
    for item in node.items:
        value = await evaluate(engine, item, scope)
    return value
