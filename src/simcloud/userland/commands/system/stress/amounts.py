"""Sizes and times as stress and stress-ng read them."""

from __future__ import annotations

from typing import Final

SIZES: Final = {"": 1, "b": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30, "t": 1 << 40}
TIMES: Final = {"": 1, "s": 1, "m": 60, "h": 3600, "d": 86_400, "y": 31_556_926}
DIGITS: Final = 12


def count_of(word: str, units: dict[str, int]) -> int | None:
    """A whole number with a unit; None when it is none."""
    digits = word.rstrip("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")
    unit = word[len(digits) :].lower()
    if not digits.isdecimal() or len(digits) > DIGITS or unit not in units:
        return None
    return int(digits) * units[unit]
