"""Reading the dates that people write after ``date -d``: GNU's grammar of items in any order.

An item is a date, a time of day, a weekday, a zone, a shift (``2 days ago``) or a bare number whose
meaning depends on what was read before. As in GNU's, a signed number right behind a time is its zone.
"""

from __future__ import annotations

from aiopslab.machine.shell.commands.system.dates.moment import (
    DAY_S,
    NANOS,
    UTC,
    Moment,
    Zone,
    calendar,
    days_before,
)
from aiopslab.machine.shell.commands.system.dates.words import NoDate, Token, tokens

END = Token("end")
LAST_SECOND = 67_768_036_191_676_799
"""The end of the last year that the C library's calendar can hold."""


def read_moment(text: str, now: Moment, zone: Zone = UTC) -> Moment | None:
    """The moment a text means, seen from now and a zone; None when it means nothing."""
    try:
        found = _Reader(tokens(text), now, zone).read()
    except NoDate:
        return None
    return found if abs(found.seconds) <= LAST_SECOND else None


class _Reader:
    def __init__(self, pieces: list[Token], now: Moment, zone: Zone) -> None:
        self._pieces = pieces
        self._at = 0
        self._now = now
        self._local = zone
        self._today = calendar(now.seconds + zone.offset_s)
        self._date: tuple[int, int, int] = (self._today.year, self._today.month, self._today.day)
        self._year_digits = 0
        self._time: tuple[int, int, int, int] = (
            self._today.hour, self._today.minute, self._today.second, now.nanos,
        )  # fmt: skip
        self._weekday: tuple[int, int] = (0, 0)
        self._zone_s: int | None = None
        self._shift = {"year": 0, "month": 0, "day": 0, "second": 0}
        self._shift_nanos = 0
        self._seen = {"date": 0, "time": 0, "weekday": 0, "zone": 0, "shift": 0}

    def read(self) -> Moment:
        """The whole text, reckoned."""
        if self._peek().kind == "@":
            return self._since_1970()
        while self._peek() is not END:
            self._item()
        if any(self._seen[kind] > 1 for kind in ("date", "time", "weekday", "zone")):
            raise NoDate
        return self._reckon()

    # -- pieces --------------------------------------------------------------------------------

    def _peek(self, ahead: int = 0) -> Token:
        place = self._at + ahead
        return self._pieces[place] if place < len(self._pieces) else END

    def _take(self, count: int = 1) -> Token:
        token = self._peek()
        self._at += count
        return token

    def _shape(self, *wanted: str) -> bool:
        """Whether the next pieces are of these kinds; ``unsigned`` and ``signed`` are whole numbers."""
        for ahead, kind in enumerate(wanted):
            token = self._peek(ahead)
            actual = token.kind
            if actual == "number":
                actual = "signed" if token.signed else "unsigned"
            if actual != kind:
                return False
        return True

    def _since_1970(self) -> Moment:
        self._take()
        token = self._take()
        if token.kind not in ("number", "decimal") or self._peek() is not END:
            raise NoDate
        return Moment(token.value, token.nanos)

    # -- items ---------------------------------------------------------------------------------

    def _item(self) -> None:
        token = self._peek()
        if self._time_of_day() or self._calendar_date() or self._relative():
            return
        if token.kind == "weekday":
            self._weekday_is(0, self._take().value)
            if self._peek().kind == ",":
                self._take()
        elif token.kind == "ordinal" and self._peek(1).kind == "weekday":
            self._weekday_is(self._take().value, self._take().value)
        elif token.kind in ("zone", "T"):
            self._named_zone()
        elif self._shape("unsigned"):
            self._bare_number(self._take())
        else:
            raise NoDate

    def _weekday_is(self, ordinal: int, weekday: int) -> None:
        self._weekday = (ordinal, weekday)
        self._seen["weekday"] += 1

    def _time_of_day(self) -> bool:
        if self._shape("unsigned", "meridian"):
            hour = self._take().value
            self._set_time(_half_day(hour, self._take().value), 0, 0, 0)
            return True
        if not self._shape("unsigned", ":", "unsigned"):
            return False
        hour, minute = self._take(2).value, self._take().value
        second = nanos = 0
        if self._shape(":", "unsigned") or self._shape(":", "decimal"):
            self._take()
            token = self._take()
            second, nanos = token.value, token.nanos
        if self._peek().kind == "meridian":
            hour = _half_day(hour, self._take().value)
        elif self._shape("signed"):
            self._offset_is(self._zone_offset())
        self._set_time(hour, minute, second, nanos)
        return True

    def _set_time(self, hour: int, minute: int, second: int, nanos: int) -> None:
        self._time = (hour, minute, second, nanos)
        self._seen["time"] += 1

    def _offset_is(self, offset_s: int) -> None:
        self._zone_s = offset_s
        self._seen["zone"] += 1

    def _zone_offset(self) -> int:
        """``+3``, ``+0300`` or ``+03:00``, in seconds."""
        token = self._take()
        hours, minutes = token.value, 0
        if self._shape(":", "unsigned"):
            self._take()
            minutes = self._take().value
        elif token.digits > 2:
            size = abs(token.value)
            hours, minutes = (size // 100) * (-1 if token.value < 0 else 1), size % 100
        offset_s = hours * 3600 + (-minutes if token.value < 0 else minutes) * 60
        if abs(offset_s) > 24 * 3600:
            raise NoDate
        return offset_s

    def _named_zone(self) -> None:
        token = self._take()
        offset_s = token.value if token.kind == "zone" else -7 * 3600  # T is a military zone too
        if self._shape("signed", "unit"):
            self._relative()
        elif token.kind == "zone" and self._shape("signed"):
            offset_s += self._zone_offset()
        if self._peek().kind == "dst":
            self._take()
            offset_s += 3600
        self._offset_is(offset_s)

    def _calendar_date(self) -> bool:
        if self._shape("unsigned", "/", "unsigned"):
            self._slashed()
        elif self._shape("unsigned", "signed", "signed"):
            year, month, day = self._take(), -self._take().value, -self._take().value
            self._date_is(_year(year), month, day, year.digits)
            if self._shape("T", "unsigned"):
                self._take()
                self._time_after_t()
        elif self._shape("unsigned", "month"):
            day, month = self._take().value, self._take().value
            self._named_month(month, day)
        elif self._shape("month", "signed", "signed"):
            month, day, year = self._take().value, -self._take().value, self._take()
            self._date_is(_year(year._replace(value=-year.value)), month, day, year.digits)
        elif self._shape("month", "unsigned"):
            month, day = self._take().value, self._take().value
            if self._shape(",", "unsigned"):
                year = self._peek(1)
                self._take(2)
                self._date_is(_year(year), month, day, year.digits)
            else:
                self._date_is(self._date[0], month, day, 0)
        else:
            return False
        return True

    def _time_after_t(self) -> None:
        if self._shape("unsigned", "signed"):
            hour = self._take().value
            self._offset_is(self._zone_offset())
            self._set_time(hour, 0, 0, 0)
        elif not self._time_of_day():
            raise NoDate

    def _slashed(self) -> None:
        first, second = self._take(2), self._take()
        if not self._shape("/", "unsigned"):
            self._date_is(self._date[0], first.value, second.value, 0)
            return
        self._take()
        third = self._take()
        if first.digits >= 4:
            self._date_is(first.value, second.value, third.value, first.digits)
        else:
            self._date_is(_year(third), first.value, second.value, third.digits)

    def _named_month(self, month: int, day: int) -> None:
        """A day and a month were read: ``17 Jun 1992``, ``17-JUN-1992`` or no year."""
        if self._peek().kind == "number":
            year = self._take()
            self._date_is(_year(year._replace(value=abs(year.value))), month, day, year.digits)
        else:
            self._date_is(self._date[0], month, day, 0)

    def _date_is(self, year: int, month: int, day: int, year_digits: int) -> None:
        self._date = (year, month, day)
        self._year_digits = year_digits
        self._seen["date"] += 1

    def _relative(self) -> bool:
        token, following = self._peek(), self._peek(1)
        if token.kind == "shift":
            self._take()
            self._move("day", token.value, 0, 1)
            return True
        if token.kind == "unit":
            count, nanos, unit = 1, 0, self._take()
        elif token.kind in ("number", "decimal", "ordinal") and following.kind == "unit":
            count, nanos = token.value, token.nanos
            self._take()
            unit = self._take()
            if token.kind == "decimal" and (unit.unit, unit.value) != ("second", 1):
                raise NoDate
        else:
            return False
        direction = self._take().value if self._peek().kind == "direction" else 1
        self._move(unit.unit, count * unit.value, nanos, direction)
        return True

    def _move(self, unit: str, count: int, nanos: int, direction: int) -> None:
        self._shift[unit] += count * direction
        self._shift_nanos += nanos * direction
        self._seen["shift"] += 1

    def _bare_number(self, token: Token) -> None:
        """A year behind a date, eight digits for a date, else a time of day."""
        seen = self._seen
        if (
            seen["date"]
            and not self._year_digits
            and not seen["shift"]
            and (seen["time"] or token.digits > 2)
        ):
            self._date = (_year(token), *self._date[1:])
            self._year_digits = token.digits
        elif token.digits > 4:
            self._date_is(
                token.value // 10_000, token.value // 100 % 100, token.value % 100, token.digits - 4
            )
        elif token.digits <= 2:
            self._set_time(token.value, 0, 0, 0)
        else:
            self._set_time(token.value // 100, token.value % 100, 0, 0)

    # -- reckoning -----------------------------------------------------------------------------

    def _reckon(self) -> Moment:
        year, month, day = self._date
        hour, minute, second, nanos = self._time
        seen = self._seen
        if not seen["time"] and (not seen["shift"] or seen["date"] or seen["weekday"]):
            hour = minute = second = nanos = 0
        if not (1 <= month <= 12 and hour < 24 and minute < 60 and second < 60):
            raise NoDate
        days = days_before(year, month, day)
        if calendar(days * DAY_S)[:3] != (year, month, day):
            raise NoDate
        if seen["weekday"] and not seen["date"]:
            ordinal, wanted = self._weekday
            weekday = (days + 4) % 7
            day += (wanted - weekday) % 7 + 7 * (ordinal - (ordinal > 0 and weekday != wanted))
        shift = self._shift
        days = days_before(year + shift["year"], month + shift["month"], day + shift["day"])
        offset_s = self._local.offset_s if self._zone_s is None else self._zone_s
        seconds = days * DAY_S + hour * 3600 + minute * 60 + second - offset_s + shift["second"]
        carry, nanos = divmod(nanos + self._shift_nanos, NANOS)
        return Moment(seconds + carry, nanos)


def _half_day(hour: int, meridian: int) -> int:
    if not 1 <= hour <= 12:
        raise NoDate
    return hour % 12 + meridian


def _year(token: Token) -> int:
    """Two digits mean a year between 1969 and 2068."""
    if token.digits <= 2 and token.value >= 0:
        return token.value + (1900 if token.value >= 69 else 2000)
    return token.value
