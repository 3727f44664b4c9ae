"""Schedules of CronJobs: five fields (minute, hour, day of month, month, day of week), ``@daily`` and the like, ``@every``.

Times are found hour by hour in the local time of the zone, as in the genuine parser: an hour that a clock change
skips has no times, an hour that occurs twice has them twice. ``due`` returns the time to run now, ``wake_in_s`` the
time until the next check.
"""

from __future__ import annotations

from datetime import UTC, datetime, tzinfo
from enum import Enum, auto
from functools import cache, lru_cache
from importlib.resources import files
from typing import Final, NamedTuple, Protocol
from zoneinfo import ZoneInfo

from msgspec import Struct

from simcloud.golang import parse_duration_s
from simcloud.kubernetes.api.objects import Object
from simcloud.kubernetes.api.times import parse
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

MARGIN_S: Final = 0.1
"""The loop wakes this long after a time, so that the time has surely come."""

MANY: Final = 100
"""More missed times than this are worth a warning."""


class Schedule(Protocol):
    """Times, in seconds since 1970."""

    def after(self, time_s: float) -> float | None:
        """The first time after another; None if there is none."""
        ...


class Every(Struct, frozen=True):
    """A time every ``period_s`` seconds, counted from the time before."""

    period_s: int

    def after(self, time_s: float) -> float | None:
        return float(int(time_s) + self.period_s)


class Fields(Struct, frozen=True):
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


class Missed(Enum):
    """How many times passed unserved before the one that is due."""

    NONE = auto()
    FEW = auto()
    MANY = auto()


class Due(NamedTuple):
    """Since when times are looked for, and the last one that has come, if one has."""

    earliest_s: float
    time_s: float | None
    missed: Missed


def due(cron_job: Object, schedule: Schedule, now_s: float, within_deadline: bool) -> Due:
    """The last time since the one served last; ValueError: the schedule has no times."""
    earliest_s = parse(
        cron_job.get("status", {}).get("lastScheduleTime") or cron_job["metadata"]["creationTimestamp"]
    )
    deadline_s = cron_job["spec"].get("startingDeadlineSeconds")
    if within_deadline and deadline_s is not None:
        earliest_s = max(earliest_s, now_s - float(deadline_s))
    first = schedule.after(earliest_s)
    second = schedule.after(first) if first is not None else None
    if first is None or second is None:
        raise ValueError("time difference between two schedules is less than 1 second")
    if now_s < first:
        return Due(earliest_s, None, Missed.NONE)
    if now_s < second:
        return Due(earliest_s, first, Missed.NONE)
    period_s = int(second - first)
    passed = int(now_s - first) // period_s + 1
    # One period back, because the distance of two times need not be that of all.
    time_s, latest = schedule.after(first + (passed - 2) * period_s), None
    while time_s is not None and time_s <= now_s:
        latest, time_s = time_s, schedule.after(time_s)
    return Due(earliest_s, latest, Missed.MANY if passed > MANY else Missed.FEW)


def wake_in_s(cron_job: Object, schedule: Schedule, now_s: float) -> float | None:
    """In how many seconds the next time comes; None if there is no more."""
    try:
        earliest_s, time_s, missed = due(cron_job, schedule, now_s, within_deadline=False)
    except ValueError:
        base_s = now_s
    else:
        base_s = time_s if time_s is not None else earliest_s if missed is Missed.NONE else now_s
    following = schedule.after(base_s)
    return following + MARGIN_S - now_s if following is not None else None
