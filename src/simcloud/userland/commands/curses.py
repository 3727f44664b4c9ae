"""Output of programs that use ncurses, for terminals of the xterm family: only what changes is written.

The choice between ways to move the cursor is that of ncurses, which compares the lengths of their sequences. Characters are
never inserted or deleted; ncurses does so for text that moves within a line.
"""

from __future__ import annotations

from itertools import groupby
from typing import Final

MOVE_COST: Final = 8
"""What an absolute move costs: the length of its sequence for row and column 24, whatever they are."""
AXIS_COST: Final = 5
LONG_DISTANCE: Final = 7
ERASE: Final = "\x1b[K"
ERASE_BELOW: Final = "\x1b[J"
FAMILIES: Final = ("xterm", "screen", "tmux", "linux", "vt", "ansi", "rxvt", "konsole", "dumb")


class OpeningFailed(Exception):
    """The terminal is not known; the text is the program's message."""


class CursesScreen:
    """The screen of one program. ``draw`` and ``end`` return what to write."""

    def __init__(self, term: str, size: tuple[int, int]) -> None:
        if not term.startswith(FAMILIES):
            raise OpeningFailed(f"Error opening terminal: {term or 'unknown'}.\n")
        self.columns, self.lines = size
        self._rows: list[str] = []
        self._cursor: tuple[int, int] | None = (0, 0)
        """Row and column; None after a character in the last column."""

    def begin(self) -> str:
        """Switch to the alternate screen."""
        return f"\x1b[?1049h\x1b[22;0;0t\x1b[1;{self.lines}r\x1b(B\x1b[m\x1b[4l\x1b[?7h"

    def end(self) -> str:
        """Leave the alternate screen."""
        return f"\x1b[{self.lines};1H\x1b[?1049l\x1b[23;0;0t\r\x1b[?1l\x1b>"

    def draw(self, rows: list[str]) -> str:
        """Show these lines, and leave the cursor in the last corner."""
        output = ""
        if not self._rows:
            self._rows = [" " * self.columns] * self.lines
            output = "\x1b[H\x1b[2J"
        wanted = [row.ljust(self.columns)[: self.columns] for row in rows[: self.lines]]
        wanted += [" " * self.columns] * (self.lines - len(wanted))
        before, self._rows = self._rows, wanted
        if wanted == before and not output:
            return ""
        filled = max((number for number, row in enumerate(wanted) if row.strip()), default=-1) + 1
        top = next((number for number in range(filled, self.lines) if before[number].strip()), self.lines)
        if top < self.lines:
            output += self._move(top, 0) + ERASE_BELOW
            before = before[:top] + wanted[top:]
        for number, (old, new) in enumerate(zip(before, wanted, strict=True)):
            if old != new:
                output += self._change_line(number, old, new)
        return output + self._move(self.lines - 1, self.columns - 1)

    def _change_line(self, row: int, old: str, new: str) -> str:
        first = next(column for column in range(self.columns) if old[column] != new[column])
        old_end, new_end = (max(first + 1, len(line.rstrip())) for line in (old, new))
        output = self._move(row, first)
        if old_end - new_end > len(ERASE):
            if new[first:new_end].strip():
                output += self._put(row, old, new, first, new_end) + self._move(row, new_end)
            return output + ERASE
        last = max(column for column in range(self.columns) if old[column] != new[column])
        return output + self._put(row, old, new, first, last + 1)

    def _put(self, row: int, old: str, new: str, first: int, end: int) -> str:
        """Write a part of a line; longer stretches that stay as they are are skipped."""
        output, start = "", first
        for is_same, group in groupby(range(first, end), lambda column: old[column] == new[column]):
            columns = list(group)
            if is_same and len(columns) > AXIS_COST:
                output += self._write(row, new[start : columns[0]])
                start = columns[-1] + 1
                if start < end:
                    output += self._move(row, start)
        return output + self._write(row, new[start:end])

    def _write(self, row: int, text: str) -> str:
        if text and self._cursor is not None:
            column = self._cursor[1] + len(text)
            self._cursor = (row, column) if column < self.columns else None
        return text

    def _move(self, row: int, column: int) -> str:
        """Return the shortest way to a place."""
        best, cost = f"\x1b[{row + 1};{column + 1}H", MOVE_COST
        start, self._cursor = self._cursor, (row, column)
        if start == (row, column):
            return ""
        is_inside = LONG_DISTANCE < column < self.columns - 1 - LONG_DISTANCE
        if start is None or (is_inside and abs(row - start[0]) + abs(column - start[1]) > LONG_DISTANCE):
            return best
        for prefix, prefix_cost, origin in (("", 0, start), ("\r", 1, (start[0], 0)), ("\x1b[H", 3, (0, 0))):
            way, way_cost = self._move_relative(origin, row, column)
            if prefix_cost + way_cost < cost:
                best, cost = prefix + way, prefix_cost + way_cost
        return best

    def _move_relative(self, start: tuple[int, int], row: int, column: int) -> tuple[str, int]:
        way, cost = "", 0
        if row != start[0]:
            way, cost = ("\x1b[A", 3) if row == start[0] - 1 else (f"\x1b[{row + 1}d", AXIS_COST)
        distance = abs(column - start[1])
        if distance >= AXIS_COST:
            return f"{way}\x1b[{column + 1}G", cost + AXIS_COST
        over = self._rows[row][start[1] : column] if column > start[1] else "\b" * distance
        return way + over, cost + distance
