"""Parsing and formatting of numbers."""

from __future__ import annotations

from functools import lru_cache
from math import isinf
from typing import Final

from simcloud.datastores.redis.resp import NotAFloat, NotAnInteger

INT_MAX: Final = (1 << 63) - 1
INT_MIN: Final = -(1 << 63)


def whole(text: bytes) -> int | None:
    """Parse a 64-bit integer in canonical notation; None for anything else."""
    if not text or len(text) > 20:
        return None
    digits = text[1:] if text[:1] == b"-" else text
    if not digits.isdigit() or (digits[:1] == b"0" and len(text) > 1):
        return None
    number = int(text)
    return number if INT_MIN <= number <= INT_MAX else None


def integer(text: bytes, complaint: str | None = None) -> int:
    """Parse a 64-bit integer in canonical notation, or raise an error."""
    number = whole(text)
    if number is None:
        raise NotAnInteger if complaint is None else NotAFloat(complaint)
    return number


def double(text: bytes, complaint: str = "ERR value is not a valid float") -> float:
    """Parse a number as C's strtod does, without spaces around it."""
    number = _strtod(text)
    if number is None:
        raise NotAFloat(complaint)
    return number


@lru_cache(maxsize=1024)
def _strtod(text: bytes) -> float | None:
    if not text or b"_" in text or text != text.strip(b" \t\n\r\v\f") or len(text) > 255:
        return None
    bare = text.lstrip(b"+-").lower()
    if len(text) - len(bare) > 1 or bare.startswith(b"nan"):
        return None
    try:
        number = float.fromhex(text.decode()) if bare.startswith(b"0x") else float(text)
    except (ValueError, OverflowError):
        return None
    if isinf(number) and not bare.startswith(b"inf"):
        return None
    return number


def double_text(number: float) -> bytes:
    """Format a score, with up to 17 digits."""
    return b"%.17g" % number


def parse_bound(text: bytes) -> tuple[float, bool]:
    """Parse an end of a range of scores; return it and whether it is excluded, as in ``(5``."""
    excluded = text.startswith(b"(")
    return double(text[1:] if excluded else text, "ERR min or max is not a float"), excluded
