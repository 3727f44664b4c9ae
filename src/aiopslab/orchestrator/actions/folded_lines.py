"""Folds log lines that differ only in times, ids and numbers into one line with a count.

Of a thousand equal lines a reader needs one, their number, and the first and last time. Numbers with a meaning, such as
status and exit codes, keep lines apart.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from aiopslab.orchestrator.actions.environment_actions import format_clock

_MEANINGFUL: Final = r"\b(?:status|code|exit)\w*[\"']?\s*[=:]?\s*\d{1,3}\b|HTTP/\d(?:\.\d)?\"?\s\d{3}\b"
_VARYING: Final = re.compile(
    r"(?i)(?=[\da-fsh])(?:"  # how any of these begins: most characters are not tried with each of them
    rf"({_MEANINGFUL})"  # these are kept
    r"|\b\d{4}-(?:\d\d|[a-z]{3})-\d\d[T ]\d\d:\d\d:\d\d[\d.,:+Z-]*"
    r"|\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b"
    r"|\b(?=[a-f]*\d)[0-9a-f]{7,}\b"
    r"|\d+(?:[.:,]\d+)*)"
)
MARK: Final = "#"
MAX_KEY_CHARS: Final = 400


@dataclass(slots=True)
class FoldedLine:
    """Lines that are equal but for varying parts. ``text`` is the newest of them."""

    text: str
    first_s: float
    last_s: float
    count: int = 1

    def format(self, now_s: float) -> str:
        """Return the times, the count and the text as one line."""
        first, last = format_clock(self.first_s, now_s), format_clock(self.last_s, now_s)
        if self.count == 1:
            return f"{last} {self.text}"
        when = last if first == last else f"{first}-{last}"
        return f"{when} x{self.count} {self.text}"


def mask_varying(line: str) -> str:
    """Return a line with its times, ids and numbers replaced by a mark."""
    return _VARYING.sub(lambda found: found[1] or MARK, line[:MAX_KEY_CHARS])


def fold_lines(lines: Iterable[tuple[float, str]]) -> list[FoldedLine]:
    """Fold lines with their times, oldest first; the result is in the order of each line's last time."""
    found: dict[str, FoldedLine] = {}
    for time_s, text in lines:
        key = mask_varying(text)
        known = found.pop(key, None)
        if known is None:
            found[key] = FoldedLine(text, time_s, time_s)
        else:
            known.text, known.last_s, known.count = text, time_s, known.count + 1
            found[key] = known
    return list(found.values())
