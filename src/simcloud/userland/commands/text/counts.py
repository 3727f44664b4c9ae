"""Numbers on command lines, with the multiplier suffixes of GNU tools."""

from __future__ import annotations

import re

from simcloud.machine.process import Context
from simcloud.userland.commands.text.quoting import quote
from simcloud.userland.commands.text.tool import fail

UINTMAX = 2**64 - 1
SIZE_SUFFIXES = "bkKmMGTPEZY"

_FORM = re.compile(r"[ \t\n\v\f\r]*([+-]?[0-9]*)([A-Za-z]?)(iB|B|D)?")
_POWERS = {letter: "kmgtpezy".index(letter.lower()) + 1 for letter in "kKmMgGtTPEZY"}
_FLOAT = re.compile(r"[ \t\n\v\f\r]*[+-]?([0-9]+(?:\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?")
_MAX_DIGITS = 60
_HUGE = 10**_MAX_DIGITS
_FIXED = {"b": 512, "B": 1024, "c": 1, "w": 2}


def number(
    ctx: Context,
    text: str,
    complaint: str,
    *,
    low: int = 0,
    high: int = UINTMAX,
    suffixes: str = "",
    signed: bool = False,
    status: int = 1,
) -> int:
    """Parse a whole number, or end the tool with its message.

    ``signed`` means that a negative number is out of range rather than invalid.
    """
    value = parse_number(text, suffixes)
    if value is None or (low >= 0 and not signed and text.lstrip().startswith("-")):
        fail(ctx, f"{complaint}: {quote(text)}", status)
    if value > UINTMAX or not low <= value <= high:
        why = "Value too large for defined data type" if value > 2**30 else "Numerical result out of range"
        fail(ctx, f"{complaint}: {quote(text)}: {why}", status)
    return value


def all_digits(text: str) -> bool:
    """Whether a text is a run of decimal digits."""
    return text.isascii() and text.isdigit()


def whole(digits: str, base: int = 10) -> int:
    """The value of a run of digits, perhaps signed; of a very long one, a number larger than any limit."""
    return int(digits, base) if len(digits) <= _MAX_DIGITS else (-_HUGE if digits.startswith("-") else _HUGE)


def parse_number(text: str, suffixes: str = "") -> int | None:
    """The whole number a word stands for, None if it stands for none.

    A suffix alone counts as one of it; ``K`` is 1024, ``KiB`` too, ``KB`` 1000.
    """
    form = _FORM.fullmatch(text)
    if form is None:
        return None
    digits, letter, unit = form[1], form[2], form[3]
    if letter and letter not in suffixes:
        return None
    if digits in ("", "+", "-"):
        if digits or not letter:
            return None
        digits = "1"
    if not letter:
        return None if unit else whole(digits)
    if letter in _FIXED:
        return None if unit else whole(digits) * _FIXED[letter]
    base = 1000 if unit in ("B", "D") else 1024
    return whole(digits) * int(base ** _POWERS[letter])


def parse_float(text: str) -> float | None:
    """The decimal number a word stands for, None if it stands for none."""
    return float(text) if _FLOAT.fullmatch(text) else None
