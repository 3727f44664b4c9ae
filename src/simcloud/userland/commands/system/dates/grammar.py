"""Parses the dates after ``date -d``: GNU's grammar of items in any order.

An item is a date, a time of day, a weekday, a zone, a shift (``2 days ago``) or a bare number whose meaning depends
on the items before it. As in GNU's grammar, a signed number right behind a time is its zone.
"""

from __future__ import annotations

from simcloud.userland.commands.system.dates.moment import UTC, Moment, Zone
from simcloud.userland.commands.system.dates.partial_date import DateBuilder
from simcloud.userland.commands.system.dates.words import InvalidDate, Token, tokens

END = Token("end")
LAST_SECOND = 67_768_036_191_676_799
"""The end of the last year that the C library's calendar can hold."""

FURTHEST_ZONE_S = 24 * 3600


def read_moment(text: str, now: Moment, zone: Zone = UTC) -> Moment | None:
    """The moment a text means, seen from now and a zone; None when it means nothing."""
    try:
        found = _Reader(tokens(text), DateBuilder(now, zone)).read()
    except InvalidDate:
        return None
    return found if abs(found.seconds) <= LAST_SECOND else None


class _Reader:
    def __init__(self, pieces: list[Token], reckoning: DateBuilder) -> None:
        self._pieces = pieces
        self._at = 0
        self._found = reckoning

    def read(self) -> Moment:
        """The whole text, reckoned."""
        if self._peek().kind == "@":
            return self._since_1970()
        while self._peek() is not END:
            self._item()
        return self._found.moment()

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
            raise InvalidDate
        return Moment(token.value, token.nanos)

    # -- items ---------------------------------------------------------------------------------

    def _item(self) -> None:
        token = self._peek()
        if self._time_of_day() or self._calendar_date() or self._relative():
            return
        if token.kind == "weekday":
            self._found.set_weekday(0, self._take().value)
            if self._peek().kind == ",":
                self._take()
        elif token.kind == "ordinal" and self._peek(1).kind == "weekday":
            self._found.set_weekday(self._take().value, self._take().value)
        elif token.kind in ("zone", "T"):
            self._parse_zone_name()
        elif self._shape("unsigned"):
            self._found.take_number(self._take())
        else:
            raise InvalidDate

    def _time_of_day(self) -> bool:
        if self._shape("unsigned", "meridian"):
            hour = self._take().value
            self._found.set_time(_half_day(hour, self._take().value), 0)
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
            self._found.set_zone(self._zone_offset())
        self._found.set_time(hour, minute, second, nanos)
        return True

    def _zone_offset(self) -> int:
        """``+3``, ``+0300`` or ``+03:00``, in seconds."""
        token = self._take()
        hours, minutes = abs(token.value), 0
        if self._shape(":", "unsigned"):
            self._take()
            minutes = self._take().value
        elif token.digits > 2:
            hours, minutes = divmod(hours, 100)
        offset_s = hours * 3600 + minutes * 60
        if offset_s > FURTHEST_ZONE_S:
            raise InvalidDate
        return -offset_s if token.negative else offset_s

    def _parse_zone_name(self) -> None:
        token = self._take()
        offset_s = token.value if token.kind == "zone" else -7 * 3600  # T is a military zone too
        if self._shape("signed", "unit"):
            self._relative()
        elif token.kind == "zone" and self._shape("signed"):
            offset_s += self._zone_offset()
        if self._peek().kind == "dst":
            self._take()
            offset_s += 3600
        self._found.set_zone(offset_s)

    def _calendar_date(self) -> bool:
        if self._shape("unsigned", "/", "unsigned"):
            self._parse_slashes()
        elif self._shape("unsigned", "signed", "signed"):
            self._parse_dashes()
        elif self._shape("unsigned", "month"):
            self._day_and_month()
        elif self._shape("month", "signed", "signed"):
            month, day, year = self._take().value, -self._take().value, self._take()
            self._found.set_date(month, day, year._replace(value=-year.value))
        elif self._shape("month", "unsigned"):
            month, day = self._take().value, self._take().value
            year_follows = self._shape(",", "unsigned")
            self._found.set_date(month, day, self._peek(1) if year_follows else None)
            self._at += 2 if year_follows else 0
        else:
            return False
        return True

    def _parse_dashes(self) -> None:
        """``2024-01-15``, perhaps with a time behind a T."""
        year, month, day = self._take(), -self._take().value, -self._take().value
        self._found.set_date(month, day, year)
        if not self._shape("T", "unsigned"):
            return
        self._take()
        if self._shape("unsigned", "signed"):
            hour = self._take().value
            self._found.set_zone(self._zone_offset())
            self._found.set_time(hour, 0)
        elif not self._time_of_day():
            raise InvalidDate

    def _parse_slashes(self) -> None:
        """``1/15``, ``1/15/2024`` or ``2024/1/15``."""
        first, second = self._take(2), self._take()
        if not self._shape("/", "unsigned"):
            self._found.set_date(first.value, second.value)
            return
        self._take()
        third = self._take()
        if first.digits >= 4:
            self._found.set_date(second.value, third.value, first)
        else:
            self._found.set_date(first.value, second.value, third)

    def _day_and_month(self) -> None:
        """``17 Jun 1992``, ``17-JUN-1992`` or no year."""
        day, month = self._take().value, self._take().value
        year = None
        if self._peek().kind == "number":
            year = self._take()
            year = year._replace(value=abs(year.value))
        self._found.set_date(month, day, year)

    def _relative(self) -> bool:
        token, following = self._peek(), self._peek(1)
        if token.kind == "shift":
            self._found.move("day", self._take().value)
            return True
        count, nanos = 1, 0
        if token.kind in ("number", "decimal", "ordinal") and following.kind == "unit":
            count, nanos = token.value, token.nanos
            self._take()
        elif token.kind != "unit":
            return False
        unit = self._take()
        if token.kind == "decimal" and (unit.unit, unit.value) != ("second", 1):
            raise InvalidDate
        direction = self._take().value if self._peek().kind == "direction" else 1
        self._found.move(unit.unit, count * unit.value * direction, nanos * direction)
        return True


def _half_day(hour: int, meridian: int) -> int:
    if not 1 <= hour <= 12:
        raise InvalidDate
    return hour % 12 + meridian
