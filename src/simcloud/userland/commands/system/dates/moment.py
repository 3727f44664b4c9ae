"""A point in time in whole nanoseconds, its calendar date, and zones of a fixed offset.

The calendar is computed here because Python's stops at the year 9999, while the years of user input may be larger.
Zone files do not exist on our machines: ``TZ`` may hold a name and an offset (``EST5``); any other value means UTC
under the given name, as in the C library where zone files are missing.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final, NamedTuple

DAY_S: Final = 86_400
NANOS: Final = 1_000_000_000
DAYS_TO_1970: Final = 719_468
ERA_DAYS: Final = 146_097
"""The days of 400 years, after which the calendar repeats."""

_FIXED_ZONE = re.compile(
    r"([A-Za-z]{3,}|<[A-Za-z0-9+-]{3,}>)([+-]?[0-9]{1,2})(?::([0-9]{1,2}))?(?::([0-9]{1,2}))?"
)


class Zone(NamedTuple):
    """A name and its offset from UTC in seconds."""

    name: str
    offset_s: int


UTC: Final = Zone("UTC", 0)


def zone_of(env: Mapping[str, str]) -> Zone:
    """Return the zone of an environment."""
    text = env.get("TZ", "")
    form = _FIXED_ZONE.fullmatch(text.removeprefix(":"))
    if form is None:
        letters = text.partition("/")[0].removeprefix(":")
        return Zone(letters, 0) if letters.isalpha() and letters.isascii() and len(letters) >= 3 else UTC
    hours = int(form[2])
    rest_s = int(form[3] or 0) * 60 + int(form[4] or 0)
    west_s = hours * 3600 + (-rest_s if form[2].startswith("-") else rest_s)
    return Zone(form[1].strip("<>"), -west_s)


class Moment(NamedTuple):
    """Seconds since 1970 and nanoseconds."""

    seconds: int
    nanos: int = 0

    @classmethod
    def of(cls, seconds: float) -> Moment:
        """From a machine's clock or a file's time, which are exact to the microsecond."""
        whole, micros = divmod(round(seconds * 1_000_000), 1_000_000)
        return cls(whole, micros * 1000)

    def timestamp(self) -> float:
        """As a machine's clock has it."""
        return self.seconds + self.nanos / NANOS


class Calendar(NamedTuple):
    """The calendar fields of a moment. Months count from 1, weekdays from Sunday as 0."""

    year: int
    month: int
    day: int
    hour: int
    minute: int
    second: int
    weekday: int
    day_of_year: int


def calendar(seconds: int) -> Calendar:
    """Convert seconds since 1970 to a calendar date and time."""
    days, rest = divmod(seconds, DAY_S)
    year, month, day = _civil(days)
    day_of_year = days - days_before(year, 1, 1) + 1
    return Calendar(year, month, day, rest // 3600, rest // 60 % 60, rest % 60, (days + 4) % 7, day_of_year)


def days_before(year: int, month: int, day: int) -> int:
    """Days from 1970 to a date; months and days beyond their ranges run over into the next."""
    year, month = year + (month - 1) // 12, (month - 1) % 12 + 1
    shifted = year - (month <= 2)
    era, year_of_era = divmod(shifted, 400)
    day_of_year = (153 * (month - 3 if month > 2 else month + 9) + 2) // 5
    return (
        era * ERA_DAYS
        + year_of_era * 365
        + year_of_era // 4
        - year_of_era // 100
        + day_of_year
        + day
        - 1
        - DAYS_TO_1970
    )


def _civil(days: int) -> tuple[int, int, int]:
    era, day_of_era = divmod(days + DAYS_TO_1970, ERA_DAYS)
    year_of_era = (day_of_era - day_of_era // 1460 + day_of_era // 36_524 - day_of_era // 146_096) // 365
    day_of_year = day_of_era - (365 * year_of_era + year_of_era // 4 - year_of_era // 100)
    shifted = (5 * day_of_year + 2) // 153
    month = shifted + 3 if shifted < 10 else shifted - 9
    return era * 400 + year_of_era + (month <= 2), month, day_of_year - (153 * shifted + 2) // 5 + 1
