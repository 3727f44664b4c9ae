"""The leak test: nothing that an agent can read names what is wrong.

What is searched for are the names by which we know an incident (the problem, its family, its faults and their kind), in
every spelling, and words that only somebody who stages incidents would use. A place where the same words stand in a world
in which nothing was injected tells nothing: it is part of the application, and passed over.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from typing import Final

from aiopslab.orchestrator.validation.readable import Passage

TELLTALES: Final = (
    "aiopslab", "answer key", "chaos", "chaosblade", "chaos mesh", "fault injection", "fault injector", "inject fault",
    "injected fault", "ground truth", "litmus", "oracle", "root cause", "sabotage",
)  # fmt: skip
OURS_ALONE: Final = ("aiopslab", "answer key", "fault injection", "ground truth")
"""Those of them that no operator writes."""
AROUND: Final = 60
"""So many characters on each side of what was found are shown and compared."""
MOST: Final = 1_000
"""So many places are told at most: one would be enough."""

_WORDS: Final = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_BETWEEN: Final = r"[\s_./:-]{0,2}"
_RANDOM: Final = re.compile(r"\b(?=[a-z]*\d)[0-9a-z]+\b|\b(?<=-)[bcdfghjklmnpqrstvwxz]{5}\b")
"""Words that differ from world to world: numbers, hashes, and the ends of pods' names."""


@dataclass(frozen=True, order=True)
class Leak:
    """One place where a name stands."""

    name: str
    where: str
    excerpt: str

    def __str__(self) -> str:
        return f"'{self.name}' is to be read in {self.where}: …{self.excerpt}…"

    @property
    def likeness(self) -> tuple[str, str]:
        """What it has in common with the same place in another world."""
        return self.name, _RANDOM.sub("#", self.excerpt.lower())


def find_names(passages: Iterable[Passage], names: Iterable[str]) -> list[Leak]:
    """Every place where one of the names stands, in whatever spelling; at most ``MOST``."""
    names = tuple(dict.fromkeys(name for name in names if name))
    if not names:
        return []
    anything, each = _patterns(names)
    found: dict[tuple[str, str], Leak] = {}
    for where, text in passages:
        if anything.search(text) is None:
            continue
        for name, pattern in each.items():
            for match in pattern.finditer(text):
                leak = Leak(name, where, _excerpt(text, match))
                found.setdefault(leak.likeness, leak)
                if len(found) >= MOST:
                    return sorted(found.values())
    return sorted(found.values())


def new_leaks(found: Iterable[Leak], known: Iterable[Leak]) -> list[Leak]:
    """Those that are not in the world in which nothing was injected."""
    likenesses = {leak.likeness for leak in known}
    return [leak for leak in found if leak.likeness not in likenesses]


@cache
def _patterns(names: tuple[str, ...]) -> tuple[re.Pattern[str], dict[str, re.Pattern[str]]]:
    each = {name: _spelling(name) for name in names}
    return re.compile("|".join(each.values()), re.IGNORECASE), {
        name: re.compile(spelling, re.IGNORECASE) for name, spelling in each.items()
    }


def _spelling(name: str) -> str:
    """A name with whatever between its words: snake, kebab, camel, spaced and run together."""
    words = _WORDS.findall(name)
    told = _BETWEEN.join(map(re.escape, words))
    # A single word stands alone: 'oracle' is not in 'coracles'. Several together are no accident wherever they stand.
    return told if len(words) > 1 else rf"(?<![a-zA-Z]){told}(?![a-zA-Z])"


def _excerpt(text: str, match: re.Match[str]) -> str:
    start = text.rfind("\n", 0, match.start()) + 1
    end = text.find("\n", match.end())
    start = max(start, match.start() - AROUND)
    end = min(end if end >= 0 else len(text), match.end() + AROUND)
    return text[start:end].strip()
