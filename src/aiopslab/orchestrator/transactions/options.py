"""The options of transactions, apart from the transactions themselves: they are needed without a cloud."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

Undo = Literal["inverse", "copy"]
MAX_COMMANDS: Final = 20


@dataclass(frozen=True)
class TransactionOptions:
    """How transactions work: the way to undo, and the most commands that one may have."""

    undo: Undo = "inverse"
    max_commands: int = MAX_COMMANDS

    def __post_init__(self) -> None:
        if self.undo not in ("inverse", "copy"):
            raise ValueError(f"undo must be 'inverse' or 'copy', not {self.undo!r}.")
        if self.max_commands < 1:
            raise ValueError(f"max_commands must be at least 1, not {self.max_commands}.")
