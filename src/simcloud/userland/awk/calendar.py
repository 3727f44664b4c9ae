"""Dates for ``strftime`` and ``mktime``, in UTC and English."""

from __future__ import annotations

import math
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from typing import Final

_DAYS: Final = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_MONTHS: Final = (
    "January", "February", "March", "April", "May", "June",
    "July", "August", "September", "October", "November", "December",
)  # fmt: skip
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)

_COMPOSED: Final = {
    "c": "%a %b %e %H:%M:%S %Y",
    "D": "%m/%d/%y",
    "F": "%Y-%m-%d",
    "h": "%b",
    "r": "%I:%M:%S %p",
    "R": "%H:%M",
    "T": "%H:%M:%S",
    "v": "%e-%b-%Y",
    "x": "%m/%d/%y",
    "X": "%H:%M:%S",
}
_SIMPLE: Final[dict[str, Callable[[datetime], str]]] = {
    "a": lambda when: _DAYS[when.weekday()][:3],
    "A": lambda when: _DAYS[when.weekday()],
    "b": lambda when: _MONTHS[when.month - 1][:3],
    "B": lambda when: _MONTHS[when.month - 1],
    "C": lambda when: f"{when.year // 100:02d}",
    "d": lambda when: f"{when.day:02d}",
    "e": lambda when: f"{when.day:2d}",
    "g": lambda when: f"{when.isocalendar().year % 100:02d}",
    "G": lambda when: f"{when.isocalendar().year:04d}",
    "H": lambda when: f"{when.hour:02d}",
    "I": lambda when: f"{(when.hour + 11) % 12 + 1:02d}",
    "j": lambda when: f"{when.timetuple().tm_yday:03d}",
    "k": lambda when: f"{when.hour:2d}",
    "l": lambda when: f"{(when.hour + 11) % 12 + 1:2d}",
    "m": lambda when: f"{when.month:02d}",
    "M": lambda when: f"{when.minute:02d}",
    "n": lambda when: "\n",
    "p": lambda when: "AM" if when.hour < 12 else "PM",
    "P": lambda when: "am" if when.hour < 12 else "pm",
    "s": lambda when: str(int((when - _EPOCH).total_seconds())),
    "S": lambda when: f"{when.second:02d}",
    "t": lambda when: "\t",
    "u": lambda when: str(when.isoweekday()),
    "U": lambda when: f"{(when.timetuple().tm_yday + 6 - when.isoweekday() % 7) // 7:02d}",
    "V": lambda when: f"{when.isocalendar().week:02d}",
    "w": lambda when: str(when.isoweekday() % 7),
    "W": lambda when: f"{(when.timetuple().tm_yday + 6 - when.weekday()) // 7:02d}",
    "y": lambda when: f"{when.year % 100:02d}",
    "Y": lambda when: str(when.year),
    "z": lambda when: "+0000",
    "%": lambda when: "%",
}


def format_time(template: str, moment: float, zone: str) -> str:
    """Format a time (seconds since 1970) by the template; empty for times beyond the calendar."""
    try:
        when = _EPOCH + timedelta(seconds=math.floor(moment))
    except (OverflowError, ValueError):
        return ""
    for letter, meaning in _COMPOSED.items():
        if f"%{letter}" in template:
            template = _expand(template, letter, meaning)
    parts: list[str] = []
    position = 0
    while position < len(template):
        directive = template[position : position + 2]
        if directive[0] == "%" and len(directive) == 2:
            letter = directive[1]
            known = _SIMPLE.get(letter)
            parts.append(zone if letter == "Z" else directive if known is None else known(when))
            position += 2
        else:
            parts.append(directive[0])
            position += 1
    return "".join(parts)


def _expand(template: str, letter: str, meaning: str) -> str:
    """Spell a composed directive out, leaving ``%%`` alone."""
    return "%%".join(part.replace(f"%{letter}", meaning) for part in template.split("%%"))


def parse_time(text: str) -> float:
    """Seconds since 1970 of ``YYYY MM DD HH MM SS``, or -1 if that is not what the text is."""
    words = text.split()
    if len(words) < 6 or not all(_is_whole(word) for word in words[:6]):
        return -1.0
    year, month, day, hour, minute, second = (int(word) for word in words[:6])
    year, month = year + (month - 1) // 12, (month - 1) % 12
    if not 1 <= year <= 9998:
        return -1.0
    days = date(year, month + 1, 1).toordinal() - date(1970, 1, 1).toordinal() + day - 1
    return float(days * 86_400 + hour * 3600 + minute * 60 + second)


def _is_whole(word: str) -> bool:
    return word.removeprefix("-").isdigit() and word.isascii() and len(word) < 12
