"""The environment of a running jq program: its budget, the clock, environment variables."""

from __future__ import annotations

from collections.abc import Callable

from msgspec import Struct, field

from simcloud.machine.process import LimitExceeded
from simcloud.userland.jq.tree import Value

STEPS_PER_TURN = 16
COPIES_PER_STEP = 32
MOST_COPIED = 4 << 20
"""Items that an array or object made from others may have."""
SMALL_ITEMS = 16
"""Copying up to this number of items is free, because creating them was charged."""
SMALL_CHARS = 1 << 20
GROWTH = 8
"""Maximum growth of a text by quoting, with all intermediate copies."""


class Run(Struct):
    """The environment of one program, and all that it can reach of the machine."""

    spend_turns: Callable[[int], None]
    spend_bytes: Callable[[int], None]
    clock: Callable[[], float]
    environment: dict[str, str] = field(default_factory=dict)
    input_name: Callable[[], str | None] = lambda: None
    input_line: Callable[[], int] = lambda: 0
    _owed: int = 0

    def spend(self, steps: int) -> None:
        """Pay for small steps, such as values visited; a turn is worth many of them."""
        self._owed += steps
        if self._owed >= STEPS_PER_TURN:
            self.spend_turns(self._owed // STEPS_PER_TURN)
            self._owed %= STEPS_PER_TURN

    def spend_copy(self, items: int) -> None:
        """Charge for copying items of an array or object."""
        if items > MOST_COPIED:
            raise too_much(f"more than {MOST_COPIED} items in one array or object")
        self.spend(1 + items // COPIES_PER_STEP)

    def hold(self, value: Value) -> Value:
        """Pay for a value that becomes part of another: a copy that is let go at once costs its steps only."""
        kind = value.__class__
        if (kind is list or kind is dict) and len(value) > SMALL_ITEMS:
            self.spend_bytes(len(value) * (8 if kind is list else 32))
        return value

    def quotable(self, text: str) -> str:
        """Pay ahead for what a large text may become when it is quoted, and pass it on."""
        if len(text) > SMALL_CHARS:
            self.spend_bytes(GROWTH * len(text))
        return text

    def text(self, text: str) -> str:
        """Pay for a text that was made, and pass it on."""
        self.spend_bytes(len(text))
        return text


def too_much(what: str) -> LimitExceeded:
    """The end of a program that holds more than it may."""
    return LimitExceeded(f"limit exceeded: {what}")
