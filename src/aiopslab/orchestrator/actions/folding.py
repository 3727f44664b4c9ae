"""Lines of logs, folded: those that say the same but for times, ids and numbers are one, with a count.

What a reader needs of a thousand equal lines is one of them, how many there were, and from when to when. Numbers that
tell lines apart are kept: the status of a request, a code.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from aiopslab.orchestrator.actions.base import clock

_TELLING: Final = r"\b(?:status|code|exit)\w*[\"']?\s*[=:]?\s*\d{1,3}\b|HTTP/\d(?:\.\d)?\"?\s\d{3}\b"
_VARYING: Final = re.compile(
    rf"(?i)({_TELLING})"  # these stay
    r"|\b\d{4}-(?:\d\d|[a-z]{3})-\d\d[T ]\d\d:\d\d:\d\d[\d.,:+Z-]*"
    r"|\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b"
    r"|\b(?=[a-f]*\d)[0-9a-f]{7,}\b"
    r"|\d+(?:[.:,]\d+)*"
)
MARK: Final = "#"
LONGEST_KEY: Final = 400


@dataclass(slots=True)
class Folded:
    """Lines that say the same. ``text`` is the newest of them."""

    text: str
    first_s: float
    last_s: float
    count: int = 1

    def line(self, now_s: float) -> str:
        """For a reader: when, how often, what."""
        first, last = clock(self.first_s, now_s), clock(self.last_s, now_s)
        if self.count == 1:
            return f"{last} {self.text}"
        when = last if first == last else f"{first}-{last}"
        return f"{when} x{self.count} {self.text}"


def shape(line: str) -> str:
    """What a line says, without what varies from one time to the next."""
    return _VARYING.sub(lambda found: found[1] or MARK, line[:LONGEST_KEY])


def fold(lines: Iterable[tuple[float, str]]) -> list[Folded]:
    """Lines with their times, oldest first, folded; in the order in which each was last said."""
    found: dict[str, Folded] = {}
    for time_s, text in lines:
        key = shape(text)
        known = found.pop(key, None)
        if known is None:
            found[key] = Folded(text, time_s, time_s)
        else:
            known.text, known.last_s, known.count = text, time_s, known.count + 1
            found[key] = known
    return list(found.values())
