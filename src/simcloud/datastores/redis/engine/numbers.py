"""Numbers as Redis reads and writes them."""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from math import isinf
from typing import Final

from simcloud.datastores.redis.replies import NotAFloat, NotAnInteger

INT_MAX: Final = (1 << 63) - 1
INT_MIN: Final = -(1 << 63)
LONG_DOUBLE_BITS: Final = 64
EXPONENT_MAX: Final = 400
"""Numbers with larger exponents are refused: what they mean is of no use, and their digits are many."""


def whole(text: bytes) -> int | None:
    """A whole number of 64 bits, written in the one canonical way; None for anything else."""
    if not text or len(text) > 20:
        return None
    digits = text[1:] if text[:1] == b"-" else text
    if not digits.isdigit() or (digits[:1] == b"0" and len(text) > 1):
        return None
    number = int(text)
    return number if INT_MIN <= number <= INT_MAX else None


def integer(text: bytes, complaint: str | None = None) -> int:
    """The same, or an error."""
    number = whole(text)
    if number is None:
        raise NotAnInteger if complaint is None else NotAFloat(complaint)
    return number


def double(text: bytes, complaint: str = "ERR value is not a valid float") -> float:
    """A number as C's strtod reads it, without spaces around it."""
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
    """As the server writes scores: up to 17 digits."""
    return b"%.17g" % number


def long_double(text: bytes) -> Fraction | float:
    """A number in the precision of x87; an infinity stays a float."""
    number = _strtod(text)
    if number is None:
        raise NotAFloat
    if isinf(number):
        return number
    bare = text.decode().lower()
    if bare.lstrip("+-").startswith("0x"):
        return Fraction(number)
    _, _, exponent = bare.partition("e")
    if exponent and abs(int(exponent)) > EXPONENT_MAX:
        raise NotAFloat
    return round_long(Fraction(bare))


def round_long(number: Fraction) -> Fraction:
    """The nearest number with a mantissa of 64 bits, ties to even."""
    if number == 0:
        return number
    magnitude = abs(number)
    shift = magnitude.numerator.bit_length() - magnitude.denominator.bit_length() - LONG_DOUBLE_BITS
    unit = Fraction(2) ** shift
    if magnitude / unit >= 1 << LONG_DOUBLE_BITS:
        unit *= 2
    elif magnitude / unit < 1 << (LONG_DOUBLE_BITS - 1):
        unit /= 2
    return round(number / unit) * unit


def long_double_text(number: Fraction) -> bytes:
    """17 digits after the point, less the zeros at the end."""
    scaled = round(abs(number) * 10**17)
    whole_part, decimals = divmod(scaled, 10**17)
    text = f"{whole_part}.{decimals:017}".rstrip("0").rstrip(".")
    return (f"-{text}" if number < 0 else text).encode()


def add_long(first: bytes, second: bytes) -> bytes:
    """The sum of two texts in the precision of x87, as INCRBYFLOAT writes it."""
    left, right = long_double(first), long_double(second)
    if isinstance(left, float) or isinstance(right, float):
        raise NotAFloat("ERR increment would produce NaN or Infinity")
    return long_double_text(round_long(left + right))


def bound(text: bytes) -> tuple[float, bool]:
    """One end of a range of scores, and whether it is left out: ``(5``."""
    excluded = text.startswith(b"(")
    return double(text[1:] if excluded else text, "ERR min or max is not a float"), excluded
