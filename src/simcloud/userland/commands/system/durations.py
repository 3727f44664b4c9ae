"""Durations on command lines: ``5``, ``0.5``, ``2m``, ``infinity``."""

from __future__ import annotations

import re
from typing import Final

UNITS_S: Final = {"s": 1.0, "m": 60.0, "h": 3600.0, "d": 86_400.0}
LONGEST_S: Final = 1e9
"""Longer waits than this (thirty years) count as endless."""

_NUMBER = re.compile(r"[ \t\n]*\+?([0-9]+(?:\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]{1,4})?")
_HEXADECIMAL = re.compile(r"[ \t\n]*\+?0[xX][0-9a-fA-F]{1,30}")


def parse_duration(text: str) -> float | None:
    """Seconds, or None when the text is no duration. Endless is as long as the longest."""
    number, unit = (text[:-1], text[-1]) if text[-1:] in UNITS_S and text[-1:] else (text, "s")
    if number.strip().lower().removeprefix("+") in ("inf", "infinity"):
        return LONGEST_S
    if _HEXADECIMAL.fullmatch(text):
        return min(float(int(text, 16)), LONGEST_S)
    if _NUMBER.fullmatch(number) is None:
        return None
    return min(float(number) * UNITS_S[unit], LONGEST_S)


def parse_seconds(text: str) -> float | None:
    """Plain seconds, whole or with a fraction; None when the text is none."""
    return float(text) if _NUMBER.fullmatch(text) else None
