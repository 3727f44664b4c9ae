"""Formats rows of cells in aligned columns."""

from __future__ import annotations

from collections.abc import Sequence


def align_columns(
    rows: Sequence[Sequence[str]], right: Sequence[bool], least: Sequence[int] = ()
) -> list[str]:
    """Align rows in columns that are as wide as their widest cell, and at least ``least``.

    ``right`` marks right-aligned columns. The last column is not padded.
    """
    if not rows:
        return []
    widths = [
        max([len(row[column]) for row in rows] + [least[column] if column < len(least) else 0])
        for column in range(len(rows[0]))
    ]
    lines = []
    for row in rows:
        *cells, last = [
            text.rjust(width) if on_right else text.ljust(width)
            for text, width, on_right in zip(row, widths, right, strict=True)
        ]
        lines.append(" ".join([*cells, last if right[-1] else row[-1]]))
    return lines
