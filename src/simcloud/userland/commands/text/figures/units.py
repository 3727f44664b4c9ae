"""The arithmetic of ``numfmt``: numbers with unit letters, and their rounding.

Done as the genuine one does it on x86-64, in floating point of 64 bits after the first, because its rounding
shows: 0.53 rounded down to two decimals is 0.52.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import Context, Decimal
from fractions import Fraction
from math import ceil, floor

from simcloud.userland.commands.text.quoting import quote

_NUMBER = re.compile(r"(-?)([0-9]*)(?:\.([0-9]+))?")
_UNITS = "KMGTPEZY"
ROUNDINGS = ("up", "down", "from-zero", "towards-zero", "nearest")
_BITS = 64
_MAX_INPUT_DIGITS = 27
_MAX_PLAIN_DIGITS = 18
_EXACT = Context(prec=200)


class ConversionError(Exception):
    """A word cannot be converted. The text says why, as the program does."""


@dataclass(frozen=True)
class Scale:
    """A system of unit letters: ``none``, ``si``, ``iec``, ``iec-i``, or ``auto`` when reading."""

    name: str

    @property
    def base(self) -> int:
        """What one step of the unit letters multiplies by."""
        return 1024 if self.name.startswith("iec") else 1000


def from_text(text: str, scale: Scale) -> tuple[Fraction, int]:
    """The number that a word stands for, and how many decimals it showed."""
    form = _NUMBER.match(text)
    assert form is not None  # the pattern matches nothing at all, too
    digits, decimals = form[2], form[3] or ""
    rest = text[len(form[0]) :]
    if (not digits and not decimals) or rest.startswith("."):
        raise ConversionError(f"invalid number: {quote(text)}")
    if len(digits.lstrip("0")) > _MAX_INPUT_DIGITS:
        raise ConversionError(f"value too large to be converted: {quote(text)}")
    if len(decimals) > _MAX_INPUT_DIGITS:
        raise ConversionError(f"value too large to be converted: {quote(text)}")
    part = stored(Fraction(int(decimals or 0), 10 ** len(decimals)))
    value = stored(int(digits or 0) + part) * (-1 if form[1] else 1)
    precision = len(decimals)
    base, power = scale.base, 0
    rest = rest.lstrip(" \t") if rest.strip(" \t") else rest
    if rest:
        if rest[0] not in _UNITS:
            raise ConversionError(f"invalid suffix in input: {quote(text)}")
        if scale.name == "none":
            raise ConversionError(f"rejecting suffix in input: {quote(text)} (consider using --from)")
        power = _UNITS.index(rest[0]) + 1
        precision = 0
        rest = rest[1:]
        if scale.name == "auto" and rest.startswith("i"):
            base, rest = 1024, rest[1:]
    if scale.name == "iec-i":
        if not rest.startswith("i"):
            raise ConversionError(f"missing 'i' suffix in input: {quote(text)} (e.g Ki/Mi/Gi)")
        rest = rest[1:]
    if rest:
        raise ConversionError(f"invalid suffix in input {quote(text)}: {quote(rest)}")
    return stored(value * int(base**power)), precision


def to_text(value: Fraction, scale: Scale, rounding: str, precision: int, fixed: bool) -> str:
    """A number in a scale. ``fixed`` says that the precision was asked for, not just found."""
    _check_size(value, scale, precision)
    if scale.name == "none":
        return f"{_decimal(_rounded(value, precision, rounding)):.{precision}f}"
    whole = float(value)
    power = 0
    while abs(value) >= scale.base:
        value = stored(value / scale.base)
        power += 1
    found = 1 if abs(value) < 10 else 0
    decimals = min(power * 3, precision) if fixed else found
    shown = _rounded(value, decimals, rounding)
    if abs(shown) >= scale.base:
        shown = stored(shown / scale.base)
        power += 1
    if power > len(_UNITS):
        raise ConversionError(f"value too large to be printed: '{whole:g}' (cannot handle values > 999Y)")
    places = precision if fixed else int(shown != 0 and abs(shown) < 10 and power > 0)
    text = f"{_decimal(shown):.{places}f}"
    if power:
        text += _UNITS[power - 1] + ("i" if scale.name == "iec-i" else "")
    return text


def stored(value: Fraction) -> Fraction:
    """The nearest number that has 64 significant bits."""
    if value == 0:
        return value
    size = abs(value.numerator).bit_length() - value.denominator.bit_length()
    for shift in (_BITS - size - 1, _BITS - size, _BITS - size + 1):
        scaled = round(value * Fraction(2) ** shift)
        if abs(scaled).bit_length() >= _BITS:
            return Fraction(scaled) / Fraction(2) ** shift
    return value


def _decimal(value: Fraction) -> Decimal:
    return _EXACT.divide(Decimal(value.numerator), Decimal(value.denominator))


def _rounded(value: Fraction, places: int, rounding: str) -> Fraction:
    unit = 10**places
    scaled = stored(value * unit)
    towards_zero = floor(abs(scaled)) * (-1 if scaled < 0 else 1)
    away = towards_zero if towards_zero == scaled else towards_zero + (-1 if scaled < 0 else 1)
    choices = {
        "up": ceil(scaled),
        "down": floor(scaled),
        "from-zero": away,
        "towards-zero": towards_zero,
        "nearest": floor(abs(scaled) + Fraction(1, 2)) * (-1 if scaled < 0 else 1),
    }
    return stored(Fraction(choices[rounding], unit))


def _check_size(value: Fraction, scale: Scale, precision: int) -> None:
    digits = len(str(int(abs(value)))) - 1 if abs(value) >= 1 else 0
    shown = f"{float(value):g}"
    if scale.name == "none" and digits + precision > _MAX_PLAIN_DIGITS:
        if precision:
            raise ConversionError(
                f"value/precision too large to be printed: '{shown}/{precision}' (consider using --to)"
            )
        raise ConversionError(f"value too large to be printed: '{shown}' (consider using --to)")
    if digits > _MAX_INPUT_DIGITS - 1:
        raise ConversionError(f"value too large to be printed: '{shown}' (cannot handle values > 999Y)")
