"""Text of observations: limits on lines and bytes, with a note on what was omitted, and aligned tables.

A model reads a whole observation and pays for it. Where an observation is cut, it says so and how to see more.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

SHOWN_LINES: Final = 200
SHOWN_BYTES: Final = 16_000
LINE_CHARACTERS: Final = 600
MAX_LINES: Final = 1000
MAX_BYTES: Final = 40_000
"""Limit of any observation, also of authors' own actions."""
COLUMN_GAP: Final = 2


def cut_line(line: str, max_chars: int = LINE_CHARACTERS) -> str:
    """Return a line, cut to a number of characters."""
    return (
        line if len(line) <= max_chars else f"{line[:max_chars]}… [{len(line) - max_chars} more characters]"
    )


def format_head(
    lines: Sequence[str], hint: str, max_lines: int = SHOWN_LINES, max_bytes: int = SHOWN_BYTES
) -> str:
    """Return the first lines within the limits; ``hint`` says how to see the rest."""
    kept = _take_lines(lines, max_lines, max_bytes)
    return "\n".join([*kept, *_make_note(len(lines), len(kept), "first", hint)])


def format_tail(
    lines: Sequence[str], hint: str, max_lines: int = SHOWN_LINES, max_bytes: int = SHOWN_BYTES
) -> str:
    """Return the last lines within the limits, below a note on those omitted; ``hint`` says how to see them."""
    kept = _take_lines(lines[::-1], max_lines, max_bytes)[::-1]
    return "\n".join([*_make_note(len(lines), len(kept), "last", hint), *kept])


def limit_text(text: str, hint: str, max_bytes: int = SHOWN_BYTES, max_lines: int = 2 * SHOWN_LINES) -> str:
    """Return a text unchanged, or its beginning and its end if it exceeds the limits."""
    lines = text.split("\n")
    if len(lines) > max_lines:
        shown = max_lines // 2
        gap = _make_gap(len(lines) - 2 * shown, len(lines), "lines", hint)
        text = "\n".join([*lines[:shown], gap, *lines[-shown:]])
    data = text.encode("utf-8", "replace")
    if len(data) <= max_bytes:
        return text
    first, last = data[: max_bytes * 2 // 3], data[-(max_bytes // 3) :]
    gap = _make_gap(len(data) - len(first) - len(last), len(data), "bytes", hint)
    return f"{first.decode('utf-8', 'ignore')}\n{gap}\n{last.decode('utf-8', 'ignore')}"


def align_rows(rows: Sequence[Sequence[str]]) -> list[str]:
    """Return rows as lines with aligned columns, as kubectl prints them; the first row is the heading."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        "".join(cell.ljust(width + COLUMN_GAP) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    ]


def _make_gap(omitted: int, total: int, what: str, hint: str) -> str:
    return f"[… {omitted} of {total} {what} omitted: {hint} …]"


def _take_lines(lines: Sequence[str], max_lines: int, max_bytes: int) -> list[str]:
    kept: list[str] = []
    remaining = max_bytes
    for line in lines[:max_lines]:
        shown = cut_line(line)
        remaining -= len(shown.encode("utf-8", "replace")) + 1
        if remaining < 0:
            break
        kept.append(shown)
    return kept


def _make_note(total: int, kept: int, which: str, hint: str) -> list[str]:
    return [] if kept == total else [f"[Showing the {which} {kept} of {total} lines. {hint}]"]
