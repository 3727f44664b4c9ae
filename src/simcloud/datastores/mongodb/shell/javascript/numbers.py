"""Formatting and parsing of numbers."""

from __future__ import annotations

import math
import re
from decimal import ROUND_HALF_UP, Context, Decimal
from typing import Final

_NUMBER: Final = re.compile(r"[+-]?(?:Infinity|(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)")
_BASED: Final = re.compile(r"0[xX][0-9a-fA-F]+|0[oO][0-7]+|0[bB][01]+")
_DIGITS: Final = "0123456789abcdefghijklmnopqrstuvwxyz"
MAX_DIGITS: Final = 1_000
TWO_32: Final = 2**32


def number_text(value: float) -> str:
    """Return the shortest text that reads back as the same number."""
    if value != value:
        return "NaN"
    if value in (math.inf, -math.inf):
        return "Infinity" if value > 0 else "-Infinity"
    if value == int(value) and abs(value) < 2**53:
        return str(int(value))
    mantissa, _, exponent = repr(value).partition("e")
    sign = "-" if mantissa[0] == "-" else ""
    whole, _, fraction = mantissa.lstrip("-").partition(".")
    fraction = "" if fraction == "0" and exponent else fraction
    digits = (whole + fraction).lstrip("0")
    point = len(whole) + int(exponent or 0) - (len(whole + fraction) - len(digits))
    if -6 < point <= 0:
        return f"{sign}0.{'0' * -point}{digits}"
    if 0 < point <= 21:
        return f"{sign}{digits[:point].ljust(point, '0')}{'.' + digits[point:] if digits[point:] else ''}"
    rest = "." + digits[1:] if digits[1:] else ""
    return f"{sign}{digits[0]}{rest}e{'+' if point > 0 else '-'}{abs(point - 1)}"


def format_in_base(value: float, base: int) -> str:
    """Return a number in another base; fractions to fifty-two places at most."""
    if value != value or value in (math.inf, -math.inf) or base == 10:
        return number_text(value)
    sign, value = ("-", -value) if value < 0 else ("", value)
    whole, fraction = int(value), value - int(value)
    text = ""
    while whole:
        whole, digit = divmod(whole, base)
        text = _DIGITS[digit] + text
    places = ""
    delta = max(0.5 * (math.nextafter(value, math.inf) - value), 5e-324)
    while fraction >= delta:  # enough places to distinguish it from its neighbours
        fraction *= base
        delta *= base
        places += _DIGITS[int(fraction)]
        fraction -= int(fraction)
    return sign + (text or "0") + ("." + places if places else "")


def text_number(text: str) -> float:
    """Convert a text to a number; NaN if it is invalid."""
    text = text.strip()
    if not text:
        return 0.0
    if len(text) > MAX_DIGITS:
        return math.nan
    if _BASED.fullmatch(text):
        return float(int(text[2:], {"x": 16, "o": 8, "b": 2}[text[1].lower()]))
    return _decimal(text) if _NUMBER.fullmatch(text) else math.nan


def leading_number(text: str) -> float:
    """``parseFloat``."""
    match = _NUMBER.match(text.lstrip()[:MAX_DIGITS])
    return _decimal(match[0]) if match else math.nan


def _decimal(text: str) -> float:
    return float(text.replace("Infinity", "inf"))


def leading_integer(text: str, base: int) -> float:
    """``parseInt``."""
    text = text.strip()[:MAX_DIGITS].lower()
    sign = -1.0 if text[:1] == "-" else 1.0
    text = text.lstrip("+-") if text[:1] in ("+", "-") else text
    if base in (0, 16) and text.startswith("0x"):
        text, base = text[2:], 16
    base = base or 10
    if not 2 <= base <= 36:
        return math.nan
    count = 0
    while count < len(text) and text[count] in _DIGITS[:base]:
        count += 1
    try:
        return sign * float(int(text[:count], base)) if count else math.nan
    except OverflowError:
        return sign * math.inf


def to_integer(value: float) -> float:
    """Cut towards zero; NaN becomes nought."""
    if value != value:
        return 0.0
    return value if value in (math.inf, -math.inf) else float(math.trunc(value))


def to_int32(value: float) -> int:
    """Return the lowest 32 bits, with their sign."""
    bits = to_uint32(value)
    return bits - TWO_32 if bits >= 1 << 31 else bits


def to_uint32(value: float) -> int:
    """Return the lowest 32 bits."""
    if value != value or value in (math.inf, -math.inf):
        return 0
    return math.trunc(value) % TWO_32


def format_fixed(value: float, places: int) -> str:
    """``toFixed``: exact, halves away from nought."""
    if value != value or abs(value) >= 1e21:
        return number_text(value)
    rounded = Decimal(value).quantize(Decimal(1).scaleb(-places), ROUND_HALF_UP, Context(prec=200))
    text = f"{rounded:f}"
    return text[1:] if text[0] == "-" and not rounded and value == 0 else text


def remainder(left: float, right: float) -> float:
    """``%``."""
    if left != left or right != right or right == 0 or left in (math.inf, -math.inf):
        return math.nan
    return math.fmod(left, right)


def power(left: float, right: float) -> float:
    """``**``."""
    if right != right or (abs(left) == 1 and abs(right) == math.inf):
        return math.nan
    try:
        result = left**right
    except OverflowError:
        return -math.inf if left < 0 and right % 2 == 1 else math.inf
    except ZeroDivisionError:
        return math.inf
    return math.nan if isinstance(result, complex) else result


def quotient(left: float, right: float) -> float:
    """``/``."""
    if right == 0:
        if left == 0 or left != left:
            return math.nan
        return math.copysign(math.inf, left) * math.copysign(1.0, right)
    return left / right
