"""The syntax tree of a jq program, with constant folding."""

from __future__ import annotations

from typing import Any

from msgspec import Struct

Value = Any
"""A JSON value: None, bool, float, str, list or dict. A value that may be shared is never changed."""


class Identity(Struct, eq=False):
    """``.``"""


class Literal(Struct, eq=False):
    """A constant."""

    value: Value


class Index(Struct, eq=False):
    """``term[key]``, ``term.name``; ``optional`` with a question mark behind."""

    term: Node
    key: Node
    optional: bool


class Slice(Struct, eq=False):
    """The key of ``term[start:stop]``."""

    start: Node
    stop: Node


class Each(Struct, eq=False):
    """``term[]``."""

    term: Node
    optional: bool


class Pipe(Struct, eq=False):
    """``left | right``."""

    left: Node
    right: Node


class Comma(Struct, eq=False):
    """``left, right``."""

    left: Node
    right: Node


class Logic(Struct, eq=False):
    """``left and right``, ``left or right``."""

    word: str
    left: Node
    right: Node


class Alternative(Struct, eq=False):
    """``left // right``."""

    left: Node
    right: Node


class Update(Struct, eq=False):
    """``left op= right`` for an arithmetic operator or ``//``."""

    operator: str
    left: Node
    right: Node


class Collect(Struct, eq=False):
    """``[body]``."""

    body: Node


class Construct(Struct, eq=False):
    """``{key: value, …}``. A pair without a value takes it from the input under the same key."""

    pairs: tuple[tuple[Node, Node | None], ...]


class Variable(Struct, eq=False):
    """``$name``; ``at`` is where in the program it stands."""

    name: str
    at: int


class Call(Struct, eq=False):
    """``name(arguments)``. Operators are calls of names that start with an underscore."""

    name: str
    arguments: tuple[Node, ...]
    at: int = -1


class Definition(Struct, eq=False):
    """``def name(parameters): body;``. A parameter written ``$x`` keeps its dollar."""

    name: str
    parameters: tuple[str, ...]
    body: Node


class Define(Struct, eq=False):
    """A definition and the expression that uses it."""

    definition: Definition
    body: Node


class Condition(Struct, eq=False):
    """``if test then positive else negative end``."""

    test: Node
    positive: Node
    negative: Node


class Try(Struct, eq=False):
    """``try body catch handler``, or without a handler ``body?``."""

    body: Node
    handler: Node | None


class Reduce(Struct, eq=False):
    """``reduce source as patterns (start; update)``."""

    source: Node
    patterns: tuple[Pattern, ...]
    start: Node
    update: Node


class Foreach(Struct, eq=False):
    """``foreach source as patterns (start; update; extract)``."""

    source: Node
    patterns: tuple[Pattern, ...]
    start: Node
    update: Node
    extract: Node


class Bind(Struct, eq=False):
    """``source as patterns | body``; several patterns are alternatives to each other."""

    source: Node
    patterns: tuple[Pattern, ...]
    body: Node


class Label(Struct, eq=False):
    """``label $name | body``."""

    name: str
    body: Node


class VariablePattern(Struct, eq=False):
    """``$name``."""

    name: str


class ArrayPattern(Struct, eq=False):
    """``[pattern, …]``."""

    parts: tuple[Pattern, ...]


class ObjectPattern(Struct, eq=False):
    """``{key: pattern, …}``; with a variable, the whole entry is bound to it as well."""

    parts: tuple[tuple[Node, str | None, Pattern | None], ...]


Pattern = VariablePattern | ArrayPattern | ObjectPattern
Node = (
    Identity
    | Literal
    | Index
    | Slice
    | Each
    | Pipe
    | Comma
    | Logic
    | Alternative
    | Update
    | Collect
    | Construct
    | Variable
    | Call
    | Define
    | Condition
    | Try
    | Reduce
    | Foreach
    | Bind
    | Label
)

DOT = Identity()


def stages(node: Node) -> list[Node]:
    """The parts of ``a | b | c`` from left to right."""
    waiting = [node]
    parts: list[Node] = []
    while waiting:
        part = waiting.pop()
        if isinstance(part, Pipe):
            waiting += [part.right, part.left]
        else:
            parts.append(part)
    return parts


def label_variable(name: str) -> str:
    """The variable that holds a label; no program can write its name."""
    return f"*label-{name}"


def binary(operator: str, left: Node, right: Node) -> Node:
    """An operator on two expressions, folded when both are constants."""
    if isinstance(left, Literal) and isinstance(right, Literal):
        folded = _fold(operator, left, right)
        if folded is not None:
            return folded
    return Call(OPERATORS[operator], (left, right))


OPERATORS = {
    "+": "_plus",
    "-": "_minus",
    "*": "_multiply",
    "/": "_divide",
    "%": "_mod",
    "==": "_equal",
    "!=": "_notequal",
    "<": "_less",
    ">": "_greater",
    "<=": "_lesseq",
    ">=": "_greatereq",
}


def _fold(operator: str, left: Literal, right: Literal) -> Literal | None:
    a, b = left.value, right.value
    if operator == "+" and (a is None or b is None):
        return right if a is None else left
    if operator == "+" and isinstance(a, str) and isinstance(b, str):
        return Literal(a + b)
    if type(a) is not float or type(b) is not float:
        return None
    match operator:
        case "+":
            return Literal(a + b)
        case "-":
            return Literal(a - b)
        case "*":
            return Literal(a * b)
        case "/":
            return Literal(a / b) if b else Literal(a * float("inf"))
        case "==":
            return Literal(a == b)
        case "!=":
            return Literal(a != b)
        case "<":
            return Literal(a < b)
        case ">":
            return Literal(a > b)
        case "<=":
            return Literal(a <= b)
        case ">=":
            return Literal(a >= b)
    return None


def collect(body: Node) -> Node:
    """``[body]``; a list of constants is a constant."""
    items: list[Value] = []
    node = body
    while isinstance(node, Comma) and isinstance(node.right, Literal):
        items.append(node.right.value)
        node = node.left
    if isinstance(node, Literal):
        return Literal([node.value, *reversed(items)])
    return Collect(body)


def construct(pairs: tuple[tuple[Node, Node | None], ...]) -> Node:
    """``{…}``; an object of constants is a constant."""
    constant: dict[str, Value] = {}
    for key, value in pairs:
        if not (isinstance(key, Literal) and isinstance(key.value, str) and isinstance(value, Literal)):
            return Construct(pairs)
        constant[key.value] = value.value
    return Literal(constant)
