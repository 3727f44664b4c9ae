"""What a running jq program has around it: what it may still spend, the clock, the environment."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from aiopslab.machine.process import LimitExceeded

STEPS_PER_TURN = 16
COPIES_PER_STEP = 128


@dataclass(slots=True)
class Run:
    """The surroundings of one program. Nothing else of the machine is reachable from inside it."""

    spend_turns: Callable[[int], None]
    spend_bytes: Callable[[int], None]
    clock: Callable[[], float]
    environment: dict[str, str] = field(default_factory=dict)
    input_name: Callable[[], str | None] = lambda: None
    input_line: Callable[[], int] = lambda: 0
    folder: str = "/"
    _owed: int = 0

    def spend(self, steps: int) -> None:
        """Pay for small steps, such as values visited; a turn is worth many of them."""
        self._owed += steps
        if self._owed >= STEPS_PER_TURN:
            self.spend_turns(self._owed // STEPS_PER_TURN)
            self._owed %= STEPS_PER_TURN

    def spend_copy(self, items: int) -> None:
        """Pay for copying so many items of an array or object."""
        self.spend(1 + items // COPIES_PER_STEP)

    def text(self, text: str) -> str:
        """Pay for a text that was made, and pass it on."""
        self.spend_bytes(len(text))
        return text


def too_much(what: str) -> LimitExceeded:
    """The end of a program that holds more than it may."""
    return LimitExceeded(f"limit exceeded: {what}")
