"""The parsed form of a regular expression, common to all flavours.

The parsers build it; it is then written in RE2's syntax where RE2 can do it, and otherwise
compiled for the backtracking matcher.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from msgspec import Struct, field

from simcloud.patterns.charset import CharSet

MAX_DEPTH = 40
"""Maximum nesting of parentheses; programs walk the tree recursively."""

AnchorKind = Literal[
    "line_start", "line_end", "text_start", "text_end", "boundary", "no_boundary", "word_start", "word_end"
]


class Char(Struct, frozen=True):
    """One character (code point, or byte in the C locale); ``fold`` matches it in either case."""

    code: int
    fold: bool = False


class Set(Struct, frozen=True):
    """One character out of a set."""

    chars: CharSet
    fold: bool = False


class Any(Struct, frozen=True):
    """Any character; a newline only if ``newline``."""

    newline: bool = True


class Anchor(Struct, frozen=True):
    """A position between characters. With ``multiline`` the line anchors also match at inner newlines."""

    kind: AnchorKind
    multiline: bool = False


class Group(Struct, frozen=True):
    """A capturing group."""

    index: int
    body: Node


class Sequence(Struct, frozen=True):
    """Parts in order; an empty sequence matches the empty string."""

    parts: tuple[Node, ...] = ()


class Choice(Struct, frozen=True):
    """Alternatives, earlier ones preferred where the flavour has a preference."""

    options: tuple[Node, ...]


class Repeat(Struct, frozen=True):
    """``low`` to ``high`` times (None: without end)."""

    body: Node
    low: int
    high: int | None
    mode: Literal["greedy", "lazy", "possessive"] = "greedy"


class BackReference(Struct, frozen=True):
    """The text that a group matched."""

    index: int
    fold: bool = False


class Look(Struct, frozen=True):
    """A look-around: a condition on the text that follows (``ahead``) or precedes."""

    body: Node
    ahead: bool
    negative: bool


class Atomic(Struct, frozen=True):
    """An atomic group: no backtracking into it once it has matched."""

    body: Node


class Keep(Struct, frozen=True):
    """``\\K``: the reported match begins here."""


class Condition(Struct, frozen=True):
    """``(?(1)yes|no)``: which branch depends on whether a group has matched."""

    index: int
    yes: Node
    no: Node


Node = (
    Char
    | Set
    | Any
    | Anchor
    | Group
    | Sequence
    | Choice
    | Repeat
    | BackReference
    | Look
    | Atomic
    | Keep
    | Condition
)


def repeat(node: Node, low: int, high: int | None) -> Repeat:
    """A greedy repetition; ``*``, ``+`` and ``?`` upon each other make one of them again."""
    if isinstance(node, Repeat) and _is_simple(low, high) and _is_simple(node.low, node.high):
        return Repeat(node.body, node.low * low, None if None in (node.high, high) else 1)
    return Repeat(node, low, high)


def _is_simple(low: int, high: int | None) -> bool:
    return low <= 1 and high in (1, None)


def children(node: Node) -> tuple[Node, ...]:
    """The direct parts of a node."""
    match node:
        case Sequence(parts=parts):
            return parts
        case Choice(options=options):
            return options
        case Group(body=body) | Repeat(body=body) | Look(body=body) | Atomic(body=body):
            return (body,)
        case Condition(yes=yes, no=no):
            return (yes, no)
        case _:
            return ()


def walk(node: Node) -> Iterator[Node]:
    """A node and everything below it."""
    pending = [node]
    while pending:
        current = pending.pop()
        yield current
        pending.extend(children(current))


class Parsed(Struct):
    """A tree, its number of groups, and the warnings of the genuine grep."""

    tree: Node
    groups: int
    warnings: list[str] = field(default_factory=list)
