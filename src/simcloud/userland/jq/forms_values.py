"""Expressions that make values: constants, variables, arrays, objects, calls of Python functions."""

from __future__ import annotations

from typing import Any

from simcloud.userland.jq.compiler import Compiler, form, special
from simcloud.userland.jq.direct import OBJECT_BYTES, Direct, NativeCall, directs
from simcloud.userland.jq.functions.collections import object_key
from simcloud.userland.jq.machine import Frame, Op, State
from simcloud.userland.jq.paths import index
from simcloud.userland.jq.scope import Scope
from simcloud.userland.jq.tree import (
    DOT,
    Call,
    Collect,
    Construct,
    Each,
    Identity,
    Literal,
    Pipe,
    Slice,
    Value,
    Variable,
)

ITEMS_PER_CHARGE = 1024
ITEM_BYTES = 32


def one_result(function: Direct, then: Op) -> Op:
    """An operation from a plain function."""

    def op(value: Value, frame: Frame, stack: Any, path: Any) -> State:
        return then, function(value, frame), frame, stack, path

    return op


@form(Identity)
def identity(_: Compiler, __: Identity, then: Op, ___: Scope) -> Op:
    """``.``: nothing to do."""
    return then


@form(Literal)
def literal(_: Compiler, node: Literal, then: Op, __: Scope) -> Op:
    """A constant."""
    constant = node.value

    def op(_: Value, frame: Frame, stack: Any, path: Any) -> State:
        return then, constant, frame, stack, path

    return op


@form(Variable)
def variable(compiler: Compiler, node: Variable, then: Op, scope: Scope) -> Op:
    """``$name``."""
    function = compiler.direct(node, scope)
    assert function is not None
    return one_result(function, then)


@form(Collect)
def collect(compiler: Compiler, node: Collect, then: Op, scope: Scope) -> Op:
    """``[…]``: all results of the body."""
    push, pop, run = compiler.push, compiler.pop, compiler.run
    hold = run.hold

    def append(item: Value, _: Frame, stack: Any, __: Any) -> State:
        items = stack[0]
        items.append(hold(item))
        if len(items) % ITEMS_PER_CHARGE == 0:
            run.spend_bytes(ITEMS_PER_CHARGE * ITEM_BYTES)
        return pop()

    body = compiler.compile(node.body, append, scope)

    def finish(items: list[Value], frame: Frame, stack: Any, path: Any) -> State:
        run.spend_bytes(ITEM_BYTES)
        return then, items, frame, stack, path

    def op(value: Value, frame: Frame, stack: Any, path: Any) -> State:
        items: list[Value] = []
        push((finish, items, frame, stack, path))
        return body, value, frame, (items, stack), path

    return op


@form(Construct)
def construct(compiler: Compiler, node: Construct, then: Op, scope: Scope) -> Op:
    """``{…}``: an object for every combination of results, the first pair's changing slowest."""
    whole = compiler.direct(node, scope)
    if whole is not None:
        return one_result(whole, then)
    run = compiler.run

    def finish(_: Value, frame: Frame, stack: Any, __: Any) -> State:
        _, path, made, rest = stack
        run.spend_bytes(OBJECT_BYTES)
        return then, made, frame, rest, path

    op: Op = finish
    for key, item in reversed(node.pairs):
        op = _pair(compiler, key, item, op, scope)
    first = op

    def begin(value: Value, frame: Frame, stack: Any, path: Any) -> State:
        return first, value, frame, (value, path, {}, stack), None

    return begin


def _pair(compiler: Compiler, key: Any, item: Any, then: Op, scope: Scope) -> Op:
    """One pair; the stack holds (value, path, the object so far, stack)."""
    run = compiler.run

    def insert(entry: Value, frame: Frame, stack: Any, _: Any) -> State:
        name, (value, path, made, rest) = stack
        made = {**made, object_key(name): run.hold(entry)}
        return then, value, frame, (value, path, made, rest), None

    if item is None:

        def with_key(name: Value, frame: Frame, stack: Any, _: Any) -> State:
            return insert(index(stack[0], name, run), frame, (name, stack), None)

    else:
        body = compiler.compile(item, insert, scope)

        def with_key(name: Value, frame: Frame, stack: Any, _: Any) -> State:
            return body, stack[0], frame, (name, stack), None

    return compiler.compile(key, with_key, scope)


@form(Slice)
def slice_key(compiler: Compiler, node: Slice, then: Op, scope: Scope) -> Op:
    """The key of a slice is an object of its ends."""
    pairs = ((Literal("start"), node.start), (Literal("end"), node.stop))
    return compiler.compile(Construct(pairs), then, scope)


@form(Call)
def call(compiler: Compiler, node: Call, then: Op, scope: Scope) -> Op:
    """``name(…)``."""
    native = compiler.native(node, scope)
    if native is None or (node.name, len(node.arguments)) == ("getpath", 1):
        return compiler.call(node, then, scope)
    arguments = directs(compiler, native.arguments, scope)
    if arguments is not None:
        function = compiler.direct(node, scope)
        assert function is not None
        return one_result(function, then)
    return native_call(compiler, native, then, scope)


def native_call(compiler: Compiler, native: NativeCall, then: Op, scope: Scope) -> Op:
    """A Python function for every combination of its arguments' results, the first's changing fastest."""
    run, function = compiler.run, native.function

    def apply(argument: Value, frame: Frame, stack: Any, _: Any) -> State:
        value, path, given, rest = stack
        return then, function(run, value, argument, *given), frame, rest, path

    op: Op = apply
    for place, argument in enumerate(native.arguments):
        op = compiler.compile(argument, op, scope)
        if place + 1 < len(native.arguments):
            op = _keep_argument(op)
    first = op

    def begin(value: Value, frame: Frame, stack: Any, path: Any) -> State:
        return first, value, frame, (value, path, (), stack), None

    return begin


def _keep_argument(following: Op) -> Op:
    def op(argument: Value, frame: Frame, stack: Any, _: Any) -> State:
        value, path, given, rest = stack
        return following, value, frame, (value, path, (argument, *given), rest), None

    return op


@special("empty", 0)
def empty(compiler: Compiler, _: Call, __: Op, ___: Scope) -> Op:
    """No result."""
    pop = compiler.pop

    def op(_: Value, __: Frame, ___: Any, ____: Any) -> State:
        return pop()

    return op


@special("input", 0)
@special("_input", 0)
def next_input(compiler: Compiler, _: Call, then: Op, __: Scope) -> Op:
    """The next input."""
    take = compiler.machine.next_input

    def op(_: Value, frame: Frame, stack: Any, path: Any) -> State:
        return then, take(), frame, stack, path

    return op


@special("map", 1)
def mapping(compiler: Compiler, node: Call, then: Op, scope: Scope) -> Op:
    """``map(f)`` is ``[.[] | f]``."""
    body = Collect(Pipe(Each(DOT, False), node.arguments[0]))
    return compiler.compile(body, then, scope.argument(node.at, 0))


def _message(kind: str) -> Any:
    def make(compiler: Compiler, _: Call, then: Op, __: Scope) -> Op:
        outbox = compiler.machine.outbox

        def op(value: Value, frame: Frame, stack: Any, path: Any) -> State:
            outbox.append((kind, value))
            return then, value, frame, stack, path

        return op

    return make


special("debug", 0)(_message("debug"))
special("stderr", 0)(_message("stderr"))
