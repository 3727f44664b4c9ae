"""Rows of words, put under each other as kubectl does."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

GAP: Final = 2


def aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    """The rows as lines whose columns begin at the same place; the first one is the heading."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        "".join(cell.ljust(width + GAP) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    ]
