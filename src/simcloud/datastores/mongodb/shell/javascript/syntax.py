"""The syntax tree. ``at`` is the position of a node in the source."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Source:
    """A script and the name that stack traces give it."""

    text: str
    name: str
    internal: bool = False
    """Whether it is part of the shell."""

    def place(self, at: int) -> tuple[int, int]:
        """Line and column of an offset, both from one."""
        line = self.text.count("\n", 0, at) + 1
        return line, at - (self.text.rfind("\n", 0, at) + 1) + 1


@dataclass(slots=True)
class Node:
    """A node of the tree."""

    at: int


# -- expressions ---------------------------------------------------------------------------------


@dataclass(slots=True)
class Literal(Node):
    """A number, a string, true, false or null."""

    value: float | str | bool | None


@dataclass(slots=True)
class Template(Node):
    """A template string: one more piece of text than expressions."""

    texts: list[str]
    parts: list[Node]


@dataclass(slots=True)
class RegexLiteral(Node):
    """``/pattern/flags``."""

    pattern: str
    flags: str


@dataclass(slots=True)
class Name(Node):
    """A variable."""

    name: str


@dataclass(slots=True)
class This(Node):
    """``this``."""


@dataclass(slots=True)
class Spread(Node):
    """``...items``, in a literal, a call or (as the rest) a pattern."""

    value: Node


@dataclass(slots=True)
class ArrayLiteral(Node):
    """``[a, , ...b]``; a hole is None."""

    items: list[Node | None]


@dataclass(slots=True)
class Property(Node):
    """One entry of an object literal or an object pattern; ``kind`` is "value" or "method"."""

    kind: str
    key: Node
    value: Node


@dataclass(slots=True)
class ObjectLiteral(Node):
    """``{a: 1, [b]: 2, ...c}``."""

    entries: list[Property | Spread]


@dataclass(slots=True)
class Function(Node):
    """A function of any kind. An arrow's body may be one expression, held as a return."""

    name: str
    params: list[Node]
    body: list[Node]
    text: str
    arrow: bool = False
    declared: list[str] = field(default_factory=list)
    """Names of ``var`` in the body."""


@dataclass(slots=True)
class Member(Node):
    """``object.name`` or ``object[key]``; ``optional`` with ``?.``."""

    object: Node
    key: Node
    computed: bool
    optional: bool = False


@dataclass(slots=True)
class Call(Node):
    """A call."""

    callee: Node
    args: list[Node]
    optional: bool = False


@dataclass(slots=True)
class Chain(Node):
    """The whole of a chain with ``?.`` in it: where it ends when something is missing."""

    value: Node


@dataclass(slots=True)
class New(Node):
    """``new callee(args)``."""

    callee: Node
    args: list[Node]


@dataclass(slots=True)
class Unary(Node):
    """An operator before its operand."""

    op: str
    value: Node


@dataclass(slots=True)
class Update(Node):
    """``++`` or ``--``."""

    op: str
    prefix: bool
    target: Node


@dataclass(slots=True)
class Binary(Node):
    """An operator that always evaluates both sides."""

    op: str
    left: Node
    right: Node


@dataclass(slots=True)
class Logical(Node):
    """``&&``, ``||`` or ``??``."""

    op: str
    left: Node
    right: Node


@dataclass(slots=True)
class Conditional(Node):
    """``test ? then : otherwise``."""

    test: Node
    then: Node
    otherwise: Node


@dataclass(slots=True)
class Assign(Node):
    """``target op value``; the target may be a pattern when the operator is ``=``."""

    op: str
    target: Node
    value: Node


@dataclass(slots=True)
class Comma(Node):
    """``a, b``."""

    items: list[Node]


# -- patterns ------------------------------------------------------------------------------------


@dataclass(slots=True)
class ArrayPattern(Node):
    """``[a, , ...rest]``."""

    items: list[Node | None]


@dataclass(slots=True)
class ObjectPattern(Node):
    """``{a, b: c = 1, ...rest}``."""

    entries: list[Property | Spread]


@dataclass(slots=True)
class Default(Node):
    """A target with the value it gets when there is none."""

    target: Node
    value: Node


# -- statements ----------------------------------------------------------------------------------


@dataclass(slots=True)
class Declare(Node):
    """``var``, ``let`` or ``const``."""

    kind: str
    bindings: list[tuple[Node, Node | None]]


@dataclass(slots=True)
class DeclareFunction(Node):
    """A function declaration, which is there before the code around it runs."""

    function: Function


@dataclass(slots=True)
class Expression(Node):
    """An expression as a statement."""

    value: Node


@dataclass(slots=True)
class Block(Node):
    """``{ … }``."""

    body: list[Node]


@dataclass(slots=True)
class If(Node):
    """``if``."""

    test: Node
    then: Node
    otherwise: Node | None


@dataclass(slots=True)
class For(Node):
    """``for (first; test; step)``."""

    first: Node | None
    test: Node | None
    step: Node | None
    body: Node


@dataclass(slots=True)
class ForEach(Node):
    """``for (target in/of items)``; ``kind`` is empty when the target is no declaration."""

    kind: str
    target: Node
    over: str
    items: Node
    body: Node


@dataclass(slots=True)
class While(Node):
    """``while``."""

    test: Node
    body: Node


@dataclass(slots=True)
class DoWhile(Node):
    """``do … while``."""

    body: Node
    test: Node


@dataclass(slots=True)
class Return(Node):
    """``return``."""

    value: Node | None


@dataclass(slots=True)
class Jump(Node):
    """``break`` or ``continue``."""

    kind: str


@dataclass(slots=True)
class Throw(Node):
    """``throw``."""

    value: Node


@dataclass(slots=True)
class Try(Node):
    """``try``."""

    block: Block
    param: Node | None
    handler: Block | None
    finalizer: Block | None


@dataclass(slots=True)
class Switch(Node):
    """``switch``; a case without a test is the default."""

    value: Node
    cases: list[tuple[Node | None, list[Node]]]


@dataclass(slots=True)
class Empty(Node):
    """``;``."""


@dataclass(slots=True)
class Script:
    """A whole script."""

    body: list[Node]
    declared: list[str]
    source: Source


def names_in(target: Node | None) -> Iterator[str]:
    """Yield the variables that a pattern sets."""
    match target:
        case Name(_, name):
            yield name
        case Default(_, inner, _) | Spread(_, inner):
            yield from names_in(inner)
        case ArrayPattern(_, items):
            for item in items:
                yield from names_in(item)
        case ObjectPattern(_, entries):
            for entry in entries:
                yield from names_in(entry.value)
