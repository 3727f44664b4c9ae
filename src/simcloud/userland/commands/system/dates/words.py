"""The tokens of dates: the meaning of words and numbers."""

from __future__ import annotations

from typing import Final, NamedTuple

from simcloud.userland.commands.system.dates.formats import MONTHS, WEEKDAYS

MAX_DIGITS: Final = 18
"""More digits than this mean no moment that could be reckoned with."""

UNITS: Final = {"year": ("year", 1), "month": ("month", 1), "fortnight": ("day", 14), "week": ("day", 7),
                "day": ("day", 1), "hour": ("second", 3600), "minute": ("second", 60), "min": ("second", 60),
                "second": ("second", 1), "sec": ("second", 1)}  # fmt: skip
SHIFTS: Final = {"tomorrow": 1, "yesterday": -1, "today": 0, "now": 0}
ORDINALS: Final = {"last": -1, "this": 0, "next": 1, "first": 1, "third": 3, "fourth": 4, "fifth": 5, "sixth": 6,
                   "seventh": 7, "eighth": 8, "ninth": 9, "tenth": 10, "eleventh": 11, "twelfth": 12}  # fmt: skip
ZONE_HOURS: Final = {"gmt": 0, "ut": 0, "utc": 0, "wet": 0, "west": 1, "bst": 1, "cet": 1, "cest": 2, "eet": 2,
                     "eest": 3, "msk": 3, "msd": 4, "ist": 5.5, "sgt": 8, "jst": 9, "nzst": 12, "nzdt": 13,
                     "est": -5, "edt": -4, "cst": -6, "cdt": -5, "mst": -7, "mdt": -6, "pst": -8, "pdt": -7,
                     "akst": -9, "akdt": -8, "hst": -10, "hast": -10, "hadt": -9, "ast": -4, "adt": -3,
                     "nst": -3.5, "ndt": -2.5, "brt": -3, "brst": -2, "clt": -4, "clst": -3, "art": -3}  # fmt: skip
MILITARY: Final = {
    **{letter: hour for hour, letter in enumerate("abcdefghiklm", 1)},
    **{letter: -hour for hour, letter in enumerate("nopqrsuvwxy", 1)},
    "z": 0,
}
_MONTHS = {name.lower(): number for number, name in enumerate(MONTHS, 1)}
_DAYS = {name.lower(): number for number, name in enumerate(WEEKDAYS)}
_SHORT = {**{name[:3]: number for name, number in _MONTHS.items()}, "sept": 9}
_SHORT_DAYS = {
    **{name[:3]: number for name, number in _DAYS.items()},
    "tues": 2,
    "wednes": 3,
    "thur": 4,
    "thurs": 4,
}


class Token(NamedTuple):
    """A token of a date: its kind, its value, and for numbers the number of digits."""

    kind: str
    value: int = 0
    digits: int = 0
    nanos: int = 0
    unit: str = ""
    signed: bool = False
    negative: bool = False
    """Written with a minus sign, which ``-0`` has, too."""


class InvalidDate(Exception):
    """The text is no valid date."""


def tokens(text: str) -> list[Token]:
    """All pieces of a text, or ``NoDate``."""
    found, position = [], 0
    while position < len(text):
        letter = text[position]
        if letter in " \t\n\v\f\r":
            position += 1
        elif letter == "(":
            position = _after_comment(text, position)
        elif _is_digit(letter) or letter in "+-":
            token, position = _number(text, position)
            if token is not None:
                found.append(token)
        elif letter.isalpha():
            end = position
            while end < len(text) and (text[end].isalpha() or text[end] == "."):
                end += 1
            found.append(_word(text[position:end]))
            position = end
        else:
            found.append(Token(letter))
            position += 1
    return found


def _is_digit(letter: str) -> bool:
    return "0" <= letter <= "9"


def _after_comment(text: str, position: int) -> int:
    depth = 0
    while position < len(text):
        depth += {"(": 1, ")": -1}.get(text[position], 0)
        position += 1
        if depth == 0:
            break
    return position


def _number(text: str, position: int) -> tuple[Token | None, int]:
    sign = text[position] if text[position] in "+-" else ""
    if sign:
        position += 1
        while text[position : position + 1].isspace():
            position += 1
        if not _is_digit(text[position : position + 1] or " "):
            return None, position  # a sign before nothing is passed over
    end = position
    while end < len(text) and _is_digit(text[end]):
        end += 1
    digits = text[position:end]
    if len(digits) > MAX_DIGITS:
        raise InvalidDate
    value = -int(digits) if sign == "-" else int(digits)
    if text[end : end + 1] not in (".", ",") or not _is_digit(text[end + 1 : end + 2] or " "):
        return Token("number", value, len(digits), signed=bool(sign), negative=sign == "-"), end
    start = end + 1
    end = start
    while end < len(text) and _is_digit(text[end]):
        end += 1
    nanos = int(text[start:end][:9].ljust(9, "0"))
    beyond = any(digit != "0" for digit in text[start + 9 : end])
    if sign == "-" and (nanos or beyond):
        value, nanos = value - 1, 1_000_000_000 - nanos - beyond
    return Token("decimal", value, len(digits), nanos, signed=bool(sign), negative=sign == "-"), end


def _word(text: str) -> Token:
    word = text.lower()
    if word in ("am", "a.m."):
        return Token("meridian", 0)
    if word in ("pm", "p.m."):
        return Token("meridian", 12)
    bare = word.rstrip(".") if word.count(".") == 1 else word
    for kind, table in (("month", _MONTHS), ("month", _SHORT), ("weekday", _DAYS), ("weekday", _SHORT_DAYS)):
        if bare in table:
            return Token(kind, table[bare])
    if word in ZONE_HOURS:
        return Token("zone", int(ZONE_HOURS[word] * 3600))
    if word == "dst":
        return Token("dst")
    name = word if word in UNITS else word.removesuffix("s")
    if name in UNITS:
        unit, count = UNITS[name]
        return Token("unit", count, unit=unit)
    for kind, numbers in (("shift", SHIFTS), ("ordinal", ORDINALS)):
        if word in numbers:
            return Token(kind, numbers[word])
    if word in ("ago", "hence"):
        return Token("direction", -1 if word == "ago" else 1)
    if word == "t":
        return Token("T")
    if word in MILITARY:
        return Token("zone", MILITARY[word] * 3600)
    raise InvalidDate
