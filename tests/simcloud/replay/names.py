"""What the recorded cluster called something, and what ours calls it: addresses and drawn names.

Learnt by comparing what both print: lines that are the same but for what may differ tell of the same thing.
"""

from __future__ import annotations

import re

from tests.simcloud.server.kubernetes.golden.normalise import norm

DRAWN = re.compile(
    r"\b\d{1,3}\.\d{1,3}\.\d{1,3}\.\d{1,3}\b"
    r"|\b[a-z][a-z0-9-]*-[bcdf0-9][bcdf0-9ghjklmnpqrstvwxz]{7,9}-[bcdfghjklmnpqrstvwxz2456789]{5}\b"
)


class Names:
    """Grows with every line typed. ``translate`` puts our names for the recorded ones."""

    def __init__(self) -> None:
        self._ours: dict[str, str] = {}

    def learn(self, recorded: str, ours: str) -> None:
        """Pair what both clusters printed for the same command."""
        waiting: dict[str, list[str]] = {}
        for text in ours.splitlines():
            waiting.setdefault(norm(text), []).append(text)
        for text in recorded.splitlines():
            partners = waiting.get(norm(text))
            if not partners:
                continue
            theirs, mine = DRAWN.findall(text), DRAWN.findall(partners.pop(0))
            if len(theirs) == len(mine):
                self._ours.update(zip(theirs, mine, strict=True))

    def translate(self, text: str) -> str:
        """The same words about our cluster."""
        return DRAWN.sub(lambda found: self._ours.get(found[0], found[0]), text)
