"""The syntax tree of PromQL. Times and durations are milliseconds."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from simcloud.telemetry.metrics import Matcher
from simcloud.telemetry.promql.signatures import Signature

ValueType = Literal["scalar", "vector", "matrix", "string"]
Cardinality = Literal["one-to-one", "many-to-one", "one-to-many", "many-to-many"]


@dataclass(eq=False, slots=True)
class Node:
    """A node; ``start`` and ``end`` are its positions in the query."""

    start: int
    end: int


@dataclass(eq=False, slots=True)
class Number(Node):
    """A number."""

    value: float


@dataclass(eq=False, slots=True)
class Text(Node):
    """A string."""

    value: str


@dataclass(eq=False, slots=True)
class Paren(Node):
    """An expression in parentheses."""

    inner: Node


@dataclass(eq=False, slots=True)
class Unary(Node):
    """An expression with a sign."""

    sign: str
    inner: Node


@dataclass(eq=False, slots=True)
class Timed(Node):
    """A node with ``offset`` and ``@``. ``at`` is a time, or an end of the query's range."""

    offset_ms: int = field(default=0, kw_only=True)
    has_offset: bool = field(default=False, kw_only=True)
    at: int | Literal["start", "end"] | None = field(default=None, kw_only=True)


@dataclass(eq=False, slots=True)
class Selector(Timed):
    """An instant vector selector."""

    name: str
    matchers: tuple[Matcher, ...]


@dataclass(eq=False, slots=True)
class Matrix(Node):
    """A selector with a range."""

    selector: Selector
    range_ms: int


@dataclass(eq=False, slots=True)
class Subquery(Timed):
    """An expression evaluated at every step of a range. The default step is the engine's."""

    inner: Node
    range_ms: int
    step_ms: int


@dataclass(eq=False, slots=True)
class Call(Node):
    """A function with its arguments."""

    function: Signature
    arguments: list[Node]


@dataclass(eq=False, slots=True)
class Aggregate(Node):
    """An aggregation."""

    operator: str
    inner: Node
    parameter: Node | None
    labels: tuple[str, ...]
    without: bool


@dataclass(eq=False, slots=True)
class Matching:
    """The matching of samples of two vectors."""

    cardinality: Cardinality = "one-to-one"
    labels: tuple[str, ...] = ()
    on: bool = False
    include: tuple[str, ...] = ()


@dataclass(eq=False, slots=True)
class Binary(Node):
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
