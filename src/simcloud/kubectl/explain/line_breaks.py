"""Descriptions in lines of a width. The two forms of ``explain`` break lines by different rules."""

from __future__ import annotations

import re
from typing import Final

_PIECES: Final = re.compile(r"\n|[^\S\n\u00a0]+|(?:[^\s]|\u00a0)+")
_ITEM: Final = re.compile(r"(\d+\.?|-|\*)\s")
_BLOCK: Final = "    "


def folded(text: str, width: int) -> str:
    """A text whose own line breaks and blanks stay; a word that would stand beyond the width begins a line.

    A word longer than the width stays where it is: to begin a line would not help it.
    """
    told: list[str] = []
    column, blank = 0, ""
    for piece in _PIECES.findall(text):
        if piece == "\n":
            told.append((blank if column + len(blank) <= width else "") + piece)
            column, blank = 0, ""
        elif piece.isspace() and "\u00a0" not in piece:
            blank = piece
        else:
            # The word is laid letter by letter: it moves as soon as it crosses the width while still shorter.
            if column + len(blank) + len(piece) > width and _crosses(column + len(blank), len(piece), width):
                told.append("\n")
                column, blank = 0, ""
            told.append(blank + piece)
            column += len(blank) + len(piece)
            blank = ""
    if column + len(blank) <= width:
        told.append(blank)
    return "".join(told)


def _crosses(before: int, length: int, width: int) -> bool:
    return width - before + 1 < width and length > width - before


def filled(text: str, width: int) -> list[str]:
    """A text whose lines are joined and filled anew; blocks, blank lines, lists and what follows a colon stay."""
    lines: list[str] = []
    words: list[str] = []
    last = ""

    def flush() -> None:
        nonlocal last
        if words:
            lines.append(" ".join(words))
            words.clear()
            last = ""

    for line in text.split("\n"):
        if line.startswith(_BLOCK):
            flush()
            lines.append(line)
            continue
        if lines and not line.strip():
            flush()
            lines.append("")
            continue
        if last.endswith(":") or not line.strip() or _ITEM.match(line.strip()):
            flush()
        for word in line.split():
            last = word
            if words and len(" ".join([*words, word])) > width:
                flush()
                last = word
            words.append(word)
    flush()
    return lines
