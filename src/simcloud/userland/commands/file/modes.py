"""Permission modes in their notations: ``755``, ``u+x,go-w``, ``a=rX``, ``g=u``."""

from __future__ import annotations

from typing import Final

from msgspec import Struct

ALL_BITS: Final = 0o7777
WHO: Final = {"u": 0o4700, "g": 0o2070, "o": 0o1007, "a": ALL_BITS}
WHAT: Final = {"r": 0o444, "w": 0o222, "x": 0o111, "s": 0o6000, "t": 0o1000}
COPIES: Final = {"u": 0o700, "g": 0o070, "o": 0o007}
SPECIAL: Final = 0o6000
"""The bits that a folder keeps unless they are named."""


class Change(Struct, frozen=True):
    """One step: an operator, the bits it may touch (0: all that the umask leaves), and the bits it sets."""

    operator: str
    affected: int
    value: int
    mentioned: int
    copies: bool = False
    runnable: bool = False


def parse_mode(text: str) -> list[Change] | None:
    """The steps that a mode stands for; None when it is none."""
    if text[:1] and text[0] in "01234567":
        value = _octal(text)
        if value is None:
            return None
        mentioned = value & SPECIAL | 0o1777 if len(text) < 5 else ALL_BITS
        return [Change("=", ALL_BITS, value, mentioned)]
    changes: list[Change] = []
    for clause in text.split(","):
        rest = clause.lstrip("ugoa")
        affected = 0
        for letter in clause[: len(clause) - len(rest)]:
            affected |= WHO[letter]
        if rest[:1] not in ("+", "-", "="):
            return None
        while rest:
            end = 1
            while end < len(rest) and rest[end] not in "+-=":
                end += 1
            change = _step(rest[0], affected, rest[1:end])
            if change is None:
                return None
            changes.append(change)
            rest = rest[end:]
    return changes


def _octal(text: str) -> int | None:
    if any(digit not in "01234567" for digit in text):
        return None
    value = int(text.lstrip("0")[:6] or "0", 8)
    return value if value <= ALL_BITS else None


def _step(operator: str, affected: int, letters: str) -> Change | None:
    if letters[:1] and letters[0] in "01234567":
        value = _octal(letters)
        return None if value is None or affected else Change(operator, ALL_BITS, value, ALL_BITS)
    if letters in COPIES:
        return Change(operator, affected, COPIES[letters], affected & COPIES[letters], copies=True)
    value = 0
    for letter in letters.replace("X", ""):
        if letter not in WHAT:
            return None
        value |= WHAT[letter]
    return Change(operator, affected, value, affected & value if affected else value, runnable="X" in letters)


def apply_changes(mode: int, changes: list[Change], is_folder: bool, umask: int) -> int:
    """A mode after these steps."""
    mode &= ALL_BITS
    for change in changes:
        kept = SPECIAL & ~change.mentioned if is_folder else 0
        value = change.value
        if change.copies:
            value &= mode
            value = sum(bits for bits in (0o444, 0o222, 0o111) if value & bits)
        if change.runnable and (is_folder or mode & 0o111):
            value |= 0o111
        value &= (change.affected or ~umask) & ~kept
        if change.operator == "+":
            mode |= value
        elif change.operator == "-":
            mode &= ~value
        else:
            mode = mode & ((~change.affected if change.affected else 0) | kept) | value
    return mode & ALL_BITS
