"""Control flow: pipes, definitions, conditions, loops, bindings and error handling."""

from __future__ import annotations

from typing import Any

from simcloud.userland.jq.compiler import Compiler, form, special
from simcloud.userland.jq.errors import JqError
from simcloud.userland.jq.forms_patterns import bind_patterns
from simcloud.userland.jq.machine import Frame, LabelCatch, Op, State, TryCatch
from simcloud.userland.jq.scope import Function, Scope
from simcloud.userland.jq.tree import (
    Alternative,
    Bind,
    Call,
    Comma,
    Condition,
    Define,
    Foreach,
    Label,
    Logic,
    Node,
    Pipe,
    Reduce,
    Try,
    Value,
    VariablePattern,
    label_variable,
    stages,
)
from simcloud.userland.jq.values import truth


@form(Pipe)
def pipe(compiler: Compiler, node: Pipe, then: Op, scope: Scope) -> Op:
    """``a | b | c``, however many."""
    op = then
    for part in reversed(stages(node)):
        op = compiler.compile(part, op, scope)
    return op


@form(Comma)
def comma(compiler: Compiler, node: Comma, then: Op, scope: Scope) -> Op:
    """``a, b, c``, however many."""
    rest: Node = node
    parts: list[Node] = []
    while isinstance(rest, Comma):
        parts.append(rest.right)
        rest = rest.left
    op = compiler.compile(rest, then, scope)
    for part in reversed(parts):
        op = _either(compiler, op, compiler.compile(part, then, scope))
    return op


def _either(compiler: Compiler, left: Op, right: Op) -> Op:
    push = compiler.push

    def op(value: Value, frame: Frame, stack: Any, path: Any) -> State:
        push((right, value, frame, stack, path))
        return left, value, frame, stack, path

    return op


@form(Define)
def define(compiler: Compiler, node: Define, then: Op, scope: Scope) -> Op:
    """``def …; body``."""
    body: Node = node
    while isinstance(body, Define):
        meaning = body.definition
        function = Function(meaning, scope)
        scope = scope.with_function(meaning.name, len(meaning.parameters), function)
        body = body.body
    return compiler.compile(body, then, scope)


@form(Condition)
def condition(compiler: Compiler, node: Condition, then: Op, scope: Scope) -> Op:
    """``if``."""
    positive = compiler.compile(node.positive, then, scope)
    negative = compiler.compile(node.negative, then, scope)
    return _branch(compiler, node.test, positive, negative, scope)


@special("select", 1)
def select(compiler: Compiler, node: Call, then: Op, scope: Scope) -> Op:
    """``select(f)`` is ``if f then . else empty end``."""
    pop = compiler.pop

    def drop(_: Value, __: Frame, ___: Any, ____: Any) -> State:
        return pop()

    return _branch(compiler, node.arguments[0], then, drop, scope.argument(node.at, 0))


def _branch(compiler: Compiler, condition: Node, positive: Op, negative: Op, scope: Scope) -> Op:
    test = compiler.direct(condition, scope)
    if test is not None:

        def op(value: Value, frame: Frame, stack: Any, path: Any) -> State:
            chosen = positive if truth(test(value, frame)) else negative
            return chosen, value, frame, stack, path

        return op

    def choose(result: Value, frame: Frame, stack: Any, _: Any) -> State:
        value, path, rest = stack
        return positive if truth(result) else negative, value, frame, rest, path

    return compiler.aside(condition, choose, scope)


@form(Logic)
def logic(compiler: Compiler, node: Logic, then: Op, scope: Scope) -> Op:
    """``and``, ``or``: the right side counts only where the left does not decide."""
    deciding = node.word == "or"

    def settle(result: Value, frame: Frame, stack: Any, path: Any) -> State:
        return then, truth(result), frame, stack, path

    right = compiler.compile(node.right, settle, scope)

    def decide(result: Value, frame: Frame, stack: Any, path: Any) -> State:
        value, rest = stack
        if truth(result) == deciding:
            return then, deciding, frame, rest, path
        return right, value, frame, rest, path

    left = compiler.compile(node.left, decide, scope)

    def op(value: Value, frame: Frame, stack: Any, path: Any) -> State:
        return left, value, frame, (value, stack), path

    return op


@form(Alternative)
def alternative(compiler: Compiler, node: Alternative, then: Op, scope: Scope) -> Op:
    """``//``: all true results of the left side, or those of the right side if there is none."""
    push, pop = compiler.push, compiler.pop

    def keep(result: Value, frame: Frame, stack: Any, path: Any) -> State:
        found, rest = stack
        if not truth(result):
            return pop()
        found.append(True)
        return then, result, frame, rest, path

    left = compiler.compile(node.left, keep, scope)
    right = compiler.compile(node.right, then, scope)

    def otherwise(waiting: Any, frame: Frame, stack: Any, path: Any) -> State:
        value, found = waiting
        return pop() if found else (right, value, frame, stack, path)

    def op(value: Value, frame: Frame, stack: Any, path: Any) -> State:
        found: list[bool] = []
        push((otherwise, (value, found), frame, stack, path))
        return left, value, frame, (found, stack), path

    return op


@form(Try)
def attempt(compiler: Compiler, node: Try, then: Op, scope: Scope) -> Op:
    """``try``, ``?``. As in jq 1.6 it also catches errors of what its results are piped into."""
    push = compiler.push
    handler = None if node.handler is None else compiler.compile(node.handler, then, scope)
    catch = TryCatch(compiler.machine, handler)
    body = compiler.compile(node.body, then, scope)

    def op(value: Value, frame: Frame, stack: Any, path: Any) -> State:
        push((catch, value, frame, stack, path))
        return body, value, frame, stack, path

    return op


@form(Label)
def label(compiler: Compiler, node: Label, then: Op, scope: Scope) -> Op:
    """``label $name | …``."""
    push, new_label = compiler.push, compiler.machine.new_label
    name = label_variable(node.name)
    inner = scope.with_variables([name])
    slot = inner.variables[name].slot
    catch = LabelCatch(compiler.machine, slot)
    body = compiler.compile(node.body, then, inner)

    def op(value: Value, frame: Frame, stack: Any, path: Any) -> State:
        frame[slot] = new_label()
        push((catch, value, frame, stack, path))
        return body, value, frame, stack, path

    return op


@form(Bind)
def bind(compiler: Compiler, node: Bind, then: Op, scope: Scope) -> Op:
    """``source as pattern | body``."""
    simple = node.patterns[0] if len(node.patterns) == 1 else None
    inner, matching = bind_patterns(node.patterns, scope)
    body = compiler.compile(node.body, then, inner)
    if isinstance(simple, VariablePattern):
        slot = inner.variables[simple.name].slot
        source = compiler.direct(node.source, scope)
        if source is not None:

            def op(value: Value, frame: Frame, stack: Any, path: Any) -> State:
                frame[slot] = source(value, frame)
                return body, value, frame, stack, path

            return op

    def enter(_: Value, frame: Frame, stack: Any, path: Any) -> State:
        value, rest = stack
        return body, value, frame, rest, path

    match = matching(compiler, enter, scope)

    def bind_variable(item: Value, frame: Frame, stack: Any, _: Any) -> State:
        value, path, rest = stack
        return match, item, frame, (value, rest), path

    return compiler.aside(node.source, bind_variable, scope)


@form(Reduce)
def reduce(compiler: Compiler, node: Reduce, then: Op, scope: Scope) -> Op:
    """``reduce``. While the update runs there is no state; an update without result leaves null."""
    push, pop = compiler.push, compiler.pop
    inner, matching = bind_patterns(node.patterns, scope)

    def store(state: Value, _: Frame, stack: Any, __: Any) -> State:
        stack[0][0] = state
        return pop()

    update = compiler.compile(node.update, store, inner)

    def turn(_: Value, frame: Frame, stack: Any, path: Any) -> State:
        cell = stack[0]
        state, cell[0] = cell[0], None
        return update, state, frame, stack, path

    source = compiler.compile(node.source, matching(compiler, turn, scope), scope)

    def finish(cell: list[Value], frame: Frame, stack: Any, path: Any) -> State:
        return then, cell[0], frame, stack, path

    def begin(state: Value, frame: Frame, stack: Any, path: Any) -> State:
        value, rest = _take_value(stack)
        cell = [state]
        push((finish, cell, frame, rest, path))
        return source, value, frame, (cell, rest), path

    return _keep_value(compiler.compile(node.start, begin, scope))


def _keep_value(body: Op) -> Op:
    """Work out the first state while the input waits on the stack."""

    def op(value: Value, frame: Frame, stack: Any, path: Any) -> State:
        return body, value, frame, ([value], stack), path

    return op


def _take_value(stack: Any) -> tuple[Value, Any]:
    """Take the saved input. As in jq 1.6 it is lost when there is a second initial state."""
    kept, rest = stack
    value, kept[0] = kept[0], None
    return value, rest


@form(Foreach)
def foreach(compiler: Compiler, node: Foreach, then: Op, scope: Scope) -> Op:
    """``foreach``: like ``reduce``, with a result for every state."""
    inner, matching = bind_patterns(node.patterns, scope)
    extract = compiler.compile(node.extract, then, inner)

    def store(state: Value, frame: Frame, stack: Any, path: Any) -> State:
        cell, rest = stack
        cell[0] = state
        return extract, state, frame, rest, path

    update = compiler.compile(node.update, store, inner)

    def turn(_: Value, frame: Frame, stack: Any, path: Any) -> State:
        cell = stack[0]
        state, cell[0] = cell[0], None
        return update, state, frame, stack, path

    source = compiler.compile(node.source, matching(compiler, turn, scope), scope)

    def begin(state: Value, frame: Frame, stack: Any, path: Any) -> State:
        value, rest = _take_value(stack)
        return source, value, frame, ([state], rest), path

    return _keep_value(compiler.compile(node.start, begin, scope))


@special("range", 2)
def range_(compiler: Compiler, node: Call, then: Op, scope: Scope) -> Op:
    """``range(from; to)``, for every combination of results, the first's changing slowest."""
    push, pop = compiler.push, compiler.pop
    inner = scope.with_variables(["*from", "*to"])
    start, stop = (inner.variables[name].slot for name in ("*from", "*to"))

    def step(bounds: Any, frame: Frame, stack: Any, path: Any) -> State:
        number, end = bounds
        if not number < end:
            return pop()
        if number + 1 < end:
            push((step, (number + 1, end), frame, stack, path))
        return then, number, frame, stack, path

    def count(_: Value, frame: Frame, stack: Any, path: Any) -> State:
        bounds = frame[start], frame[stop]
        if type(bounds[0]) is not float or type(bounds[1]) is not float:
            raise JqError("Range bounds must be numeric")
        return step(bounds, frame, stack, path)

    second = _store(compiler, node.arguments[1], stop, count, scope)
    return _store(compiler, node.arguments[0], start, second, scope)


def _store(compiler: Compiler, node: Node, slot: int, then: Op, scope: Scope) -> Op:
    """Put each result of a node into a slot, and go on with the value as it was."""

    def store(result: Value, frame: Frame, stack: Any, _: Any) -> State:
        value, path, rest = stack
        frame[slot] = result
        return then, value, frame, rest, path

    return compiler.aside(node, store, scope)
