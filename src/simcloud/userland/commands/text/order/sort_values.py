"""Comparison values of ``sort``: for each ordering, values whose natural order is that ordering."""

from __future__ import annotations

import math
import re
from typing import Any

Value = Any
"""Values of one ordering compare with each other, and with nothing else."""

_BLANKS = b" \t\n"
_NUMBER = re.compile(rb"[ \t\n]*(-?)0*([0-9]*)(?:\.([0-9]*))?([KMGTPEZYk]?)")
_FLOAT = re.compile(
    rb"(?i)[ \t\n\v\f\r]*([+-]?(?:0x(?:[0-9a-f]+(?:\.[0-9a-f]*)?|\.[0-9a-f]+)(?:p[+-]?[0-9]+)?"
    rb"|(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:e[+-]?[0-9]+)?|inf(?:inity)?|nan(?:\([a-z0-9_]*\))?))"
)
_COMPLEMENT = bytes.maketrans(b"0123456789", b"9876543210")
_MONTHS = (b"JAN", b"FEB", b"MAR", b"APR", b"MAY", b"JUN", b"JUL", b"AUG", b"SEP", b"OCT", b"NOV", b"DEC")
_UNITS = b"KMGTPEZY"


def numeric(text: bytes) -> Value:
    """Leading decimal number of any length; what is none counts as zero."""
    sign, digits, fraction, _ = _number(text)
    return _decimal(sign, digits, fraction)


def human(text: bytes) -> Value:
    """As ``numeric``, but a unit letter outranks the digits."""
    negative, digits, fraction, unit = _number(text)
    order = 0
    if unit and (digits or fraction.strip(b"0")):
        order = _UNITS.index(unit.upper()) + 1
    return (-order if negative else order, _decimal(negative, digits, fraction))


def _number(text: bytes) -> tuple[bytes, bytes, bytes, bytes]:
    """Sign, digits without leading zeros, decimals and unit letter; each may be empty."""
    form = _NUMBER.match(text)
    assert form is not None  # the pattern matches nothing at all, too
    return form[1], form[2], form[3] or b"", form[4]


def _decimal(negative: bytes, digits: bytes, fraction: bytes) -> Value:
    fraction = fraction.rstrip(b"0")
    if not digits and not fraction:
        return (0, 0, b"")
    if not negative:
        return (1, len(digits), digits + fraction)
    # Of two negative numbers the one with the greater digits is the lesser: compare complements, in
    # which a shorter one must rank above its continuations.
    return (-1, -len(digits), (digits + fraction).translate(_COMPLEMENT) + b"~")


def general(text: bytes) -> Value:
    """A number as C reads floating point; what is none comes first, then not-a-number."""
    form = _FLOAT.match(text)
    if form is None:
        return (0, 0.0)
    word = form[1].decode().lower()
    value = float.fromhex(word) if "0x" in word else float(word.partition("(")[0])
    return (1, 0.0) if math.isnan(value) else (2, value)


def month(text: bytes) -> Value:
    """The number of the month whose abbreviation begins the text, 0 for none."""
    name = text.lstrip(_BLANKS)[:3].upper()
    return _MONTHS.index(name) + 1 if name in _MONTHS else 0


def version(text: bytes) -> Value:
    """Runs of digits compare as numbers, the rest by letter; file suffixes only matter at last."""
    if not text:
        return (0,)
    rank = 4
    if text.startswith(b"."):
        rank = {b".": 1, b"..": 2}.get(text, 3)
    return (rank, _version_parts(text[: _suffix_start(text)]), _version_parts(text))


def _suffix_start(text: bytes) -> int:
    """Return the start of trailing suffixes like ``.tar.gz``, after at least one byte."""
    at, start = 0, 0
    while at < len(text):
        at += 1
        start = at
        while text[at : at + 1] == b"." and (
            text[at + 1 : at + 2].isalpha() or text[at + 1 : at + 2] == b"~"
        ):
            at += 2
            while text[at : at + 1].isalnum() or text[at : at + 1] == b"~":
                at += 1
    return start


def _version_parts(text: bytes) -> tuple[Value, ...]:
    parts: list[Value] = []
    at = 0
    while at < len(text):
        byte = text[at]
        if 48 <= byte <= 57:
            end = at
            while text[end : end + 1].isdigit():
                end += 1
            digits = text[at:end].lstrip(b"0")
            parts += [0, (len(digits), digits)]
            at = end
        else:
            letter = 65 <= byte <= 90 or 97 <= byte <= 122
            parts.append(-2 if byte == 0x7E else byte if letter else byte + 256)
            at += 1
    parts.append(-1)
    return tuple(parts)
