"""What can go wrong in printing."""

from __future__ import annotations


class PrintError(Exception):
    """An object cannot be printed as asked. The text follows ``error: ``; ``printed`` went out before it."""

    def __init__(self, message: str, printed: str = "") -> None:
        super().__init__(message)
        self.printed = printed


class Crash(PrintError):
    """What makes the genuine kubectl itself end with a Go panic: exit code 2, and no ``error: `` before it."""
