"""The errors of awk programs, at compile time and at run time."""

from __future__ import annotations


class ProgramError(Exception):
    """The program's text is invalid. Each line is a message without the command's name."""

    def __init__(self, *lines: str, status: int = 1) -> None:
        super().__init__("\n".join(lines))
        self.lines = lines
        self.status = status


class Fatal(Exception):
    """A run-time error that ends the program. ``place`` is its position in the text, or empty."""

    def __init__(self, message: str, place: str = "") -> None:
        super().__init__(message)
        self.place = place
