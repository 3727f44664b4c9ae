"""Descriptions in lines of a width."""

from __future__ import annotations

import re
from typing import Final

_PIECES: Final = re.compile(r"\n|[^\S\n\u00a0]+|(?:[^\s]|\u00a0)+")


def fold(text: str, width: int) -> str:
    """Fold a text at the width; its own line breaks and blanks stay.

    A word longer than the width stays where it is: to begin a line would not help it.
    """
    parts: list[str] = []
    column, blank = 0, ""
    for piece in _PIECES.findall(text):
        if piece == "\n":
            parts.append((blank if column + len(blank) <= width else "") + piece)
            column, blank = 0, ""
        elif piece.isspace() and "\u00a0" not in piece:
            blank = piece
        else:
            # The word is laid letter by letter: it moves as soon as it crosses the width while still shorter.
            if column + len(blank) + len(piece) > width and _crosses(column + len(blank), len(piece), width):
                parts.append("\n")
                column, blank = 0, ""
            parts.append(blank + piece)
            column += len(blank) + len(piece)
            blank = ""
    if column + len(blank) <= width:
        parts.append(blank)
    return "".join(parts)


def _crosses(before: int, length: int, width: int) -> bool:
    return width - before + 1 < width and length > width - before
