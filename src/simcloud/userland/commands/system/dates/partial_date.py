"""A date while it is parsed: the items so far, and the point in time that they give."""

from __future__ import annotations

from simcloud.userland.commands.system.dates.moment import (
    DAY_S,
    NANOS,
    Moment,
    Zone,
    calendar,
    days_before,
)
from simcloud.userland.commands.system.dates.words import InvalidDate, Token

ONCE = ("date", "time", "weekday", "zone")
"""Items that may occur only once."""


class DateBuilder:
    """Collects the items of a date; items that are not given default to the current time."""

    def __init__(self, now: Moment, zone: Zone) -> None:
        today = calendar(now.seconds + zone.offset_s)
        self._zone_s = zone.offset_s
        self._date = (today.year, today.month, today.day)
        self._year_digits = 0
        self._time = (today.hour, today.minute, today.second, now.nanos)
        self._weekday = (0, 0)
        self._shift = {"year": 0, "month": 0, "day": 0, "second": 0}
        self._shift_nanos = 0
        self._seen = dict.fromkeys((*ONCE, "shift"), 0)

    def set_date(self, month: int, day: int, year: Token | None = None) -> None:
        """Set the date; the default is the current year."""
        self._date = (self._date[0] if year is None else year_of(year), month, day)
        self._year_digits = 0 if year is None else year.digits
        self._seen["date"] += 1

    def set_time(self, hour: int, minute: int, second: int = 0, nanos: int = 0) -> None:
        """A time of day."""
        self._time = (hour, minute, second, nanos)
        self._seen["time"] += 1

    def set_weekday(self, ordinal: int, weekday: int) -> None:
        """A weekday: the next one, or the so-many-th."""
        self._weekday = (ordinal, weekday)
        self._seen["weekday"] += 1

    def set_zone(self, offset_s: int) -> None:
        """Set the time zone."""
        self._zone_s = offset_s
        self._seen["zone"] += 1

    def move(self, unit: str, count: int, nanos: int = 0) -> None:
        """Shift the date by a number of units."""
        self._shift[unit] += count
        self._shift_nanos += nanos
        self._seen["shift"] += 1

    def take_number(self, token: Token) -> None:
        """A bare number: a year behind a date, eight digits for a date, else a time of day."""
        seen, value = self._seen, token.value
        if (
            seen["date"]
            and not self._year_digits
            and not seen["shift"]
            and (seen["time"] or token.digits > 2)
        ):
            self._date = (year_of(token), *self._date[1:])
            self._year_digits = token.digits
        elif token.digits > 4:
            year = Token("number", value // 10_000, token.digits - 4)
            self.set_date(value // 100 % 100, value % 100, year)
        elif token.digits <= 2:
            self.set_time(value, 0)
        else:
            self.set_time(value // 100, value % 100)

    def moment(self) -> Moment:
        """Return the moment. Raises ``InvalidDate`` for contradictory items."""
        seen = self._seen
        year, month, day = self._date
        hour, minute, second, nanos = self._time
        if not seen["time"] and (not seen["shift"] or seen["date"] or seen["weekday"]):
            hour = minute = second = nanos = 0
        if any(seen[kind] > 1 for kind in ONCE) or not (
            1 <= month <= 12 and hour < 24 and minute < 60 and second < 60
        ):
            raise InvalidDate
        days = days_before(year, month, day)
        if calendar(days * DAY_S)[:3] != (year, month, day):
            raise InvalidDate
        if seen["weekday"] and not seen["date"]:
            ordinal, wanted = self._weekday
            weekday = (days + 4) % 7
            day += (wanted - weekday) % 7 + 7 * (ordinal - (ordinal > 0 and weekday != wanted))
        shift = self._shift
        days = days_before(year + shift["year"], month + shift["month"], day + shift["day"])
        seconds = days * DAY_S + hour * 3600 + minute * 60 + second - self._zone_s + shift["second"]
        carry, nanos = divmod(nanos + self._shift_nanos, NANOS)
        return Moment(seconds + carry, nanos)


def year_of(token: Token) -> int:
    """Two digits mean a year between 1969 and 2068."""
    if token.digits <= 2 and token.value >= 0:
        return token.value + (1900 if token.value >= 69 else 2000)
    return token.value
