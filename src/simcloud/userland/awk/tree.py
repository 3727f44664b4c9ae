"""The syntax tree of an awk program: plain data, compared by value.

A ``place`` is a source's name and a line, for messages at run time; it takes no part in
comparisons, so that the compiler can recognise ``s = s x`` wherever it stands.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from msgspec import Struct


class Node(Struct, frozen=True):  # noqa: PLW1641  (no node is a key)
    """Base class of all nodes."""

    def __eq__(self, other: object) -> bool:
        """Compare all parts but the place."""
        return type(self) is type(other) and all(
            getattr(self, name) == getattr(other, name) for name in _PARTS[type(self)] if name != "place"
        )


class Expr(Node, frozen=True, kw_only=True):
    """An expression."""

    place: str = ""


class Number(Expr, frozen=True):
    """A number in the program's text."""

    value: float


class Text(Expr, frozen=True):
    """A string in the program's text, its escapes resolved."""

    value: str


class Regex(Expr, frozen=True):
    """A regular expression between slashes, as written."""

    source: str


class Name(Expr, frozen=True):
    """A variable, an array or a parameter."""

    name: str


class Field(Expr, frozen=True):
    """``$index``."""

    index: Expr


class Index(Expr, frozen=True):
    """``array[subscripts]``; the array may itself be an element (``a[i][j]``)."""

    array: Name | Index
    subscripts: tuple[Expr, ...]


class Temporary(Expr, frozen=True):
    """A value that was evaluated earlier and stored in the frame (made by the compiler only)."""

    slot: int


class Group(Expr, frozen=True):
    """An expression in parentheses."""

    inner: Expr


class GroupedList(Expr, frozen=True):
    """``(a, b)`` where only ``print`` may take it."""

    items: tuple[Expr, ...]


Target = Name | Field | Index
"""Targets of assignments."""


class Assign(Expr, frozen=True):
    """``target = value`` (operator empty) or ``target += value`` (operator ``+``)."""

    target: Target
    operator: str
    value: Expr


class Increment(Expr, frozen=True):
    """``++x``, ``x++`` and their opposites."""

    target: Target
    step: float
    prefix: bool


class Conditional(Expr, frozen=True):
    """``condition ? yes : no``."""

    condition: Expr
    yes: Expr
    no: Expr


class Logical(Expr, frozen=True):
    """``left && right`` or ``left || right``."""

    operator: str
    left: Expr
    right: Expr


class Not(Expr, frozen=True):
    """``! operand``."""

    operand: Expr


class Match(Expr, frozen=True):
    """``left ~ right`` or ``left !~ right``."""

    left: Expr
    right: Expr
    negated: bool


class Compare(Expr, frozen=True):
    """A comparison such as ``left < right``."""

    operator: str
    left: Expr
    right: Expr


class Member(Expr, frozen=True):
    """``(subscripts) in array``."""

    subscripts: tuple[Expr, ...]
    array: Name | Index


class Concat(Expr, frozen=True):
    """``left right``."""

    left: Expr
    right: Expr


class Binary(Expr, frozen=True):
    """Arithmetic on two numbers."""

    operator: str
    left: Expr
    right: Expr


class Sign(Expr, frozen=True):
    """``-operand`` or ``+operand``."""

    operator: str
    operand: Expr


class Call(Expr, frozen=True):
    """A call of a function of the program."""

    name: str
    arguments: tuple[Expr, ...]


class Builtin(Expr, frozen=True):
    """A call of a built-in function."""

    name: str
    arguments: tuple[Expr, ...]


class Getline(Expr, frozen=True):
    """Read a record: from the main input (no source), a file (``<``) or a command (``|``)."""

    kind: str
    source: Expr | None
    target: Target | None


class Statement(Node, frozen=True, kw_only=True):
    """A statement."""

    place: str = ""


class Block(Statement, frozen=True):
    """A sequence of statements."""

    statements: tuple[Statement, ...]


class Evaluate(Statement, frozen=True):
    """An expression evaluated for its effect."""

    expression: Expr


class Print(Statement, frozen=True):
    """``print`` or ``printf``, perhaps into a file (``>``, ``>>``) or a command (``|``)."""

    formatted: bool
    arguments: tuple[Expr, ...]
    redirection: str
    destination: Expr | None


class If(Statement, frozen=True):
    """``if (condition) then else otherwise``."""

    condition: Expr
    then: Statement
    otherwise: Statement | None


class Loop(Statement, frozen=True):
    """``while``, ``do`` and ``for``: the body first when ``post_test``; ``step`` after each turn."""

    condition: Expr | None
    body: Statement
    step: Statement | None
    post_test: bool


class ForIn(Statement, frozen=True):
    """``for (target in array) body``."""

    target: Target
    array: Name | Index
    body: Statement


class Case(Node, frozen=True):
    """One ``case value:`` (None for ``default:``) of a switch."""

    value: Number | Text | Regex | None
    body: Block


class Switch(Statement, frozen=True):
    """``switch (subject) { … }``."""

    subject: Expr
    cases: tuple[Case, ...]


class Jump(Statement, frozen=True):
    """``next``, ``nextfile``, ``break`` or ``continue``."""

    kind: str


class Exit(Statement, frozen=True):
    """``exit`` with a status, or as before."""

    status: Expr | None


class Return(Statement, frozen=True):
    """``return`` with a value or none."""

    value: Expr | None


class Delete(Statement, frozen=True):
    """``delete array[subscripts]``, or the whole array."""

    array: Name | Index
    subscripts: tuple[Expr, ...] | None


class Rule(Node, frozen=True):
    """``pattern { body }``. ``kind`` is BEGIN, END or ``record``; a second pattern makes a range."""

    kind: str
    pattern: Expr | None
    until: Expr | None
    body: Block | None
    place: str = ""


class Function(Node, frozen=True):
    """``function name(parameters) { body }``."""

    name: str
    parameters: tuple[str, ...]
    body: Block
    place: str = ""


class Program(Node, frozen=True):
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
    kind: kind.__struct_fields__
    for kind in list(globals().values())
    if isinstance(kind, type) and issubclass(kind, Node)
}
"""The names of each kind's parts, looked up once."""
