"""Awk's values: numbers, strings, and strings that may turn out to be numbers.

A value is a ``float`` or a ``str``. Two kinds of ``str`` are special: ``Input``, text that came from
outside (a field, a line, the command line), which counts as a number where it looks like one; and
``UNSET``, the value of everything that was never assigned, which is both "" and 0.
"""

from __future__ import annotations

import math
import re
from typing import Final, TypeAlias


class Input(str):
    """Text from outside the program."""

    __slots__ = ()


class Unset(str):
    """The type of ``UNSET``."""

    __slots__ = ()


Value: TypeAlias = float | str
Array: TypeAlias = "dict[str, Cell]"
Cell: TypeAlias = "Value | dict[str, Cell]"
"""The content of an element or a parameter: a value, or an array."""

UNSET: Final = Unset("")
UNSET_SCALAR: Final = Unset("")
"""The same for a variable that was used as one already, so that it cannot become an array any more."""

DEFAULT_FORMAT: Final = "%.6g"
_NUMBER: Final = r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?"
_PREFIX: Final = re.compile(rf"[ \t\n\r\f\v]*({_NUMBER})")
_WHOLE: Final = re.compile(rf"[ \t\n\r\f\v]*({_NUMBER})[ \t\n\r\f\v]*")
_MAGIC: Final = {
    "+inf": math.inf,
    "-inf": -math.inf,
    "+nan": math.nan,
    "-nan": -math.nan,
}


def text_to_number(text: str) -> float:
    """The number a string begins with, or 0."""
    if text.isdigit() and text.isascii():
        return float(text)
    found = _PREFIX.match(text)
    if found is not None:
        return float(found.group(1))
    return _MAGIC.get(text.strip(" \t\n\r\f\v")[:4].lower(), 0.0)


def looks_numeric(text: str) -> float | None:
    """The number that a string from outside is, or None if it is just text."""
    if text.isdigit() and text.isascii():
        return float(text)
    found = _WHOLE.fullmatch(text)
    if found is not None:
        return float(found.group(1))
    return _MAGIC.get(text.strip(" \t\n\r\f\v").lower())


def to_number(value: Value) -> float:
    """Any value as a number."""
    return value if type(value) is float else text_to_number(value)  # type: ignore[arg-type]  # all but floats are texts


def integer_text(number: float) -> str | None:
    """A whole number in decimal digits (with a sign if negative), or None if it is not whole."""
    return str(int(number)) if number.is_integer() else None


def special_text(number: float) -> str:
    """Format infinities and NaN."""
    name = "nan" if math.isnan(number) else "inf"
    return ("-" if math.copysign(1.0, number) < 0 else "+") + name


def truth(value: Value) -> bool:
    """Whether a value counts as true."""
    if type(value) is float:
        return value != 0.0
    if type(value) is Input:
        number = looks_numeric(value)
        return value != "" if number is None else number != 0.0
    return value != ""


def numeric(value: Value) -> float | None:
    """The value as a number if comparisons take it as one, else None."""
    if type(value) is float:
        return value
    if type(value) is Input:
        return looks_numeric(value)
    return 0.0 if type(value) is Unset else None
