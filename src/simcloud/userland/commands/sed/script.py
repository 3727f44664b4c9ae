"""The parsed form of a sed script: a flat list of commands with their addresses."""

from __future__ import annotations

from enum import Enum
from typing import Literal

from msgspec import Struct, field

from simcloud.patterns import Regex


class Kind(Enum):
    """The kinds of addresses."""

    LINE = "n"
    STEP = "first~step"
    LAST = "$"
    REGEX = "/re/"
    PLUS = "+n"
    MULTIPLE = "~n"


class Address(Struct, frozen=True):
    """One address. ``regex`` is None for the empty pattern, which means the last one used."""

    kind: Kind
    number: int = 0
    step: int = 0
    regex: Regex | None = None


class State(Enum):
    """The state of a range of lines: not begun, inside, or over."""

    INACTIVE = "inactive"
    ACTIVE = "active"
    CLOSED = "closed"


CaseMark = Literal["U", "L", "u", "l", "E"]


class LiteralText(Struct, frozen=True):
    """Literal text of a replacement."""

    text: bytes


class GroupText(Struct, frozen=True):
    """The text of a group (0: the whole match)."""

    index: int


class CaseChange(Struct, frozen=True):
    r"""``\U``, ``\L``, ``\u``, ``\l`` or ``\E``."""

    mark: CaseMark


Part = LiteralText | GroupText | CaseChange


class Substitution(Struct, frozen=True):
    """The ``s`` command."""

    regex: Regex | None
    parts: tuple[Part, ...]
    everywhere: bool = False
    show: int = 0
    number: int = 1
    path: str = ""

    @property
    def groups(self) -> int:
        """The highest group that the replacement refers to."""
        return max((part.index for part in self.parts if isinstance(part, GroupText)), default=0)


class Command(Struct):
    """One command. ``target`` is where it may jump: to a label or the end of a block."""

    name: str
    first: Address | None = None
    second: Address | None = None
    negated: bool = False
    text: bytes = b""
    path: str = ""
    label: str = ""
    number: int | None = None
    target: int = 0
    substitution: Substitution | None = None
    translation: dict[int, str] = field(default_factory=dict)
    state: State = State.INACTIVE
    range_end: int = 0

    def reset(self) -> None:
        """Forget the lines seen so far. A range from line 0 has begun before the first."""
        self.state = State.ACTIVE if self.first == Address(Kind.LINE, 0) else State.INACTIVE


class Script(Struct):
    """All commands in order, whether the first line was ``#n``, and where the script ends."""

    commands: list[Command] = field(default_factory=list)
    quiet: bool = False
    place: str = ""
