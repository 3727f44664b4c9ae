"""The leak test: no text that an agent can read names the fault.

The search is for the names of an incident (the problem, its family, its faults and their types), in every spelling, and
for words that only the author of an incident would use. Matches that also occur in a world without a fault are ignored:
they are part of the application. So are systemd's own messages about a unit that somebody started or stopped.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from typing import Final

from aiopslab.orchestrator.validation.passages import Passage

TELLTALES: Final = (
    "aiopslab", "answer key", "chaos", "chaosblade", "chaos mesh", "fault injection", "fault injector", "inject fault",
    "injected fault", "ground truth", "litmus", "oracle", "root cause", "sabotage",
)  # fmt: skip
AUTHOR_WORDS: Final = ("aiopslab", "answer key", "fault injection", "ground truth")
"""Those of them that no operator writes."""
CONTEXT_CHARS: Final = 60
"""Characters on each side of a match that are shown and compared."""
MAX_LEAKS: Final = 1_000
"""Maximum number of leaks that are collected."""

_WORDS: Final = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_BETWEEN: Final = r"[\s_./:-]{0,2}"
_RANDOM: Final = re.compile(r"\b(?=[a-z]*\d)[0-9a-z]+\b|\b(?<=-)[bcdfghjklmnpqrstvwxz]{5}\b")
"""Words that differ from world to world: numbers, hashes, and suffixes of pod names."""
_SYSTEMD: Final = re.compile(r"\b(?:Start|Stopp)(?:ing|ed) [\w@-]+\.service - ")


@dataclass(frozen=True, order=True)
class Leak:
    """One place where a name occurs."""

    name: str
    where: str
    excerpt: str

    def __str__(self) -> str:
        return f"'{self.name}' occurs in {self.where}: …{self.excerpt}…"

    @property
    def key(self) -> tuple[str, str]:
        """A key that is equal for the same place in another world."""
        return self.name, _RANDOM.sub("#", self.excerpt.lower())


def find_names(passages: Iterable[Passage], names: Iterable[str]) -> list[Leak]:
    """Return the places where one of the names occurs, in any spelling; at most ``MAX_LEAKS``."""
    names = tuple(dict.fromkeys(name for name in names if name))
    if not names:
        return []
    patterns = _compile_patterns(names)
    found: dict[tuple[str, str], Leak] = {}
    for where, text in passages:
        lower = text.lower()
        for name, (word, pattern) in patterns.items():
            if word not in lower:
                continue
            for match in pattern.finditer(text):
                if _SYSTEMD.match(text, match.start()):
                    continue
                leak = Leak(name, where, _get_excerpt(text, match))
                found.setdefault(leak.key, leak)
                if len(found) >= MAX_LEAKS:
                    return sorted(found.values())
    return sorted(found.values())


def find_new_leaks(leaks: Iterable[Leak], known: Iterable[Leak]) -> list[Leak]:
    """Return the leaks that are not among the known ones of a world without a fault."""
    known_keys = {leak.key for leak in known}
    return [leak for leak in leaks if leak.key not in known_keys]


@cache
def _compile_patterns(names: tuple[str, ...]) -> dict[str, tuple[str, re.Pattern[str]]]:
    """Return the pattern of each name, and its longest word, which is found much faster and must be there."""
    return {
        name: (
            max(_WORDS.findall(name), key=len).lower(),
            re.compile(_build_pattern(name), re.IGNORECASE),
        )
        for name in names
    }


def _build_pattern(name: str) -> str:
    """Return a pattern for a name in any spelling: snake, kebab, camel, spaced and run together."""
    words = _WORDS.findall(name)
    pattern = _BETWEEN.join(map(re.escape, words))
    # A single word must stand alone: 'oracle' is not in 'coracles'. Several words match anywhere.
    return pattern if len(words) > 1 else rf"(?<![a-zA-Z]){pattern}(?![a-zA-Z])"


def _get_excerpt(text: str, match: re.Match[str]) -> str:
    start = text.rfind("\n", 0, match.start()) + 1
    end = text.find("\n", match.end())
    start = max(start, match.start() - CONTEXT_CHARS)
    end = min(end if end >= 0 else len(text), match.end() + CONTEXT_CHARS)
    return text[start:end].strip()
