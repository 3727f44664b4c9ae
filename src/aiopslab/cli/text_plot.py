"""Small plots of text: a row of blocks over time, and a row of marks below it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

BLOCKS: Final = "▁▂▃▄▅▆▇█"
MANY: Final = "+"
"""The mark of a column that several marks fall into."""


def draw_blocks(shares: Sequence[float | None]) -> str:
    """Return a column for each share from 0 to 1; a space where it is not known."""
    return "".join(" " if share is None else BLOCKS[_pick_level(share)] for share in shares)


def _pick_level(share: float) -> int:
    return min(len(BLOCKS) - 1, max(0, int(share * len(BLOCKS))))


def draw_marks(marks: Mapping[float, str], start: float, end: float, width: int) -> str:
    """Return a row with a text at each of some times between start and end; texts that would overlap become ``MANY``."""
    row = [" "] * width
    for time, text in sorted(marks.items()):
        first = min(width - 1, int((time - start) / max(end - start, 1e-9) * width))
        first = max(0, min(first, width - len(text)))
        if any(char != " " for char in row[first : first + len(text)]):
            row[first] = MANY
        else:
            row[first : first + len(text)] = text
    return "".join(row).rstrip()
