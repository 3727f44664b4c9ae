"""The syntax tree of an awk program: plain data, compared by value.

A ``place`` is a source's name and a line, for messages at run time; it takes no part in
comparisons, so that the compiler can recognise ``s = s x`` wherever it stands.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, fields
from typing import Final


@dataclass(frozen=True, slots=True)
class Node:
    """Base class of all nodes."""


@dataclass(frozen=True, slots=True)
class Expr(Node):
    """An expression."""

    place: str = field(default="", kw_only=True, compare=False)


@dataclass(frozen=True, slots=True)
class Number(Expr):
    """A number in the program's text."""

    value: float


@dataclass(frozen=True, slots=True)
class Text(Expr):
    """A string in the program's text, its escapes resolved."""

    value: str


@dataclass(frozen=True, slots=True)
class Regex(Expr):
    """A regular expression between slashes, as written."""

    source: str


@dataclass(frozen=True, slots=True)
class Name(Expr):
    """A variable, an array or a parameter."""

    name: str


@dataclass(frozen=True, slots=True)
class Field(Expr):
    """``$index``."""

    index: Expr


@dataclass(frozen=True, slots=True)
class Index(Expr):
    """``array[subscripts]``; the array may itself be an element (``a[i][j]``)."""

    array: Name | Index
    subscripts: tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class Temporary(Expr):
    """A value that was evaluated earlier and stored in the frame (made by the compiler only)."""

    slot: int


@dataclass(frozen=True, slots=True)
class Group(Expr):
    """An expression in parentheses."""

    inner: Expr


@dataclass(frozen=True, slots=True)
class GroupedList(Expr):
    """``(a, b)`` where only ``print`` may take it."""

    items: tuple[Expr, ...]


Target = Name | Field | Index
"""Targets of assignments."""


@dataclass(frozen=True, slots=True)
class Assign(Expr):
    """``target = value`` (operator empty) or ``target += value`` (operator ``+``)."""

    target: Target
    operator: str
    value: Expr


@dataclass(frozen=True, slots=True)
class Increment(Expr):
    """``++x``, ``x++`` and their opposites."""

    target: Target
    step: float
    prefix: bool


@dataclass(frozen=True, slots=True)
class Conditional(Expr):
    """``condition ? yes : no``."""

    condition: Expr
    yes: Expr
    no: Expr


@dataclass(frozen=True, slots=True)
class Logical(Expr):
    """``left && right`` or ``left || right``."""

    operator: str
    left: Expr
    right: Expr


@dataclass(frozen=True, slots=True)
class Not(Expr):
    """``! operand``."""

    operand: Expr


@dataclass(frozen=True, slots=True)
class Match(Expr):
    """``left ~ right`` or ``left !~ right``."""

    left: Expr
    right: Expr
    negated: bool


@dataclass(frozen=True, slots=True)
class Compare(Expr):
    """A comparison such as ``left < right``."""

    operator: str
    left: Expr
    right: Expr


@dataclass(frozen=True, slots=True)
class Member(Expr):
    """``(subscripts) in array``."""

    subscripts: tuple[Expr, ...]
    array: Name | Index


@dataclass(frozen=True, slots=True)
class Concat(Expr):
    """``left right``."""

    left: Expr
    right: Expr


@dataclass(frozen=True, slots=True)
class Binary(Expr):
    """Arithmetic on two numbers."""

    operator: str
    left: Expr
    right: Expr


@dataclass(frozen=True, slots=True)
class Sign(Expr):
    """``-operand`` or ``+operand``."""

    operator: str
    operand: Expr


@dataclass(frozen=True, slots=True)
class Call(Expr):
    """A call of a function of the program."""

    name: str
    arguments: tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class Builtin(Expr):
    """A call of a built-in function."""

    name: str
    arguments: tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class Getline(Expr):
    """Read a record: from the main input (no source), a file (``<``) or a command (``|``)."""

    kind: str
    source: Expr | None
    target: Target | None


@dataclass(frozen=True, slots=True)
class Statement(Node):
    """A statement."""

    place: str = field(default="", kw_only=True, compare=False)


@dataclass(frozen=True, slots=True)
class Block(Statement):
    """A sequence of statements."""

    statements: tuple[Statement, ...]


@dataclass(frozen=True, slots=True)
class Evaluate(Statement):
    """An expression evaluated for its effect."""

    expression: Expr


@dataclass(frozen=True, slots=True)
class Print(Statement):
    """``print`` or ``printf``, perhaps into a file (``>``, ``>>``) or a command (``|``)."""

    formatted: bool
    arguments: tuple[Expr, ...]
    redirection: str
    destination: Expr | None


@dataclass(frozen=True, slots=True)
class If(Statement):
    """``if (condition) then else otherwise``."""

    condition: Expr
    then: Statement
    otherwise: Statement | None


@dataclass(frozen=True, slots=True)
class Loop(Statement):
    """``while``, ``do`` and ``for``: the body first when ``post_test``; ``step`` after each turn."""

    condition: Expr | None
    body: Statement
    step: Statement | None
    post_test: bool


@dataclass(frozen=True, slots=True)
class ForIn(Statement):
    """``for (target in array) body``."""

    target: Target
    array: Name | Index
    body: Statement


@dataclass(frozen=True, slots=True)
class Case(Node):
    """One ``case value:`` (None for ``default:``) of a switch."""

    value: Number | Text | Regex | None
    body: Block


@dataclass(frozen=True, slots=True)
class Switch(Statement):
    """``switch (subject) { … }``."""

    subject: Expr
    cases: tuple[Case, ...]


@dataclass(frozen=True, slots=True)
class Jump(Statement):
    """``next``, ``nextfile``, ``break`` or ``continue``."""

    kind: str


@dataclass(frozen=True, slots=True)
class Exit(Statement):
    """``exit`` with a status, or as before."""

    status: Expr | None


@dataclass(frozen=True, slots=True)
class Return(Statement):
    """``return`` with a value or none."""

    value: Expr | None


@dataclass(frozen=True, slots=True)
class Delete(Statement):
    """``delete array[subscripts]``, or the whole array."""

    array: Name | Index
    subscripts: tuple[Expr, ...] | None


@dataclass(frozen=True, slots=True)
class Rule(Node):
    """``pattern { body }``. ``kind`` is BEGIN, END or ``record``; a second pattern makes a range."""

    kind: str
    pattern: Expr | None
    until: Expr | None
    body: Block | None
    place: str = ""


@dataclass(frozen=True, slots=True)
class Function(Node):
    """``function name(parameters) { body }``."""

    name: str
    parameters: tuple[str, ...]
    body: Block
    place: str = ""


@dataclass(frozen=True, slots=True)
class Program(Node):
    """All rules and functions, in source order."""

    rules: tuple[Rule, ...]
    functions: dict[str, Function]


def children(node: object) -> list[object]:
    """Return the direct children of a node, a tuple or a dictionary of nodes."""
    if isinstance(node, Node):
        return [getattr(node, part) for part in _PARTS[type(node)]]
    if isinstance(node, tuple):
        return list(node)
    return list(node.values()) if isinstance(node, dict) else []


def walk(node: object) -> Iterator[Node]:
    """The node and everything below it, from the outside in."""
    pending = [node]
    while pending:
        current = pending.pop()
        if isinstance(current, Node):
            yield current
        pending.extend(reversed(children(current)))


def strip_groups(node: Expr) -> Expr:
    """Return the expression inside any parentheses."""
    while isinstance(node, Group):
        node = node.inner
    return node


def list_concatenated(node: Expr) -> list[Expr]:
    """Return all parts of ``a b c``, in order."""
    parts: list[Expr] = []
    while isinstance(node, Concat):
        parts.append(node.right)
        node = node.left
    parts.append(node)
    return parts[::-1]


_PARTS: Final = {
    kind: tuple(part.name for part in fields(kind))
    for kind in list(globals().values())
    if isinstance(kind, type) and issubclass(kind, Node)
}
"""The names of each kind's parts, looked up once."""
