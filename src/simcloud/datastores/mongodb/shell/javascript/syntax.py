"""The syntax tree. ``at`` is the position of a node in the source."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct, field


class Source(Struct, frozen=True):
    """A script and the name that stack traces give it."""

    text: str
    name: str
    internal: bool = False
    """Whether it is part of the shell."""

    def place(self, at: int) -> tuple[int, int]:
        """Line and column of an offset, both from one."""
        line = self.text.count("\n", 0, at) + 1
        return line, at - (self.text.rfind("\n", 0, at) + 1) + 1


class Node(Struct):
    """A node of the tree."""

    at: int


# -- expressions ---------------------------------------------------------------------------------


class Literal(Node):
    """A number, a string, true, false or null."""

    value: float | str | bool | None


class Template(Node):
    """A template string: one more piece of text than expressions."""

    texts: list[str]
    parts: list[Node]


class RegexLiteral(Node):
    """``/pattern/flags``."""

    pattern: str
    flags: str


class Name(Node):
    """A variable."""

    name: str


class This(Node):
    """``this``."""


class Spread(Node):
    """``...items``, in a literal, a call or (as the rest) a pattern."""

    value: Node


class ArrayLiteral(Node):
    """``[a, , ...b]``; a hole is None."""

    items: list[Node | None]


class Property(Node):
    """One entry of an object literal or an object pattern; ``kind`` is "value" or "method"."""

    kind: str
    key: Node
    value: Node


class ObjectLiteral(Node):
    """``{a: 1, [b]: 2, ...c}``."""

    entries: list[Property | Spread]


class Function(Node):
    """A function of any kind. An arrow's body may be one expression, held as a return."""

    name: str
    params: list[Node]
    body: list[Node]
    text: str
    arrow: bool = False
    declared: list[str] = field(default_factory=list)
    """Names of ``var`` in the body."""


class Member(Node):
    """``object.name`` or ``object[key]``; ``optional`` with ``?.``."""

    object: Node
    key: Node
    computed: bool
    optional: bool = False


class Call(Node):
    """A call."""

    callee: Node
    args: list[Node]
    optional: bool = False


class Chain(Node):
    """The whole of a chain with ``?.`` in it: where it ends when something is missing."""

    value: Node


class New(Node):
    """``new callee(args)``."""

    callee: Node
    args: list[Node]


class Unary(Node):
    """An operator before its operand."""

    op: str
    value: Node


class Update(Node):
    """``++`` or ``--``."""

    op: str
    prefix: bool
    target: Node


class Binary(Node):
    """An operator that always evaluates both sides."""

    op: str
    left: Node
    right: Node


class Logical(Node):
    """``&&``, ``||`` or ``??``."""

    op: str
    left: Node
    right: Node


class Conditional(Node):
    """``test ? then : otherwise``."""

    test: Node
    then: Node
    otherwise: Node


class Assign(Node):
    """``target op value``; the target may be a pattern when the operator is ``=``."""

    op: str
    target: Node
    value: Node


class Comma(Node):
    """``a, b``."""

    items: list[Node]


# -- patterns ------------------------------------------------------------------------------------


class ArrayPattern(Node):
    """``[a, , ...rest]``."""

    items: list[Node | None]


class ObjectPattern(Node):
    """``{a, b: c = 1, ...rest}``."""

    entries: list[Property | Spread]


class Default(Node):
    """A target with the value it gets when there is none."""

    target: Node
    value: Node


# -- statements ----------------------------------------------------------------------------------


class Declare(Node):
    """``var``, ``let`` or ``const``."""

    kind: str
    bindings: list[tuple[Node, Node | None]]


class DeclareFunction(Node):
    """A function declaration, which is there before the code around it runs."""

    function: Function


class Expression(Node):
    """An expression as a statement."""

    value: Node


class Block(Node):
    """``{ … }``."""

    body: list[Node]


class If(Node):
    """``if``."""

    test: Node
    then: Node
    otherwise: Node | None


class For(Node):
    """``for (first; test; step)``."""

    first: Node | None
    test: Node | None
    step: Node | None
    body: Node


class ForEach(Node):
    """``for (target in/of items)``; ``kind`` is empty when the target is no declaration."""

    kind: str
    target: Node
    over: str
    items: Node
    body: Node


class While(Node):
    """``while``."""

    test: Node
    body: Node


class DoWhile(Node):
    """``do … while``."""

    body: Node
    test: Node


class Return(Node):
    """``return``."""

    value: Node | None


class Jump(Node):
    """``break`` or ``continue``."""

    kind: str


class Throw(Node):
    """``throw``."""

    value: Node


class Try(Node):
    """``try``."""

    block: Block
    param: Node | None
    handler: Block | None
    finalizer: Block | None


class Switch(Node):
    """``switch``; a case without a test is the default."""

    value: Node
    cases: list[tuple[Node | None, list[Node]]]


class Empty(Node):
    """``;``."""


class Script(Struct):
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
