"""The syntax tree of PromQL. Times and durations are milliseconds."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from simcloud.telemetry.metrics import Matcher
from simcloud.telemetry.promql.signatures import Signature

ValueType = Literal["scalar", "vector", "matrix", "string"]
Cardinality = Literal["one-to-one", "many-to-one", "one-to-many", "many-to-many"]


class Node(Struct, eq=False):
    """A node; ``start`` and ``end`` are its positions in the query."""

    start: int
    end: int


class Number(Node, eq=False):
    """A number."""

    value: float


class Text(Node, eq=False):
    """A string."""

    value: str


class Paren(Node, eq=False):
    """An expression in parentheses."""

    inner: Node


class Unary(Node, eq=False):
    """An expression with a sign."""

    sign: str
    inner: Node


class Timed(Node, eq=False, kw_only=True):
    """A node with ``offset`` and ``@``. ``at`` is a time, or an end of the query's range."""

    offset_ms: int = 0
    has_offset: bool = False
    at: int | Literal["start", "end"] | None = None


class Selector(Timed, eq=False):
    """An instant vector selector."""

    name: str
    matchers: tuple[Matcher, ...]


class Matrix(Node, eq=False):
    """A selector with a range."""

    selector: Selector
    range_ms: int


class Subquery(Timed, eq=False):
    """An expression evaluated at every step of a range. The default step is the engine's."""

    inner: Node
    range_ms: int
    step_ms: int


class Call(Node, eq=False):
    """A function with its arguments."""

    function: Signature
    arguments: list[Node]


class Aggregate(Node, eq=False):
    """An aggregation."""

    operator: str
    inner: Node
    parameter: Node | None
    labels: tuple[str, ...]
    without: bool


class Matching(Struct, eq=False):
    """The matching of samples of two vectors."""

    cardinality: Cardinality = "one-to-one"
    labels: tuple[str, ...] = ()
    on: bool = False
    include: tuple[str, ...] = ()


class Binary(Node, eq=False):
    """A binary operator, at ``operator_start``, and its operands."""

    operator: str
    left: Node
    right: Node
    matching: Matching
    returns_bool: bool
    operator_start: int


def children(node: Node) -> list[Node]:
    """Return the parts that a part is directly made of."""
    match node:
        case Paren() | Unary() | Subquery():
            return [node.inner]
        case Matrix():
            return [node.selector]
        case Call():
            return node.arguments
        case Aggregate():
            return [node.inner] if node.parameter is None else [node.parameter, node.inner]
        case Binary():
            return [node.left, node.right]
        case _:
            return []


def type_of(node: Node) -> ValueType:
    """Return the type of an expression."""
    match node:
        case Number():
            return "scalar"
        case Text():
            return "string"
        case Paren() | Unary():
            return type_of(node.inner)
        case Matrix() | Subquery():
            return "matrix"
        case Call():
            return node.function.returns
        case Binary():
            both = type_of(node.left) == "scalar" and type_of(node.right) == "scalar"
            return "scalar" if both else "vector"
        case _:
            return "vector"
