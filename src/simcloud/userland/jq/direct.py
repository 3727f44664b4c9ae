"""Expressions that always have exactly one result, as plain functions of the value and the frame.

Most conditions, keys, arguments and parts of objects are of this kind (``.a.b``, ``$x``, ``length > 3``), so this
makes programs fast. These functions are used where no path is followed.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

from msgspec import Struct

from simcloud.userland.jq.functions.collections import object_key
from simcloud.userland.jq.functions.registry import Function as NativeFunction
from simcloud.userland.jq.machine import Frame
from simcloud.userland.jq.paths import index
from simcloud.userland.jq.run import Run
from simcloud.userland.jq.scope import Scope, Variable as ScopeVariable, frame_getter
from simcloud.userland.jq.tree import (
    OPERATORS,
    Alternative,
    Call,
    Collect,
    Condition,
    Construct,
    Identity,
    Index,
    Literal,
    Logic,
    Node,
    Pipe,
    Slice,
    Value,
    Variable,
    stages,
)
from simcloud.userland.jq.values import truth

Direct = Callable[[Value, Frame], Value]

OPERATOR_NAMES = frozenset(OPERATORS.values())
OBJECT_BYTES = 100


class NativeCall(Struct, frozen=True):
    """A call of a Python function. A chain of operators is one call with many arguments."""

    function: NativeFunction
    arguments: list[Node]


class Compiler(Protocol):
    """The compiler, as direct functions use it."""

    run: Run

    def direct(self, node: Node, scope: Scope) -> Direct | None:
        """A function for an expression with exactly one result; None for others."""

    def variable(self, node: Variable, scope: Scope) -> ScopeVariable | Literal:
        """Resolve a variable."""

    def native(self, node: Call, scope: Scope) -> NativeCall | None:
        """The call of a built-in function; None when it is something else."""


def direct(compiler: Compiler, node: Node, scope: Scope) -> Direct | None:
    """The function for a node, or nothing if it may have no result or several."""
    make = _MAKERS.get(type(node))
    return make(compiler, node, scope) if make else None


def directs(compiler: Compiler, nodes: list[Node], scope: Scope) -> list[Direct] | None:
    """The functions for several nodes, or nothing if one of them has none."""
    made: list[Direct] = []
    for node in nodes:
        function = compiler.direct(node, scope)
        if function is None:
            return None
        made.append(function)
    return made


def _identity(_: Compiler, __: Identity, ___: Scope) -> Direct:
    return lambda value, frame: value


def _literal(_: Compiler, node: Literal, __: Scope) -> Direct:
    constant = node.value
    return lambda value, frame: constant


def _variable(compiler: Compiler, node: Variable, scope: Scope) -> Direct | None:
    found = compiler.variable(node, scope)
    if isinstance(found, Literal):
        return _literal(compiler, found, scope)
    slot, hops = found.slot, scope.hops(found.code)
    if hops == 0:
        return lambda value, frame: frame[slot]
    up = frame_getter(hops)
    return lambda value, frame: up(frame)[slot]


def _index(compiler: Compiler, node: Index, scope: Scope) -> Direct | None:
    if node.optional:
        return None
    run = compiler.run
    both = directs(compiler, [node.term, node.key], scope)
    if both is None:
        return None
    term, key = both
    if isinstance(node.key, Literal):
        constant = node.key.value
        if isinstance(node.term, Identity):
            return lambda value, frame: index(value, constant, run)
        return lambda value, frame: index(term(value, frame), constant, run)

    def lookup(value: Value, frame: Frame) -> Value:
        place = key(value, frame)
        return index(term(value, frame), place, run)

    return lookup


def _slice(compiler: Compiler, node: Slice, scope: Scope) -> Direct | None:
    ends = directs(compiler, [node.start, node.stop], scope)
    if ends is None:
        return None
    start, stop = ends
    return lambda value, frame: {"start": start(value, frame), "end": stop(value, frame)}


def _pipe(compiler: Compiler, node: Pipe, scope: Scope) -> Direct | None:
    functions = directs(compiler, stages(node), scope)
    if functions is None:
        return None

    def flow(value: Value, frame: Frame) -> Value:
        for function in functions:
            value = function(value, frame)
        return value

    return flow


def _logic(compiler: Compiler, node: Logic, scope: Scope) -> Direct | None:
    both = directs(compiler, [node.left, node.right], scope)
    if both is None:
        return None
    left, right = both
    if node.word == "and":
        return lambda value, frame: truth(left(value, frame)) and truth(right(value, frame))
    return lambda value, frame: truth(left(value, frame)) or truth(right(value, frame))


def _alternative(compiler: Compiler, node: Alternative, scope: Scope) -> Direct | None:
    both = directs(compiler, [node.left, node.right], scope)
    if both is None:
        return None
    left, right = both

    def choose(value: Value, frame: Frame) -> Value:
        first = left(value, frame)
        return first if first is not None and first is not False else right(value, frame)

    return choose


def _condition(compiler: Compiler, node: Condition, scope: Scope) -> Direct | None:
    parts = directs(compiler, [node.test, node.positive, node.negative], scope)
    if parts is None:
        return None
    test, positive, negative = parts
    return lambda value, frame: (positive if truth(test(value, frame)) else negative)(value, frame)


def _collect(compiler: Compiler, node: Collect, scope: Scope) -> Direct | None:
    body = compiler.direct(node.body, scope)
    return None if body is None else lambda value, frame: [body(value, frame)]


def _construct(compiler: Compiler, node: Construct, scope: Scope) -> Direct | None:
    keys = directs(compiler, [key for key, _ in node.pairs], scope)
    values = directs(compiler, [key if value is None else value for key, value in node.pairs], scope)
    if keys is None or values is None or any(value is None for _, value in node.pairs):
        return None
    run = compiler.run
    parts = list(zip(keys, values, strict=True))

    def build(value: Value, frame: Frame) -> Value:
        run.spend_bytes(OBJECT_BYTES)
        made: dict[str, Value] = {}
        for key, item in parts:
            name = key(value, frame)
            entry = item(value, frame)
            made[object_key(name)] = run.hold(entry)
        return made

    return build


def _call(compiler: Compiler, node: Call, scope: Scope) -> Direct | None:
    native = compiler.native(node, scope)
    if native is None:
        return None
    arguments = directs(compiler, native.arguments, scope)
    if arguments is None:
        return None
    run, function = compiler.run, native.function
    if not arguments:
        return lambda value, frame: function(run, value)
    if len(arguments) == 1:
        only = arguments[0]
        return lambda value, frame: function(run, value, only(value, frame))
    if len(arguments) == 2:
        first, second = arguments

        def call_two(value: Value, frame: Frame) -> Value:
            right = second(value, frame)
            return function(run, value, first(value, frame), right)

        return call_two

    def call(value: Value, frame: Frame) -> Value:
        given = [argument(value, frame) for argument in reversed(arguments)]
        return function(run, value, *reversed(given))

    return call


_MAKERS: dict[type, Callable[[Any, Any, Scope], Direct | None]] = {
    Identity: _identity,
    Literal: _literal,
    Variable: _variable,
    Index: _index,
    Slice: _slice,
    Pipe: _pipe,
    Logic: _logic,
    Alternative: _alternative,
    Condition: _condition,
    Collect: _collect,
    Construct: _construct,
    Call: _call,
}
