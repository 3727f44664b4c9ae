"""Formats and parses times like C's ``strftime`` and ``strptime``, in the C locale and in UTC."""

from __future__ import annotations

import re
from collections.abc import Callable

from msgspec import Struct

DAYS = ("Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday")
MONTHS = (
    *("January", "February", "March", "April", "May", "June"),
    *("July", "August", "September", "October", "November", "December"),
)
BEFORE_MONTH = (0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334)
DAY_S = 86_400
UNKNOWN_WEEKDAY = 8
UNKNOWN_YEARDAY = 367


def is_leap(year: int) -> bool:
    """Whether a year has a 29th of February."""
    return year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)


def days_before(year: int, month: int) -> int:
    """Days from 1970 to the start of a month; months count from 0 and may lie outside the year."""
    year += month // 12
    month %= 12
    past = year - 1
    leaps = past // 4 - past // 100 + past // 400 - 477
    return (year - 1970) * 365 + leaps + BEFORE_MONTH[month] + (month > 1 and is_leap(year))


class Time(Struct):
    """Broken down time. Months count from 0, weekdays from Sunday, days of the year from 0."""

    year: int = 1900
    month: int = 0
    day: int = 0
    hour: int = 0
    minute: int = 0
    second: int = 0
    weekday: int = UNKNOWN_WEEKDAY
    yearday: int = UNKNOWN_YEARDAY

    @staticmethod
    def of_seconds(seconds: int) -> Time:
        """Return the time for a number of seconds since 1970."""
        days, rest = divmod(seconds, DAY_S)
        year = 1970 + days // 366 if days >= 0 else 1970 + days // 365
        while days_before(year + 1, 0) <= days:
            year += max(1, (days - days_before(year + 1, 0)) // 366)
        month = next(month for month in range(11, -1, -1) if days_before(year, month) <= days)
        return Time(
            year,
            month,
            days - days_before(year, month) + 1,
            rest // 3600,
            rest // 60 % 60,
            rest % 60,
            (days + 4) % 7,
            days - days_before(year, 0),
        )

    def fields(self) -> tuple[int, ...]:
        """The eight numbers in jq's order."""
        return (
            *(self.year, self.month, self.day, self.hour),
            *(self.minute, self.second, self.weekday, self.yearday),
        )

    def days(self) -> int:
        """Days since 1970."""
        return days_before(self.year, self.month) + self.day - 1

    def seconds(self) -> int:
        """Seconds since 1970; whatever overflows counts on."""
        return self.days() * DAY_S + self.hour * 3600 + self.minute * 60 + self.second


def _iso_week(time: Time) -> tuple[int, int]:
    """The year and the week of the ISO calendar."""
    week = (time.yearday - (time.weekday - 1) % 7 + 10) // 7
    if week < 1:
        year = time.year - 1
        length = 365 + is_leap(year)
        before = Time(year, weekday=time.weekday, yearday=time.yearday + length)
        return _iso_week(before)
    if week == 53:
        length = 365 + is_leap(time.year)
        if time.yearday - (time.weekday - 1) % 7 + 3 >= length:
            return time.year + 1, 1
    return time.year, week


def _name(names: tuple[str, ...], place: int, size: int | None = None) -> str:
    return names[place][:size] if 0 <= place < len(names) else "?"


_FORMS: dict[str, Callable[[Time], str]] = {
    "a": lambda t: _name(DAYS, t.weekday, 3),
    "A": lambda t: _name(DAYS, t.weekday),
    "b": lambda t: _name(MONTHS, t.month, 3),
    "h": lambda t: _name(MONTHS, t.month, 3),
    "B": lambda t: _name(MONTHS, t.month),
    "c": lambda t: format_time(t, "%a %b %e %H:%M:%S %Y"),
    "C": lambda t: f"{t.year // 100:02d}",
    "d": lambda t: f"{t.day:02d}",
    "D": lambda t: format_time(t, "%m/%d/%y"),
    "e": lambda t: f"{t.day:2d}",
    "F": lambda t: format_time(t, "%Y-%m-%d"),
    "g": lambda t: f"{_iso_week(t)[0] % 100:02d}",
    "G": lambda t: str(_iso_week(t)[0]),
    "H": lambda t: f"{t.hour:02d}",
    "I": lambda t: f"{(t.hour - 1) % 12 + 1:02d}",
    "j": lambda t: f"{t.yearday + 1:03d}",
    "k": lambda t: f"{t.hour:2d}",
    "l": lambda t: f"{(t.hour - 1) % 12 + 1:2d}",
    "m": lambda t: f"{t.month + 1:02d}",
    "M": lambda t: f"{t.minute:02d}",
    "n": lambda t: "\n",
    "p": lambda t: "PM" if t.hour > 11 else "AM",
    "P": lambda t: "pm" if t.hour > 11 else "am",
    "r": lambda t: format_time(t, "%I:%M:%S %p"),
    "R": lambda t: format_time(t, "%H:%M"),
    "s": lambda t: str(t.seconds()),
    "S": lambda t: f"{t.second:02d}",
    "t": lambda t: "\t",
    "T": lambda t: format_time(t, "%H:%M:%S"),
    "u": lambda t: str((t.weekday - 1) % 7 + 1),
    "U": lambda t: f"{(t.yearday - t.weekday + 7) // 7:02d}",
    "V": lambda t: f"{_iso_week(t)[1]:02d}",
    "w": lambda t: str(t.weekday),
    "W": lambda t: f"{(t.yearday - (t.weekday - 1) % 7 + 7) // 7:02d}",
    "x": lambda t: format_time(t, "%m/%d/%y"),
    "X": lambda t: format_time(t, "%H:%M:%S"),
    "y": lambda t: f"{t.year % 100:02d}",
    "Y": lambda t: str(t.year),
    "z": lambda t: "+0000",
    "Z": lambda t: "UTC",
    "%": lambda t: "%",
}
_DIRECTIVE = re.compile(r"%([_0^#-]?)([0-9]{0,4})[EO]?([a-zA-Z%])")
_BLANK_PADDED = "ekl"


def format_time(time: Time, form: str) -> str:
    """A time in a form; what is no directive stays as it is."""

    def expand(match: re.Match[str]) -> str:
        flag, width, letter = match.groups()
        make = _FORMS.get(letter)
        if make is None:
            return match.group()
        text = make(time)
        if flag == "^":
            text = text.upper()
        elif flag == "#":
            text = text.swapcase() if letter in "pZ" else text.upper()
        elif flag == "-" and text.strip().lstrip("0").isdigit():
            text = text.strip().lstrip("0")
        elif flag == "_" and text.isdigit():
            text = (text.lstrip("0") or "0").rjust(len(text))
        elif flag == "0":
            text = text.replace(" ", "0") if letter in _BLANK_PADDED else text
        blank = " " if flag == "_" or (letter in _BLANK_PADDED and flag != "0") or not text.isdigit() else "0"
        return text.rjust(int(width or 0), blank)

    return _DIRECTIVE.sub(expand, form)


class _Mismatch(Exception):
    """The text does not match the format."""


class _Scanner:
    """Parses a text by a format, as glibc does."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.place = 0
        self.time = Time()
        self.century: int | None = None
        self.afternoon: bool | None = None
        self.twelve_hours = False
        self.have: set[str] = set()

    def read(self, form: str) -> None:
        """Consume the text that the format expects."""
        place = 0
        while place < len(form):
            char = form[place]
            place += 1
            if char.isspace():
                self._blanks()
            elif char != "%":
                self._literal(char)
            else:
                while form[place : place + 1] and form[place] in "-_0^#EO":
                    place += 1
                self._directive(form[place : place + 1])
                place += 1

    def _blanks(self) -> None:
        while self.place < len(self.text) and self.text[self.place].isspace():
            self.place += 1

    def _literal(self, char: str) -> None:
        if self.text[self.place : self.place + 1] != char:
            raise _Mismatch
        self.place += 1

    def _number(self, low: int, high: int, digits: int) -> int:
        while self.text[self.place : self.place + 1] == " ":
            self.place += 1
        match = re.compile(rf"[0-9]{{1,{digits}}}").match(self.text, self.place)
        if match is None:
            raise _Mismatch
        text = match.group()
        while len(text) > 1 and int(text[:-1]) * 10 > high:
            text = text[:-1]
        if not low <= int(text) <= high:
            raise _Mismatch
        self.place += len(text)
        return int(text)

    def _word(self, words: tuple[str, ...]) -> int:
        rest = self.text[self.place :].lower()
        for number, word in enumerate(words):
            for spelled in (word.lower(), word[:3].lower()):
                if rest.startswith(spelled):
                    self.place += len(spelled)
                    return number
        raise _Mismatch

    def _directive(self, letter: str) -> None:
        time = self.time
        whole = {"D": "%m/%d/%y", "F": "%Y-%m-%d", "T": "%H:%M:%S", "R": "%H:%M", "r": "%I:%M:%S %p"}
        whole |= {"x": "%m/%d/%y", "X": "%H:%M:%S", "c": "%a %b %e %H:%M:%S %Y"}
        if letter in whole:
            self.read(whole[letter])
            return
        if letter in "CdDejmyYbBhF":
            self.have.add("date")
        match letter:
            case "%":
                self._literal("%")
            case "n" | "t":
                self._blanks()
            case "a" | "A":
                time.weekday = self._word(DAYS)
                self.have.add("weekday")
            case "b" | "B" | "h":
                time.month = self._word(MONTHS)
                self.have.add("month")
            case "m":
                time.month = self._number(1, 12, 2) - 1
                self.have.add("month")
            case "d" | "e":
                time.day = self._number(1, 31, 2)
                self.have.add("day")
            case "H" | "k":
                time.hour = self._number(0, 23, 2)
                self.twelve_hours = False
            case "I" | "l":
                time.hour = self._number(1, 12, 2) % 12
                self.twelve_hours = True
            case "p" | "P":
                self.afternoon = self._word(("AM", "PM")) == 1
            case "M":
                time.minute = self._number(0, 59, 2)
            case "S":
                time.second = self._number(0, 61, 2)
            case "j":
                time.yearday = self._number(1, 366, 3) - 1
                self.have.add("yearday")
            case "Y":
                self._year()
            case _:
                self._rarer(letter)

    def _year(self) -> None:
        self._blanks()
        sign = 1
        if self.text[self.place : self.place + 1] in ("+", "-"):
            sign = -1 if self.text[self.place] == "-" else 1
            self.place += 1
        self.time.year = sign * self._number(0, 9999, 4)
        self.century = None

    def _rarer(self, letter: str) -> None:
        time = self.time
        match letter:
            case "y":
                short = self._number(0, 99, 2)
                time.year = short + (1900 if short >= 69 else 2000)
                self.have.add("short year")
            case "C":
                self.century = self._number(0, 99, 2)
            case "u":
                time.weekday = self._number(1, 7, 1) % 7
                self.have.add("weekday")
            case "w":
                time.weekday = self._number(0, 6, 1)
                self.have.add("weekday")
            case "U" | "W" | "V":
                self._number(0, 53, 2)
            case "g":
                self._number(0, 99, 2)
            case "G":
                self._number(0, 9999, 4)
            case "s":
                self._seconds()
            case "z":
                self._zone()
            case "Z":
                self._blanks()
                while self.place < len(self.text) and not self.text[self.place].isspace():
                    self.place += 1
            case _:
                raise _Mismatch

    def _seconds(self) -> None:
        match = re.compile(r"[0-9]{1,18}").match(self.text, self.place)
        if match is None:
            raise _Mismatch
        self.place = match.end()
        self.time = Time.of_seconds(int(match.group()))
        self.have |= {"weekday", "yearday"}

    def _zone(self) -> None:
        self._blanks()
        match = re.compile(r"Z|[+-][0-9]{2}(?::?[0-9]{2})?").match(self.text, self.place)
        if match is None:
            raise _Mismatch
        self.place = match.end()

    def finish(self) -> Time:
        """Work out what follows from what was read."""
        time = self.time
        if self.twelve_hours and self.afternoon is not None:
            time.hour += 12 * self.afternoon
        if self.century is not None:
            time.year = self.century * 100 + (time.year % 100 if "short year" in self.have else 0)
        if "date" not in self.have:
            return time
        if "weekday" not in self.have:
            if "yearday" in self.have and not {"month", "day"} <= self.have:
                days = days_before(time.year, 0) + time.yearday
                known = Time.of_seconds(days * DAY_S)
                if "month" not in self.have:
                    time.month = known.month
                if "day" not in self.have:
                    time.day = known.day
            time.weekday = (time.days() + 4) % 7
        if "yearday" not in self.have:
            time.yearday = time.days() - days_before(time.year, 0)
        return time


def parse_time(text: str, form: str) -> tuple[Time, str] | None:
    """The time a text stands for and what is left of it, or nothing if it has not that form."""
    scanner = _Scanner(text)
    try:
        scanner.read(form)
    except _Mismatch:
        return None
    return scanner.finish(), text[scanner.place :]
