"""The nodes of a JSONPath template."""

from __future__ import annotations

from msgspec import Struct, field


class JsonPathError(Exception):
    """A template that cannot be read or does not fit the object; its text is the genuine one's."""


class Panic(JsonPathError):
    """A template that makes the genuine kubectl itself fall over."""


class Text(Struct, frozen=True):
    """Words to print as they are."""

    text: str


class Field(Struct, frozen=True):
    """A key of a map."""

    name: str


class Identifier(Struct, frozen=True):
    """A word: ``range``, ``end``, or a mistake."""

    name: str


class Number(Struct, frozen=True):
    """A number to compare with or to print."""

    value: int | float


class Truth(Struct, frozen=True):
    """``true`` or ``false``."""

    value: bool


class Wildcard(Struct, frozen=True):
    """Everything directly inside."""


class Descent(Struct, frozen=True):
    """Everything inside, however deep."""


class Slice(Struct, frozen=True):
    """Some elements of a list. A bound that is None is that of the list."""

    start: int | None
    stop: int | None
    step: int | None
    single: bool
    """One index was given, so that ``stop`` follows from it."""


class Branch(Struct, frozen=True):
    """What stands in one pair of braces, or one side of a filter: a walk step by step."""

    nodes: list[Node] = field(default_factory=list)


class Union(Struct, frozen=True):
    """The results of several walks, one after another."""

    branches: list[Branch]


class Filter(Struct, frozen=True):
    """The elements of a list for which a comparison holds; ``exists`` compares nothing."""

    left: Branch
    right: Branch
    operator: str


Node = Text | Field | Identifier | Number | Truth | Wildcard | Descent | Slice | Branch | Union | Filter
