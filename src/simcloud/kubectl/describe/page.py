"""The page that a describer writes to: indented lines whose cells are separated by tabs and aligned at the end.

A column is as wide as its widest cell in consecutive lines; the last cell of a line belongs to no column. This is the
layout of Go's ``text/tabwriter``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from functools import lru_cache
from typing import Final

from simcloud.kubernetes.api.tables import cells

NONE: Final = "<none>"
UNSET: Final = "<unset>"
GAP: Final = 2
INDENT: Final = "  "
_TAB = re.compile("[\t\v]")
_ZERO_TIME: Final = "Mon, 01 Jan 0001 00:00:00 +0000"


class Page:
    """What has been written so far; ``text()`` is all of it, aligned."""

    def __init__(self) -> None:
        self._written: list[str] = []

    def line(self, *columns: str, level: int = 0) -> None:
        """Write a line of columns."""
        self._written.append(f"{INDENT * level}{chr(9).join(columns)}\n")

    def field(self, title: str, value: object, level: int = 0) -> None:
        """A title and its value."""
        self._written.append(f"{INDENT * level}{title}:\t{value}\n")

    def optional(self, title: str, value: object, level: int = 0) -> None:
        """A title and its value, if it has one."""
        if value:
            self.field(title, value, level)

    def several(self, title: str, values: Iterable[str], level: int = 0) -> None:
        """A title and its values, one below the other."""
        heading = f"{INDENT * level}{title}:"
        for value in values:
            self._written.append(f"{heading}\t{value}\n")
            heading = ""
        if heading:
            self._written.append(f"{heading}\t{NONE}\n")

    def table(
        self,
        headings: Sequence[str],
        rows: Iterable[Sequence[object]],
        level: int = 1,
        rules: Sequence[str] | None = None,
    ) -> None:
        """Headings, rules below them (as long as the headings, if nothing is said), and rows."""
        self.line(*headings, level=level)
        self.line(*(rules or ["-" * len(heading) for heading in headings]), level=level)
        for row in rows:
            self.line(*map(str, row), level=level)

    def write(self, text: str) -> None:
        """Text as it stands."""
        self._written.append(text)

    def raw(self) -> str:
        """The page as it was written, its cells parted by tabs."""
        return "".join(self._written)

    def text(self) -> str:
        """The page, aligned. What could command a terminal is made visible."""
        return align("".join(self._written).replace("\x1b", "^[").replace("\r", "\\r"))


def align(text: str) -> str:
    """Pad the cells of a text to columns."""
    lines = text.split("\n")
    if "\f" in text:
        # A form feed ends a line and whatever columns it was part of.
        parts = text.split("\f")
        return "".join(align(part + "\n") for part in parts[:-1]) + align(parts[-1])
    rows = [_TAB.split(line) if "\t" in line or "\v" in line else [line] for line in lines]
    printed = [""] * len(rows)
    _align(rows, printed, 0, 0, len(rows))
    return "\n".join(printed)


def _align(rows: list[list[str]], printed: list[str], column: int, start: int, end: int) -> None:
    """Print the cells of some rows from a column on; all cells to the left of it are printed."""
    at = start
    while at < end:
        if len(rows[at]) - 1 <= column:
            if len(rows[at]) > column:
                printed[at] += rows[at][column]
            at += 1
            continue
        first = at
        while at < end and len(rows[at]) - 1 > column:
            at += 1
        width = max(len(rows[index][column]) for index in range(first, at)) + GAP
        for index in range(first, at):
            printed[index] += rows[index][column].ljust(width)
        _align(rows, printed, column + 1, first, at)


@lru_cache(maxsize=4096)
def long_time(text: str | None) -> str:
    """A time with its day of the week; what is not set is the beginning of time."""
    moment = cells.seconds(text)
    if moment is None:
        return _ZERO_TIME
    return datetime.fromtimestamp(moment // 1, UTC).strftime("%a, %d %b %Y %H:%M:%S +0000")
