"""The nodes of a JSONPath template."""

from __future__ import annotations

from dataclasses import dataclass, field


class JsonPathError(Exception):
    """A template that cannot be read or does not fit the object; its text is the genuine one's."""


class Panic(JsonPathError):
    """A template that makes the genuine kubectl itself fall over."""


@dataclass(frozen=True, slots=True)
class Text:
    """Words to print as they are."""

    text: str


@dataclass(frozen=True, slots=True)
class Field:
    """A key of a map."""

    name: str


@dataclass(frozen=True, slots=True)
class Identifier:
    """A word: ``range``, ``end``, or a mistake."""

    name: str


@dataclass(frozen=True, slots=True)
class Number:
    """A number to compare with or to print."""

    value: int | float


@dataclass(frozen=True, slots=True)
class Truth:
    """``true`` or ``false``."""

    value: bool


@dataclass(frozen=True, slots=True)
class Wildcard:
    """Everything directly inside."""


@dataclass(frozen=True, slots=True)
class Descent:
    """Everything inside, however deep."""


@dataclass(frozen=True, slots=True)
class Slice:
    """Some elements of a list. A bound that is None is that of the list."""

    start: int | None
    stop: int | None
    step: int | None
    single: bool
    """One index was given, so that ``stop`` follows from it."""


@dataclass(frozen=True, slots=True)
class Branch:
    """What stands in one pair of braces, or one side of a filter: a walk step by step."""

    nodes: list[Node] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Union:
    """The results of several walks, one after another."""

    branches: list[Branch]


@dataclass(frozen=True, slots=True)
class Filter:
    """The elements of a list for which a comparison holds; ``exists`` compares nothing."""

    left: Branch
    right: Branch
    operator: str


Node = Text | Field | Identifier | Number | Truth | Wildcard | Descent | Slice | Branch | Union | Filter
