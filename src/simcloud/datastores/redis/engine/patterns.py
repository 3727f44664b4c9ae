"""Redis' glob patterns: ``*``, ``?``, ``[a-z]``, ``[^a]`` and a backslash before any of these."""

from __future__ import annotations

from typing import Final

STAR: Final = ord("*")
ANY: Final = ord("?")
OPEN: Final = ord("[")
CLOSE: Final = ord("]")
ESCAPE: Final = ord("\\")
SPECIAL: Final = b"*?[\\"


class Pattern:
    """A pattern; ``matches`` always takes time proportional to pattern and text."""

    def __init__(self, pattern: bytes, ignore_case: bool = False) -> None:
        self._pattern = pattern.lower() if ignore_case else pattern
        self._ignore_case = ignore_case
        body = self._pattern.rstrip(b"*")
        plain = not any(byte in SPECIAL for byte in body)
        self._prefix = body if plain and len(body) < len(self._pattern) else None
        self._exact = body if plain and len(body) == len(self._pattern) else None

    def matches(self, text: bytes) -> bool:
        """Return whether the whole text fits."""
        if self._ignore_case:
            text = text.lower()
        if self._prefix is not None:
            return text.startswith(self._prefix)
        if self._exact is not None:
            return text == self._exact
        return _match(self._pattern, text)


def _match(pattern: bytes, text: bytes) -> bool:
    """Only the last star ever needs to be widened: earlier ones have matched the least they can."""
    at = position = 0
    star, resume = -1, 0
    while position < len(text):
        if at < len(pattern) and pattern[at] == STAR:
            star, resume = at, position
            at += 1
            continue
        step = _one(pattern, at, text[position]) if at < len(pattern) else None
        if step is not None:
            at = step
            position += 1
        elif star >= 0:
            resume += 1
            at, position = star + 1, resume
        else:
            return False
    while at < len(pattern) and pattern[at] == STAR:
        at += 1
    return at >= len(pattern)


def _one(pattern: bytes, at: int, byte: int) -> int | None:
    """Match one byte against the element at a place; the place after it, or None."""
    sign = pattern[at]
    if sign == ANY:
        return at + 1
    if sign == OPEN:
        return _one_of(pattern, at + 1, byte)
    if sign == ESCAPE and at + 1 < len(pattern):
        return at + 2 if pattern[at + 1] == byte else None
    return at + 1 if sign == byte else None


def _one_of(pattern: bytes, at: int, byte: int) -> int | None:
    negated = pattern[at : at + 1] == b"^"
    at += negated
    found = False
    while at < len(pattern) and pattern[at] != CLOSE:
        if pattern[at] == ESCAPE and at + 1 < len(pattern):
            at += 1
            found |= pattern[at] == byte
        elif pattern[at + 1 : at + 2] == b"-" and at + 2 < len(pattern):
            low, high = sorted((pattern[at], pattern[at + 2]))
            found |= low <= byte <= high
            at += 2
        else:
            found |= pattern[at] == byte
        at += 1
    return min(at + 1, len(pattern)) if found != negated else None
