"""Scopes: the meaning of names at a place of a program."""

from __future__ import annotations

from collections.abc import Callable

from msgspec import Struct, field

from simcloud.userland.jq.machine import FIRST_SLOT, UP, Frame, Op
from simcloud.userland.jq.tree import Definition

Order = tuple[tuple[int, int, int], ...]


class Code:
    """A function being compiled: its nesting depth, its slots and its entry point."""

    __slots__ = ("blank", "entry", "level")

    def __init__(self, level: int) -> None:
        self.level = level
        self.blank: Frame = [None] * FIRST_SLOT
        self.entry: Op | None = None

    def new_slot(self) -> int:
        """Room for one more variable or closure in each frame."""
        self.blank.append(None)
        return len(self.blank) - 1


class Variable(Struct, frozen=True):
    """``$name`` lives in a slot of the frames of some function."""

    code: Code
    slot: int


class Parameter(Struct, frozen=True):
    """A parameter that is an expression: the slot holds its code and its frame."""

    code: Code
    slot: int


class Function(Struct):
    """A definition, its scope, and its code once it is used."""

    definition: Definition
    scope: Scope
    code: Code | None = None


class Scope(Struct, frozen=True):
    """The names at a place of a program; the innermost wins."""

    code: Code
    variables: dict[str, Variable] = field(default_factory=dict)
    functions: dict[tuple[str, int], Function | Parameter] = field(default_factory=dict)
    order: Order = ()
    """Inside which arguments of which calls this is, so that complaints can be put in jq's order."""

    def with_variables(self, names: list[str]) -> Scope:
        """A scope with more variables, all in this function's frame."""
        more = {name: Variable(self.code, self.code.new_slot()) for name in names}
        return Scope(self.code, self.variables | more, self.functions, self.order)

    def with_function(self, name: str, arity: int, function: Function | Parameter) -> Scope:
        """A scope with one more function."""
        return Scope(self.code, self.variables, self.functions | {(name, arity): function}, self.order)

    def inside(self, code: Code) -> Scope:
        """The same names, seen from a function inside."""
        return Scope(code, self.variables, self.functions, self.order)

    def argument(self, at: int, number: int) -> Scope:
        """The same names, seen from an argument of a call."""
        return Scope(self.code, self.variables, self.functions, (*self.order, (1, at, number)))

    def hops(self, code: Code) -> int:
        """Return the number of frames from this one up to the function's."""
        return self.code.level - code.level


def frame_getter(hops: int) -> Callable[[Frame], Frame]:
    """Return a function from a frame to its ancestor ``hops`` levels up."""
    if hops == 0:
        return lambda frame: frame
    if hops == 1:
        return lambda frame: frame[UP]
    if hops == 2:
        return lambda frame: frame[UP][UP]

    def climb(frame: Frame) -> Frame:
        for _ in range(hops):
            frame = frame[UP]
        return frame

    return climb
