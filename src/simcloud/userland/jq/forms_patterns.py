"""Destructuring patterns: ``as [$a, {b: $c}] ?// $d``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from simcloud.userland.jq.compiler import Compiler
from simcloud.userland.jq.forms_paths import step
from simcloud.userland.jq.machine import AlternativeCatch, Frame, Op, State
from simcloud.userland.jq.scope import Scope
from simcloud.userland.jq.tree import (
    ArrayPattern,
    Literal,
    Node,
    Pattern,
    Value,
    VariablePattern,
)

Matching = Callable[[Compiler, Op, Scope], Op]


def bind_patterns(patterns: tuple[Pattern, ...], scope: Scope) -> tuple[Scope, Matching]:
    """A scope with the patterns' variables, and what makes the operation that fills them.

    That operation takes the value to match. What follows it must not rely on the value it gets.
    """
    inner = scope.with_variables(
        list(dict.fromkeys(name for pattern in patterns for name in _names(pattern)))
    )

    def matching(compiler: Compiler, then: Op, outer: Scope) -> Op:
        op = _match(compiler, patterns[-1], then, outer, inner)
        for pattern in reversed(patterns[:-1]):
            op = _try(compiler, _match(compiler, pattern, then, outer, inner), op, patterns, inner)
        return _forget(op, patterns, inner) if len(patterns) > 1 else op

    return inner, matching


def _names(pattern: Pattern) -> list[str]:
    if isinstance(pattern, VariablePattern):
        return [pattern.name]
    if isinstance(pattern, ArrayPattern):
        return [name for part in pattern.parts for name in _names(part)]
    found: list[str] = []
    for _, name, part in pattern.parts:
        found += [name] if name is not None else []
        found += _names(part) if part is not None else []
    return found


def _slots(patterns: tuple[Pattern, ...], inner: Scope) -> list[int]:
    return [inner.variables[name].slot for pattern in patterns for name in _names(pattern)]


def _forget(following: Op, patterns: tuple[Pattern, ...], inner: Scope) -> Op:
    slots = _slots(patterns, inner)

    def op(value: Value, frame: Frame, stack: Any, path: Any) -> State:
        for slot in slots:
            frame[slot] = None
        return following, value, frame, stack, path

    return op


def _try(compiler: Compiler, first: Op, second: Op, patterns: tuple[Pattern, ...], inner: Scope) -> Op:
    push = compiler.push
    catch = AlternativeCatch(compiler.machine, second, _slots(patterns, inner))

    def op(value: Value, frame: Frame, stack: Any, path: Any) -> State:
        push((catch, value, frame, stack, path))
        return first, value, frame, stack, path

    return op


def _match(compiler: Compiler, pattern: Pattern, then: Op, outer: Scope, inner: Scope) -> Op:
    if isinstance(pattern, VariablePattern):
        return _store(inner.variables[pattern.name].slot, then)
    op = then
    if isinstance(pattern, ArrayPattern):
        for place, part in enumerate(pattern.parts):  # so that the last is matched first, as jq does
            op = _element(compiler, Literal(float(place)), None, part, op, outer, inner)
        return op
    for key, name, inside in reversed(pattern.parts):
        op = _element(compiler, key, name, inside, op, outer, inner)
    return op


def _store(slot: int, then: Op) -> Op:
    def op(value: Value, frame: Frame, stack: Any, path: Any) -> State:
        frame[slot] = value
        return then, value, frame, stack, path

    return op


def _element(
    compiler: Compiler,
    key: Node,
    name: str | None,
    part: Pattern | None,
    then: Op,
    outer: Scope,
    inner: Scope,
) -> Op:
    """Match one part of an array or object, then go on with the whole of it."""
    run = compiler.run

    def go_on(_: Value, frame: Frame, stack: Any, path: Any) -> State:
        whole, rest = stack
        return then, whole, frame, rest, path

    match: Op = go_on if part is None else _match(compiler, part, go_on, outer, inner)
    if name is not None:
        match = _store(inner.variables[name].slot, match)

    def take(place: Value, frame: Frame, stack: Any, _: Any) -> State:
        whole, path, rest = stack
        item, path = step(whole, place, path, run)
        return match, item, frame, (whole, rest), path

    return compiler.aside(key, take, outer)
