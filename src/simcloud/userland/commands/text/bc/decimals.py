"""Decimal numbers of any length, as ``bc`` calculates with them: exact, and cut off where the scale says."""

from __future__ import annotations

from math import isqrt
from typing import NamedTuple

_DIGITS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"
_CHUNK = 4000
"""Python refuses to convert longer runs of digits at once."""

_LOG2_OF_10 = 3.3219280948873626


class Number(NamedTuple):
    """``value`` divided by ten to the power of ``scale``."""

    value: int
    scale: int = 0


ZERO = Number(0)
ONE = Number(1)


def digits_of(value: int) -> int:
    """About how many decimal digits an integer has."""
    return int(value.bit_length() / _LOG2_OF_10) + 1


def rescaled(number: Number, scale: int) -> Number:
    """The number with that many decimals; further ones are cut off."""
    if scale >= number.scale:
        return Number(number.value * 10 ** (scale - number.scale), scale)
    return Number(_cut(number.value, 10 ** (number.scale - scale)), scale)


def _cut(value: int, divisor: int) -> int:
    """A quotient without its remainder, towards zero."""
    quotient = abs(value) // abs(divisor)
    return quotient if (value < 0) == (divisor < 0) else -quotient


def add(one: Number, other: Number) -> Number:
    """The sum."""
    scale = max(one.scale, other.scale)
    return Number(rescaled(one, scale).value + rescaled(other, scale).value, scale)


def negate(number: Number) -> Number:
    """The number with the other sign."""
    return Number(-number.value, number.scale)


def compare(one: Number, other: Number) -> int:
    """Negative, zero or positive."""
    return add(one, negate(other)).value


def relation(operator: str, one: Number, other: Number) -> bool:
    """Whether two numbers stand in a relation, such as ``<=``."""
    sign = compare(one, other)
    return {"==": sign == 0, "!=": sign != 0, "<": sign < 0, "<=": sign <= 0, ">": sign > 0, ">=": sign >= 0}[
        operator
    ]


def multiply(one: Number, other: Number, scale: int) -> Number:
    """The product."""
    full = one.scale + other.scale
    return rescaled(Number(one.value * other.value, full), min(full, max(scale, one.scale, other.scale)))


def divide(one: Number, other: Number, scale: int) -> Number:
    """The quotient; the divisor must not be zero."""
    shift = scale + other.scale - one.scale
    if shift >= 0:
        return Number(_cut(one.value * 10**shift, other.value), scale)
    return Number(_cut(one.value, other.value * 10**-shift), scale)


def remainder(one: Number, other: Number, scale: int) -> Number:
    """What the division at this scale leaves over; the divisor must not be zero."""
    wanted = max(one.scale, other.scale + scale)
    quotient = divide(one, other, scale)
    product = Number(quotient.value * other.value, quotient.scale + other.scale)
    return rescaled(add(one, negate(product)), wanted)


def power(base: Number, exponent: int, scale: int) -> Number:
    """A whole power; of zero to a negative power there is none."""
    if exponent == 0:
        return ONE
    raised = Number(base.value ** abs(exponent), base.scale * abs(exponent))
    if exponent < 0:
        return divide(ONE, raised, scale)
    return rescaled(raised, min(raised.scale, max(scale, base.scale)))


def square_root(number: Number, scale: int) -> Number:
    """The square root of what is not negative."""
    scale = max(scale, number.scale)
    if number.value == 0:
        return ZERO
    if number == ONE:
        return ONE
    return Number(isqrt(rescaled(number, 2 * scale).value), scale)


def parse(text: str, base: int) -> Number:
    """A constant. A single digit has its own value in every base; of several, each is below the base."""
    whole, _, fraction = text.partition(".")
    if base == 10 and text.replace(".", "").isdigit():
        return Number(_from_text(whole + fraction), len(fraction))
    highest = 36 if len(whole) + len(fraction) == 1 else base
    values = [min(_DIGITS.index(digit), highest - 1) for digit in whole + fraction]
    total = 0
    for value in values:
        total = total * base + value
    return divide(Number(total), Number(base ** len(fraction)), len(fraction)) if fraction else Number(total)


def show(number: Number, base: int) -> str:
    """A number as it is printed."""
    if number.value == 0:
        return "0"
    sign = "-" if number.value < 0 else ""
    unit = 10**number.scale
    whole, fraction = divmod(abs(number.value), unit)
    if base == 10:
        decimals = to_text(fraction).rjust(number.scale, "0") if number.scale else ""
        return sign + (to_text(whole) if whole else "") + (f".{decimals}" if decimals else "")
    shown = sign + (_whole_in_base(whole, base) if whole else "")
    if number.scale:
        shown += "." + _fraction_in_base(fraction, unit, number.scale, base)
    return shown


def _whole_in_base(value: int, base: int) -> str:
    digits: list[int] = []
    while value:
        value, digit = divmod(value, base)
        digits.append(digit)
    return "".join(_digit(digit, base) for digit in reversed(digits))


def _fraction_in_base(fraction: int, unit: int, scale: int, base: int) -> str:
    """As many digits as it takes to tell all decimals apart."""
    shown, reached = "", 1
    while reached < 10**scale:
        digit, fraction = divmod(fraction * base, unit)
        text = _digit(digit, base)
        shown += text.lstrip(" ") if not shown and base > 16 else text
        reached *= base
    return shown


def _digit(value: int, base: int) -> str:
    return _DIGITS[value] if base <= 16 else f" {value:0{len(str(base - 1))}}"


def to_text(value: int) -> str:
    """Decimal digits of an integer that is not negative, however many."""
    if digits_of(value) < _CHUNK:
        return str(value)
    half = digits_of(value) // 2
    high, low = divmod(value, 10**half)
    return to_text(high) + to_text(low).rjust(half, "0")


def _from_text(digits: str) -> int:
    if len(digits) < _CHUNK:
        return int(digits or "0")
    half = len(digits) // 2
    return _from_text(digits[:-half]) * int(10**half) + _from_text(digits[-half:])
