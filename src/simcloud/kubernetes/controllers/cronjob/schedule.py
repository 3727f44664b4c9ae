"""Schedules: five fields (minute, hour, day of month, month, day of week), ``@daily`` and the like, ``@every``.

Times are found as the genuine reader finds them, hour by hour in the zone's own time: an hour that a
change of the clocks leaves out has no times, one that comes twice has them twice.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, tzinfo
from functools import cache, lru_cache
from importlib.resources import files
from typing import Final, Protocol
from zoneinfo import ZoneInfo

from simcloud.golang.durations import parse_duration_s
from simcloud.kubernetes.api.validation.schedule import schedule_error

DESCRIPTORS: Final = {
    "@yearly": "0 0 1 1 *",
    "@annually": "0 0 1 1 *",
    "@monthly": "0 0 1 * *",
    "@weekly": "0 0 * * 0",
    "@daily": "0 0 * * *",
    "@midnight": "0 0 * * *",
    "@hourly": "0 * * * *",
}
MONTHS: Final = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
DAYS: Final = ("sun", "mon", "tue", "wed", "thu", "fri", "sat")
BOUNDS: Final = ((0, 59), (0, 23), (1, 31), (1, 12), (0, 6))
NAMES: Final[tuple[dict[str, int], ...]] = (
    {},
    {},
    {},
    {name: number for number, name in enumerate(MONTHS, 1)},
    {name: number for number, name in enumerate(DAYS)},
)
YEARS_AHEAD: Final = 5
"""Years to search for the next time of a schedule."""


class Schedule(Protocol):
    """Times, in seconds since 1970."""

    def after(self, time_s: float) -> float | None:
        """The first time after another; None if there is none."""
        ...


@dataclass(frozen=True, slots=True)
class Every:
    """A time every ``period_s`` seconds, counted from the time before."""

    period_s: int

    def after(self, time_s: float) -> float | None:
        return float(int(time_s) + self.period_s)


@dataclass(frozen=True, slots=True)
class Fields:
    """Times by the fields of a clock and a calendar in one zone."""

    minutes: frozenset[int]
    hours: frozenset[int]
    days: frozenset[int]
    months: frozenset[int]
    weekdays: frozenset[int]
    every_day: bool
    """One of the two fields for days is a star: then both must hold, else either is enough."""
    zone: tzinfo

    def after(self, time_s: float) -> float | None:
        instant = (int(time_s) // 60 + 1) * 60
        last_year = datetime.fromtimestamp(instant, self.zone).year + YEARS_AHEAD
        while True:
            local = datetime.fromtimestamp(instant, self.zone)
            if local.year > last_year:
                return None
            if local.month not in self.months:
                year, month = divmod(local.year * 12 + local.month, 12)
                instant = self._midnight(year, month + 1, 1, instant)
            elif not self._day_matches(local):
                tomorrow = datetime.fromordinal(local.toordinal() + 1)
                instant = self._midnight(tomorrow.year, tomorrow.month, tomorrow.day, instant)
            elif local.hour not in self.hours:
                instant += 3600 - local.minute * 60 - local.second
            elif local.minute not in self.minutes:
                instant += 60 - local.second
            else:
                return float(instant)

    def _day_matches(self, local: datetime) -> bool:
        by_date, by_weekday = local.day in self.days, local.isoweekday() % 7 in self.weekdays
        return (by_date and by_weekday) if self.every_day else (by_date or by_weekday)

    def _midnight(self, year: int, month: int, day: int, instant: int) -> int:
        """The start of a day; later than an instant whatever the clocks do."""
        return max(int(datetime(year, month, day, tzinfo=self.zone).timestamp()), instant + 60)


@lru_cache(maxsize=1024)
def parse_schedule(text: str, zone: str = "") -> Schedule:
    """Read a schedule. ValueError: it cannot be read, in the words of the genuine reader."""
    problem = schedule_error(text)
    if problem is not None:
        raise ValueError(problem)
    if text.startswith(("TZ=", "CRON_TZ=")):
        named, _, text = text.partition(" ")
        zone, text = named.partition("=")[2], text.strip()
    if text.startswith("@every "):
        return Every(max(1, int(parse_duration_s(text.removeprefix("@every ")))))
    fields = DESCRIPTORS.get(text, text).split()
    sets = [_field(field, *bounds, names) for field, bounds, names in zip(fields, BOUNDS, NAMES, strict=True)]
    (minutes, _), (hours, _), (days, any_date), (months, _), (weekdays, any_weekday) = sets
    return Fields(minutes, hours, days, months, weekdays, any_date or any_weekday, zone_named(zone))


@cache
def zone_named(name: str) -> tzinfo:
    """A time zone, UTC if it has no name. ValueError: there is none of that name.

    The data come with the program, so that the same world runs alike on every host.
    """
    if not name or name == "UTC":
        return UTC
    try:
        with files("tzdata").joinpath("zoneinfo", *name.split("/")).open("rb") as data:
            return ZoneInfo.from_file(data, key=name)
    except OSError:
        raise ValueError(f"unknown time zone {name}") from None


def _field(text: str, low: int, high: int, names: dict[str, int]) -> tuple[frozenset[int], bool]:
    """The values of a field, and whether it is a star."""
    values: set[int] = set()
    star = False
    for part in filter(None, text.split(",")):
        span, _, step = part.partition("/")
        first, _, last = span.partition("-")
        if first in ("*", "?"):
            start, end = low, high
            star = star or not step or int(step) == 1
        else:
            start = _number(first, names)
            end = _number(last, names) if last else high if step else start
        values.update(range(start, end + 1, int(step or 1)))
    return frozenset(values), star


def _number(text: str, names: dict[str, int]) -> int:
    return names[text.lower()] if text.lower() in names else int(text)
