"""The layout of names: in columns, in rows, or separated by commas.

The number of columns depends on the width; the gaps between them are filled with tabs where possible, as in ls.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, NamedTuple

GAP: Final = 2
LEAST_COLUMN: Final = 3


class Label(NamedTuple):
    """The text of an entry and its width."""

    text: str
    width: int


def with_commas(labels: list[Label], width: int) -> str:
    """``a, b, c``, with lines broken at the width."""
    text, position = "", 0
    for number, label in enumerate(labels):
        if number:
            if position + GAP + label.width < width:
                text, position = f"{text}, ", position + GAP
            else:
                text, position = f"{text},\n", 0
        text += label.text
        position += label.width
    return f"{text}\n" if labels else ""


def down_columns(labels: list[Label], width: int, tab: int) -> str:
    """The order runs down the first column, then the second."""
    columns, widths = _fitting(labels, width, lambda index, count: index // -(-len(labels) // count))
    rows = -(-len(labels) // columns) if labels else 0
    return "".join(_row(labels[row::rows], widths, tab) for row in range(rows))


def across_rows(labels: list[Label], width: int, tab: int) -> str:
    """The order runs along the first row, then the second."""
    columns, widths = _fitting(labels, width, lambda index, count: index % count)
    return "".join(_row(labels[at : at + columns], widths, tab) for at in range(0, len(labels), columns))


def _fitting(labels: list[Label], width: int, column_of: Callable[[int, int], int]) -> tuple[int, list[int]]:
    """The largest number of columns that fit, and how wide each is."""
    most = max(1, min(width // LEAST_COLUMN, len(labels)))
    for count in range(most, 1, -1):
        widths = [LEAST_COLUMN] * count
        total = LEAST_COLUMN * count
        for index, label in enumerate(labels):
            column = column_of(index, count)
            needed = label.width + (0 if column == count - 1 else GAP)
            if needed > widths[column]:
                total += needed - widths[column]
                widths[column] = needed
            if total >= width:
                break
        else:
            return count, widths
    return 1, [max((label.width for label in labels), default=0)]


def _row(labels: list[Label], widths: list[int], tab: int) -> str:
    text, position = "", 0
    for number, label in enumerate(labels):
        text += label.text
        if number < len(labels) - 1:
            text += _space(position + label.width, position + widths[number], tab)
            position += widths[number]
    return f"{text}\n"


def _space(start: int, end: int, tab: int) -> str:
    text = ""
    while start < end:
        if tab and end // tab > (start + 1) // tab:
            text += "\t"
            start += tab - start % tab
        else:
            text += " "
            start += 1
    return text
