"""How statements tell what is to happen next.

A statement returns ``None`` to go on, or one of these signals. Inside a function called from an expression
there is no statement to return to: there, a signal meant for the whole rule travels as ``Unwind``.
"""

from __future__ import annotations

from typing import Final

BREAK: Final = 1
CONTINUE: Final = 2
RETURN: Final = 3
NEXT: Final = 4
NEXTFILE: Final = 5
EXIT: Final = 6

Signal = int | None


class Unwind(Exception):
    """A signal on its way out of a function."""

    def __init__(self, signal: int) -> None:
        super().__init__(signal)
        self.signal = signal
