"""Dates: conversion between milliseconds since 1970, years and months, and text. The machine's zone is UTC."""

from __future__ import annotations

import math
import re
from typing import Final, NamedTuple

MAX_TIME_MS: Final = 8.64e15
DAY_MS: Final = 86_400_000
_DAYS: Final = ("Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat")
MONTHS: Final = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_ISO = re.compile(
    r"([+-]\d{6}|\d{4})(?:-(\d\d)(?:-(\d\d))?)?"
    r"(?:[T ](\d\d):(\d\d)(?::(\d\d)(?:[.,](\d{1,9}))?)?)?\s*(Z|[+-]\d\d:?\d\d)?"
)
_WORDS = re.compile(
    r"(?:[A-Za-z]{3,9},?\s+)?(?:([A-Za-z]{3,9})\.?\s+(\d{1,2}),?|(\d{1,2})\s+([A-Za-z]{3,9}),?)\s+(\d{4})"
    r"(?:\s+(\d{1,2}):(\d\d)(?::(\d\d))?)?\s*(?:GMT|UTC|Z)?([+-]\d{4})?(?:\s*\([^)]*\))?"
)
_SLASHES = re.compile(r"(\d{1,4})/(\d{1,2})/(\d{1,4})(?:\s+(\d{1,2}):(\d\d)(?::(\d\d))?)?")


class Parts(NamedTuple):
    """The parts of a date; months count from 0."""

    year: int
    month: int
    day: int
    hour: int
    minute: int
    second: int
    ms: int
    weekday: int


def days_before(year: int, month: int) -> int:
    """Days from 1970 to the first of a month."""
    year += month // 12
    month %= 12
    shifted = year if month > 1 else year - 1
    era = shifted // 400
    of_era = shifted - era * 400
    of_year = (153 * ((month + 10) % 12) + 2) // 5
    return era * 146_097 + of_era * 365 + of_era // 4 - of_era // 100 + of_year - 719_468


def moment(
    year: float, month: float, day: float, hour: float, minute: float, second: float, ms: float
) -> float:
    """Milliseconds since 1970; NaN when that is no moment."""
    fields = (year, month, day, hour, minute, second, ms)
    if (
        any(field != field or abs(field) > 1e15 for field in fields)
        or abs(year) > 400_000
        or abs(month) > 5e6
    ):
        return math.nan
    days = days_before(int(year), int(month)) + int(day) - 1
    return clip_time(
        days * DAY_MS + int(hour) * 3_600_000 + int(minute) * 60_000 + int(second) * 1000 + int(ms)
    )


def clip_time(time_ms: float) -> float:
    """Return a moment in the range that dates have."""
    if time_ms != time_ms or abs(time_ms) > MAX_TIME_MS:
        return math.nan
    return float(math.trunc(time_ms))


def parts(time_ms: float) -> Parts:
    """Return a moment taken apart."""
    days, rest = divmod(int(time_ms), DAY_MS)
    shifted = days + 719_468
    era, of_era = divmod(shifted, 146_097)
    year_of_era = (of_era - of_era // 1460 + of_era // 36_524 - of_era // 146_096) // 365
    of_year = of_era - (365 * year_of_era + year_of_era // 4 - year_of_era // 100)
    month_from_march = (5 * of_year + 2) // 153
    day = of_year - (153 * month_from_march + 2) // 5 + 1
    month = (month_from_march + 2) % 12
    year = year_of_era + era * 400 + (1 if month < 2 else 0)
    hours, rest = divmod(rest, 3_600_000)
    minutes, rest = divmod(rest, 60_000)
    seconds, ms = divmod(rest, 1000)
    return Parts(year, month, day, hours, minutes, seconds, ms, (days + 4) % 7)


def iso_text(time_ms: float) -> str:
    """``2026-01-02T03:04:05.678Z``."""
    when = parts(time_ms)
    year = (
        f"{when.year:04d}"
        if 0 <= when.year <= 9999
        else f"{'-' if when.year < 0 else '+'}{abs(when.year):06d}"
    )
    return f"{year}-{when.month + 1:02d}-{when.day:02d}T{when.hour:02d}:{when.minute:02d}:{when.second:02d}.{when.ms:03d}Z"


def day_text(time_ms: float) -> str:
    """``Thu Jan 01 1970``."""
    when = parts(time_ms)
    return f"{_DAYS[when.weekday]} {MONTHS[when.month]} {when.day:02d} {when.year:04d}"


def clock_text(time_ms: float) -> str:
    """``00:00:00``."""
    when = parts(time_ms)
    return f"{when.hour:02d}:{when.minute:02d}:{when.second:02d}"


def read(text: str) -> float:
    """Parse a date; NaN if it is invalid."""
    text = text.strip()[:100]
    iso = _ISO.fullmatch(text)
    if iso is not None:
        month, day = int(iso[2] or 1), int(iso[3] or 1)
        hour, minute, second = int(iso[4] or 0), int(iso[5] or 0), int(iso[6] or 0)
        if not (1 <= month <= 12 and 1 <= day <= 31 and hour <= 24 and minute < 60 and second < 60):
            return math.nan
        ms = int((iso[7] or "0")[:3].ljust(3, "0"))
        return moment(int(iso[1]), month - 1, day, hour, minute, second, ms) - _offset_ms(iso[8])
    words = _WORDS.fullmatch(text)
    if words is not None:
        name = (words[1] or words[4]).title()[:3]
        if name not in MONTHS:
            return math.nan
        day = int(words[2] or words[3])
        clock = (int(words[6] or 0), int(words[7] or 0), int(words[8] or 0))
        return moment(int(words[5]), MONTHS.index(name), day, *clock, 0) - _offset_ms(words[9])
    slashes = _SLASHES.fullmatch(text)
    if slashes is not None:
        first, second_, third = int(slashes[1]), int(slashes[2]), int(slashes[3])
        year, month, day = (first, second_, third) if len(slashes[1]) == 4 else (third, first, second_)
        return moment(
            year, month - 1, day, int(slashes[4] or 0), int(slashes[5] or 0), int(slashes[6] or 0), 0
        )
    return math.nan


def _offset_ms(zone: str | None) -> int:
    if not zone or zone == "Z":
        return 0
    digits = zone[1:].replace(":", "")
    minutes = int(digits[:2]) * 60 + int(digits[2:])
    return (-minutes if zone[0] == "-" else minutes) * 60_000
