"""How much an agent is shown at once: so many lines and bytes, whole lines only, and what to do about the rest.

A model reads all of an observation and pays for it; whatever is cut, it is told, with a way to see more.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

SHOWN_LINES: Final = 200
SHOWN_BYTES: Final = 16_000
LINE_CHARACTERS: Final = 600
MOST_LINES: Final = 1000
MOST_BYTES: Final = 40_000
"""Of any observation, whatever made it."""


def cut_line(line: str, most: int = LINE_CHARACTERS) -> str:
    """A line that is not too long to be read."""
    return line if len(line) <= most else f"{line[:most]}… [{len(line) - most} more characters]"


def head(
    lines: Sequence[str], hint: str, most_lines: int = SHOWN_LINES, most_bytes: int = SHOWN_BYTES
) -> str:
    """The first lines that there is room for; ``hint`` says how to see the rest."""
    kept = _that_fit(lines, most_lines, most_bytes)
    return "\n".join([*kept, *_note(len(lines), len(kept), "first", hint)])


def tail(
    lines: Sequence[str], hint: str, most_lines: int = SHOWN_LINES, most_bytes: int = SHOWN_BYTES
) -> str:
    """The last lines that there is room for, under a word on what stood before them."""
    kept = _that_fit(lines[::-1], most_lines, most_bytes)[::-1]
    return "\n".join([*_note(len(lines), len(kept), "last", hint), *kept])


def bounded(text: str, hint: str, most_bytes: int = SHOWN_BYTES, most_lines: int = 2 * SHOWN_LINES) -> str:
    """A text as it is, or its beginning and its end, where it is too long."""
    lines = text.split("\n")
    if len(lines) > most_lines:
        shown = most_lines // 2
        gap = _gap(len(lines) - 2 * shown, len(lines), "lines", hint)
        text = "\n".join([*lines[:shown], gap, *lines[-shown:]])
    data = text.encode("utf-8", "replace")
    if len(data) <= most_bytes:
        return text
    first, last = data[: most_bytes * 2 // 3], data[-(most_bytes // 3) :]
    gap = _gap(len(data) - len(first) - len(last), len(data), "bytes", hint)
    return f"{first.decode('utf-8', 'ignore')}\n{gap}\n{last.decode('utf-8', 'ignore')}"


def _gap(left_out: int, total: int, what: str, hint: str) -> str:
    return f"[… {left_out} of {total} {what} are left out here: {hint} …]"


def _that_fit(lines: Sequence[str], most_lines: int, most_bytes: int) -> list[str]:
    kept: list[str] = []
    room = most_bytes
    for line in lines[:most_lines]:
        shown = cut_line(line)
        room -= len(shown.encode("utf-8", "replace")) + 1
        if room < 0:
            break
        kept.append(shown)
    return kept


def _note(total: int, kept: int, which: str, hint: str) -> list[str]:
    return [] if kept == total else [f"[The {which} {kept} of {total} lines are shown. {hint}]"]
