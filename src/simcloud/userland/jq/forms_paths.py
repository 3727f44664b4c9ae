"""Access to values: ``.a``, ``.[]``, ``path(…)`` and updates."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from simcloud.userland.jq.compiler import Compiler, form, special
from simcloud.userland.jq.errors import JqError
from simcloud.userland.jq.functions.registry import describe
from simcloud.userland.jq.machine import AlternativeCatch, Frame, LabelCatch, Op, State, TryCatch
from simcloud.userland.jq.output import brief
from simcloud.userland.jq.paths import Draft, get_path, index
from simcloud.userland.jq.run import Run
from simcloud.userland.jq.scope import Scope
from simcloud.userland.jq.tree import (
    DOT,
    OPERATORS,
    Alternative,
    Call,
    Each,
    Index,
    Literal,
    Node,
    Update,
    Value,
    Variable,
)

KEY_BYTES = 14
VALUE_BYTES = 29


def same(a: Value, b: Value) -> bool:
    """Whether two values are one and the same, as far as paths are concerned."""
    return a is b or (type(a) is float and type(b) is float and a == b)


def keys_of(path: Any) -> list[Value]:
    """The keys of a path, first to last."""
    chain, keys = path[0], []
    while chain is not None:
        chain, key = chain
        keys.append(key)
    keys.reverse()
    return keys


def step(value: Value, key: Value, path: Any, run: Run) -> tuple[Value, Any]:
    """``value[key]`` and the path to it."""
    if path is None:
        return index(value, key, run), None
    if not same(value, path[1]):
        what = f"access element {brief(key, KEY_BYTES)} of {brief(value, VALUE_BYTES)}"
        raise JqError(f"Invalid path expression near attempt to {what}")
    item = index(value, key, run)
    return item, ((path[0], key), item)


def check_iteration(value: Value, path: Any) -> None:
    """Only a part of the input has parts that paths lead to."""
    if path is not None and not same(value, path[1]):
        what = f"iterate through {brief(value, VALUE_BYTES)}"
        raise JqError(f"Invalid path expression near attempt to {what}")


def check_result(value: Value, path: Any) -> None:
    """A path leads to a part of the input and to nothing else."""
    if not same(value, path[1]):
        raise JqError(f"Invalid path expression with result {brief(value, VALUE_BYTES)}")


@form(Index)
def indexing(compiler: Compiler, node: Index, then: Op, scope: Scope) -> Op:
    """``term[key]``: the key is evaluated first, on the same input."""
    if isinstance(node.key, Literal):
        return compiler.compile(
            node.term, _constant_key(compiler, node.key.value, node.optional, then), scope
        )
    enter = _enter(compiler, node.optional, then)

    def with_term(value: Value, frame: Frame, stack: Any, path: Any) -> State:
        key, rest = stack
        return enter(value, key, frame, rest, path)

    term = compiler.compile(node.term, with_term, scope)
    plain = compiler.direct(node.key, scope)
    if plain is not None:

        def op(value: Value, frame: Frame, stack: Any, path: Any) -> State:
            return term, value, frame, (plain(value, frame), stack), path

        return op

    def with_key(key: Value, frame: Frame, stack: Any, _: Any) -> State:
        value, path, rest = stack
        return term, value, frame, (key, rest), path

    return compiler.aside(node.key, with_key, scope)


def _constant_key(compiler: Compiler, key: Value, optional: bool, then: Op) -> Op:
    enter = _enter(compiler, optional, then)
    if type(key) is not str:
        return lambda value, frame, stack, path: enter(value, key, frame, stack, path)

    def op(value: Value, frame: Frame, stack: Any, path: Any) -> State:
        if path is None and type(value) is dict:
            return then, value.get(key), frame, stack, None
        return enter(value, key, frame, stack, path)

    return op


def _enter(compiler: Compiler, optional: bool, then: Op) -> Callable[[Value, Value, Frame, Any, Any], State]:
    pop, run = compiler.pop, compiler.run

    def enter(value: Value, key: Value, frame: Frame, stack: Any, path: Any) -> State:
        if optional and (path is None or same(value, path[1])):
            try:
                value, path = step(value, key, path, run)
            except JqError:
                return pop()
        else:
            value, path = step(value, key, path, run)
        return then, value, frame, stack, path

    return enter


@form(Each)
def each(compiler: Compiler, node: Each, then: Op, scope: Scope) -> Op:
    """``term[]``."""
    push, pop, run, optional = compiler.push, compiler.pop, compiler.run, node.optional

    def following(place: Any, frame: Frame, stack: Any, path: Any) -> State:
        items, keys, number = place
        if number + 1 < len(items):
            push((following, (items, keys, number + 1), frame, stack, path))
        item = items[number]
        if path is not None:
            path = (path[0], float(number) if keys is None else keys[number]), item
        return then, item, frame, stack, path

    def op(value: Value, frame: Frame, stack: Any, path: Any) -> State:
        check_iteration(value, path)
        keys = None
        if type(value) is list:
            items = value
        elif type(value) is dict:
            run.spend_copy(len(value))
            items, keys = list(value.values()), list(value) if path is not None else None
        elif optional:
            return pop()
        else:
            raise JqError(f"Cannot iterate over {describe(value)}")
        if not items:
            return pop()
        return following((items, keys, 0), frame, stack, path)

    return compiler.compile(node.term, op, scope)


@special("recurse", 0)
def recurse(compiler: Compiler, _: Call, then: Op, __: Scope) -> Op:
    """``..``: the value, then everything in it, depth first."""
    push, pop, run = compiler.push, compiler.pop, compiler.run

    def op(value: Value, frame: Frame, stack: Any, path: Any) -> State:
        if type(value) is list or type(value) is dict or path is not None:
            push((inside, value, frame, stack, path))
        return then, value, frame, stack, path

    def inside(value: Value, frame: Frame, stack: Any, path: Any) -> State:
        check_iteration(value, path)
        if not value or type(value) not in (list, dict):
            return pop()
        keys = None
        if type(value) is dict:
            run.spend_copy(len(value))
            keys, value = list(value), list(value.values())
        return following((value, keys, 0), frame, stack, path)

    def following(place: Any, frame: Frame, stack: Any, path: Any) -> State:
        items, keys, number = place
        if number + 1 < len(items):
            push((following, (items, keys, number + 1), frame, stack, path))
        item = items[number]
        if path is not None:
            path = (path[0], float(number) if keys is None else keys[number]), item
        return op(item, frame, stack, path)

    return op


@special("getpath", 1)
def getpath(compiler: Compiler, node: Call, then: Op, scope: Scope) -> Op:
    """``getpath(…)``, through which paths can be followed."""
    run = compiler.run

    def enter(keys: Value, frame: Frame, stack: Any, _: Any) -> State:
        value, path, rest = stack
        item = get_path(value, keys, run)
        if path is not None:
            check_result(value, path)
            chain = path[0]
            for key in keys:
                chain = chain, key
            path = chain, item
        return then, item, frame, rest, path

    return compiler.aside(node.arguments[0], enter, scope)


@special("path", 1)
def path_of(compiler: Compiler, node: Call, then: Op, scope: Scope) -> Op:
    """``path(…)``: how its results are reached."""

    def finish(value: Value, frame: Frame, stack: Any, path: Any) -> State:
        check_result(value, path)
        outer, rest = stack
        return then, keys_of(path), frame, rest, outer

    return _follow(compiler, node.arguments[0], finish, scope.argument(node.at, 0))


def _follow(compiler: Compiler, node: Node, then: Op, scope: Scope) -> Op:
    """Work a node out while following paths; the outer path waits on the stack."""
    body = compiler.compile(node, then, scope)

    def op(value: Value, frame: Frame, stack: Any, path: Any) -> State:
        return body, value, frame, (path, stack), (None, value)

    return op


@form(Update)
def update(compiler: Compiler, node: Update, then: Op, scope: Scope) -> Op:
    """``a += b``: the right side is evaluated once, on the whole input."""
    operand = Variable("*operand", -1)
    change: Node
    if node.operator == "//":
        change = Alternative(DOT, operand)
    else:
        change = Call(OPERATORS[node.operator], (DOT, operand))
    inner = scope.with_variables([operand.name])
    slot = inner.variables[operand.name].slot
    modifying = compiler.compile(Call("_modify", (node.left, change)), then, inner)

    def store(result: Value, frame: Frame, stack: Any, path: Any) -> State:
        value, rest = stack
        frame[slot] = result
        return modifying, value, frame, rest, path

    right = compiler.compile(node.right, store, scope)

    def op(value: Value, frame: Frame, stack: Any, path: Any) -> State:
        return right, value, frame, (value, stack), path

    return op


@special("_assign", 2)
def assign(compiler: Compiler, node: Call, then: Op, scope: Scope) -> Op:
    """``a = b``: the results of ``b`` on the whole input, put at all paths of ``a``."""
    push, pop, run = compiler.push, compiler.pop, compiler.run
    inner = scope.with_variables(["*value"])
    slot = inner.variables["*value"].slot

    def put(value: Value, frame: Frame, stack: Any, path: Any) -> State:
        check_result(value, path)
        draft = stack[1][0]
        draft.begin()
        draft.set(keys_of(path), frame[slot])
        draft.finish()
        return pop()

    targets = _follow(compiler, node.arguments[0], put, inner.argument(node.at, 0))

    def finish(draft: Draft, frame: Frame, stack: Any, path: Any) -> State:
        return then, draft.result(), frame, stack, path

    def begin(new: Value, frame: Frame, stack: Any, _: Any) -> State:
        value, path, rest = stack
        frame[slot] = new
        draft = Draft(value, run)
        push((finish, draft, frame, rest, path))
        return targets, value, frame, (draft, rest), path

    return compiler.aside(node.arguments[1], begin, scope.argument(node.at, 1))


@special("_modify", 2)
def modify(compiler: Compiler, node: Call, then: Op, scope: Scope) -> Op:
    """``a |= b``: the first result of ``b`` for what is at each path of ``a``; without one, that is deleted."""
    push, pop, run, machine = compiler.push, compiler.pop, compiler.run, compiler.machine
    forks = machine.forks
    inner = scope.with_variables(["*done"])
    slot = inner.variables["*done"].slot
    catch = LabelCatch(machine, slot)

    def put(value: Value, _: Frame, stack: Any, __: Any) -> State:
        keys, draft, label, height, before = stack
        if any(isinstance(fork[0], (TryCatch, AlternativeCatch)) for fork in forks[height:]):
            before.append(draft.snapshot())  # the break below will be caught, and more may follow
        draft.set(keys, value)
        draft.finish()
        return machine.unwind(label)

    change = compiler.compile(node.arguments[1], put, scope.argument(node.at, 1))

    def remove(keys: list[Value], _: Frame, stack: Any, __: Any) -> State:
        draft, before = stack
        if before:
            draft.root = before[-1]
        draft.delete(keys)
        draft.finish()
        return pop()

    def target(value: Value, frame: Frame, stack: Any, path: Any) -> State:
        check_result(value, path)
        draft, keys = stack[1][0], keys_of(path)
        draft.begin()
        label = frame[slot] = machine.new_label()
        before: list[Value] = []
        push((catch, None, frame, None, None))
        push((remove, keys, frame, (draft, before), None))
        return change, draft.get(keys), frame, (keys, draft, label, len(forks), before), None

    targets = _follow(compiler, node.arguments[0], target, inner.argument(node.at, 0))

    def finish(draft: Draft, frame: Frame, stack: Any, path: Any) -> State:
        return then, draft.result(), frame, stack, path

    def op(value: Value, frame: Frame, stack: Any, path: Any) -> State:
        draft = Draft(value, run)
        push((finish, draft, frame, stack, path))
        return targets, value, frame, (draft, stack), path

    return op
