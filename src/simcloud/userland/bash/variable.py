"""A variable of the shell: its value or elements, its attributes, and the errors of using it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from simcloud.userland.bash.word_parts import NAME

FNV_OFFSET: Final = 2_166_136_261
FNV_PRIME: Final = 16_777_619
BUCKETS: Final = 1024


Key = int | str
"""A subscript: a number, or the name of an element of an associative array."""


class VariableError(Exception):
    """An assignment is not allowed; the message is bash's, without the shell's name."""


class Readonly(VariableError):
    """The variable is read-only."""

    def __init__(self, name: str) -> None:
        super().__init__(f"{name}: readonly variable")


class BadSubscript(VariableError):
    """The subscript is invalid."""

    def __init__(self, what: str) -> None:
        super().__init__(f"{what}: bad array subscript")


class Variable:
    """A value with attributes. ``items`` holds an array's elements, ``scalar`` any other value."""

    __slots__ = (
        "associative",
        "exported",
        "integer",
        "items",
        "letter_case",
        "nameref",
        "readonly",
        "scalar",
    )

    def __init__(self, scalar: str | None = None) -> None:
        self.scalar = scalar
        self.items: dict[Key, str] | None = None
        self.associative = False
        self.exported = False
        self.readonly = False
        self.integer = False
        self.nameref = False
        self.letter_case = ""

    def copy(self) -> Variable:
        """The same again, independent."""
        twin = Variable(self.scalar)
        if self.items is not None:
            twin.items = dict(self.items)
            twin.associative = self.associative
        twin.exported, twin.readonly, twin.integer = self.exported, self.readonly, self.integer
        twin.nameref, twin.letter_case = self.nameref, self.letter_case
        return twin

    @property
    def is_set(self) -> bool:
        """Whether it has a value at all."""
        return bool(self.items) if self.items is not None else self.scalar is not None

    def value(self) -> str | None:
        """The value of ``$name``: the scalar value, or element 0."""
        if self.items is None:
            return self.scalar
        return self.items.get("0" if self.associative else 0)

    def make_array(self, associative: bool) -> None:
        """Become an array; a value it had becomes element 0."""
        if self.items is None:
            self.items = {}
            self.associative = associative
            if self.scalar is not None:
                self.items["0" if associative else 0] = self.scalar
            self.scalar = None

    def subscripts(self) -> list[Key]:
        """Subscripts in the order bash lists them."""
        if self.items is None:
            return [0] if self.scalar is not None else []
        if self.associative:
            return [*hash_order(map(str, self.items))]
        return [*self.indices()]

    def indices(self) -> list[int]:
        """The subscripts of an array that is not associative."""
        return sorted(key for key in self.items or {} if isinstance(key, int))

    def values(self) -> list[str]:
        """All elements, in the order of their subscripts."""
        if self.items is None:
            return [self.scalar] if self.scalar is not None else []
        return [self.items[key] for key in self.subscripts()]

    def flags(self) -> str:
        """The attributes as ``declare -p`` shows them."""
        letters = "a" if self.items is not None and not self.associative else ""
        letters += "A" if self.associative else ""
        letters += "i" if self.integer else ""
        letters += "n" if self.nameref else ""
        letters += "r" if self.readonly else ""
        letters += "x" if self.exported else ""
        letters += self.letter_case
        return letters


def hash_order(keys: Iterable[str]) -> list[str]:
    """Keys of an associative array as bash's hash table yields them: by bucket, newest first within one."""
    numbered = list(enumerate(keys))
    numbered.sort(key=lambda item: (_bucket(item[1]), -item[0]))
    return [key for _, key in numbered]


def _bucket(key: str) -> int:
    value = FNV_OFFSET
    for byte in key.encode("utf-8", "surrogateescape"):
        value = value * FNV_PRIME & 0xFFFF_FFFF ^ byte
    return value & (BUCKETS - 1)


def apply_letter_case(value: str, letter_case: str) -> str:
    """``declare -u``, ``-l`` and ``-c``."""
    if letter_case == "u":
        return value.upper()
    if letter_case == "l":
        return value.lower()
    return value[:1].upper() + value[1:].lower()


def is_name(text: str) -> bool:
    """Whether text can name a variable."""
    match = NAME.match(text)
    return match is not None and match.end() == len(text)
