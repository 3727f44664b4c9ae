"""Numbers as Go prints them.

A whole number of an object is an int64 to kubectl, any other number a float64, including whole numbers that are too
large.
"""

from __future__ import annotations

import math
from decimal import Decimal
from functools import lru_cache


def is_int64(number: int) -> bool:
    """Whether a whole number is one of 64 bits."""
    return -(2**63) <= number < 2**63


def float_text(number: float) -> str:
    """A float as ``%v`` prints it: the fewest digits, an exponent from a million up and below 0.0001."""
    return fewest_digits(number, -4, 6)


def json_float(number: float) -> str:
    """A float as Go's JSON has it: an exponent only from 1e21 up and below 0.000001, of the fewest digits."""
    return fewest_digits(number, -6, 21).replace("e-0", "e-")


def whole_text(number: int) -> str:
    """A whole number as ``%v`` prints it."""
    if is_int64(number):
        return str(number)
    try:
        return float_text(float(number))
    except OverflowError:
        return "+Inf" if number > 0 else "-Inf"


def fewest_digits(number: float, lowest: int, highest: int) -> str:
    """A float that can be read back; with an exponent below ``10**lowest`` and from ``10**highest`` up."""
    if math.isnan(number):
        return "NaN"
    if math.isinf(number):
        return "+Inf" if number > 0 else "-Inf"
    sign = "-" if math.copysign(1, number) < 0 else ""
    if number == 0:
        return f"{sign}0"
    return sign + _digits(abs(number), lowest, highest)


@lru_cache(maxsize=4096)
def _digits(number: float, lowest: int, highest: int) -> str:
    """Of a number above zero: to a cache, 0 and -0 would be one."""
    text = repr(number)
    # Python writes no exponent from 0.0001 up to 1e16, and finds the same fewest digits.
    if lowest <= -4 and "e" not in text and len(text.partition(".")[0]) <= highest:
        return text.removesuffix(".0")
    shortest = Decimal(text).as_tuple()
    digits = "".join(map(str, shortest.digits))
    power = len(digits) + int(shortest.exponent) - 1
    digits = digits.rstrip("0") or "0"
    if power < lowest or power >= highest:
        fraction = f".{digits[1:]}" if len(digits) > 1 else ""
        return f"{digits[0]}{fraction}e{'-' if power < 0 else '+'}{abs(power):02d}"
    if power < 0:
        return f"0.{'0' * (-power - 1)}{digits}"
    if len(digits) <= power + 1:
        return digits.ljust(power + 1, "0")
    return f"{digits[: power + 1]}.{digits[power + 1 :]}"
