"""Quantities in Kubernetes' format: ``500m``, ``1Gi``, ``2e3``.

Objects contain quantities as text. ``parse`` returns the exact value, ``canonical`` the text that an API server
stores: the same suffix family, and the largest suffix that keeps the number whole.
"""

from __future__ import annotations

import re
from fractions import Fraction
from functools import lru_cache

_BINARY = ["", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"]
_DECIMAL = {"n": -9, "u": -6, "m": -3, "": 0, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18}
_BY_EXPONENT = {exponent: suffix for suffix, exponent in _DECIMAL.items()}
_FORM = re.compile(
    r"([+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+))(?:([KMGTPE]i)|([numkMGTPE]?)|[eE]([+-]?[0-9]{1,4}))\Z"
)
_LARGEST = 2**63 - 1
_SMALLEST = Fraction(1, 10**9)

BAD_FORM = "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"


def parse(text: str | int | float) -> Fraction:
    """The exact value, capped and rounded up to 1n as the genuine one does. ValueError if it is no quantity."""
    return _read(str(text))[0]


def canonical(text: str | int | float) -> str:
    """The text a genuine server stores for this quantity. ValueError if it is no quantity."""
    return render(*_read(str(text)))


def render(value: Fraction, family: str = "decimal") -> str:
    """A value in a family of suffixes: ``binary``, ``decimal`` or ``exponent``."""
    if value == 0:
        return "0"
    if family == "binary" and abs(value) >= 1024 and value.denominator == 1:
        return _binary(int(value))
    if value.denominator == 1 or family != "binary":
        return _decimal(value, family)
    return _decimal(value, "decimal")


def milli(text: str | int | float) -> int:
    """The value in thousandths, rounded up: how CPU is counted."""
    scaled = parse(text) * 1000
    return -((-scaled.numerator) // scaled.denominator)


def whole(text: str | int | float) -> int:
    """The value as a whole number, rounded up: how memory and counts are counted."""
    value = parse(text)
    return -((-value.numerator) // value.denominator)


@lru_cache(maxsize=4096)
def _read(text: str) -> tuple[Fraction, str]:
    match = _FORM.match(text)
    if match is None:
        raise ValueError(BAD_FORM)
    digits, binary, suffix, exponent = match.groups()
    value = Fraction(digits)
    family = "decimal"
    if binary:
        value *= 1024 ** _BINARY.index(binary)
        family = "binary"
    elif exponent is not None:
        value *= _power(int(exponent))
        family = "exponent"
    else:
        value *= _power(_DECIMAL[suffix])
    return _clamp(value), family


def _power(exponent: int) -> Fraction:
    bounded = max(-40, min(40, exponent))
    return Fraction(10) ** bounded


def _clamp(value: Fraction) -> Fraction:
    if abs(value) > _LARGEST:
        return Fraction(_LARGEST if value > 0 else -_LARGEST)
    nanos = value / _SMALLEST
    if nanos.denominator == 1:
        return value
    away = -((-abs(nanos.numerator)) // nanos.denominator)
    return (away if value > 0 else -away) * _SMALLEST


def _binary(value: int) -> str:
    power = 0
    while power < len(_BINARY) - 1 and value % 1024 == 0:
        value //= 1024
        power += 1
    return f"{value}{_BINARY[power]}"


def _decimal(value: Fraction, family: str) -> str:
    exponent = -9
    number = int(value * 10**9)
    while exponent < 18 and number % 1000 == 0:
        number //= 1000
        exponent += 3
    if family == "exponent":
        return f"{number}e{exponent}" if exponent else str(number)
    return f"{number}{_BY_EXPONENT[exponent]}"
