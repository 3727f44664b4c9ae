"""The format language of ``date``: directives with flags and widths, in the C locale."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from simcloud.userland.commands.system.dates.moment import (
    UTC,
    Calendar,
    Moment,
    Zone,
    calendar,
    days_before,
)

WEEKDAYS: Final = ("Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday")
MONTHS: Final = ("January", "February", "March", "April", "May", "June", "July", "August", "September", "October",
                 "November", "December")  # fmt: skip
FLAGS: Final = "_-0^#+"
MAX_WIDTH: Final = 4096
COMPOSED: Final = {"c": "%a %b %e %H:%M:%S %Y", "D": "%m/%d/%y", "x": "%m/%d/%y", "r": "%I:%M:%S %p", "R": "%H:%M",
                   "T": "%H:%M:%S", "X": "%H:%M:%S", "F": "%Y-%m-%d"}  # fmt: skip
Number = tuple[int, int, str]
"""A value, how many digits it has at least, and what fills them up."""

NUMBERS: Final[dict[str, Callable[[Calendar], Number]]] = {
    "C": lambda when: (when.year // 100, 2, "0"),
    "d": lambda when: (when.day, 2, "0"),
    "e": lambda when: (when.day, 2, " "),
    "g": lambda when: (_iso_week(when)[0] % 100, 2, "0"),
    "G": lambda when: (_iso_week(when)[0], 4, "0"),
    "H": lambda when: (when.hour, 2, "0"),
    "I": lambda when: ((when.hour + 11) % 12 + 1, 2, "0"),
    "j": lambda when: (when.day_of_year, 3, "0"),
    "k": lambda when: (when.hour, 2, " "),
    "l": lambda when: ((when.hour + 11) % 12 + 1, 2, " "),
    "m": lambda when: (when.month, 2, "0"),
    "M": lambda when: (when.minute, 2, "0"),
    "q": lambda when: ((when.month + 2) // 3, 1, "0"),
    "S": lambda when: (when.second, 2, "0"),
    "u": lambda when: ((when.weekday + 6) % 7 + 1, 1, "0"),
    "U": lambda when: ((when.day_of_year - 1 - when.weekday + 7) // 7, 2, "0"),
    "V": lambda when: (_iso_week(when)[1], 2, "0"),
    "w": lambda when: (when.weekday, 1, "0"),
    "W": lambda when: ((when.day_of_year - 1 - (when.weekday + 6) % 7 + 7) // 7, 2, "0"),
    "y": lambda when: (when.year % 100, 2, "0"),
    "Y": lambda when: (when.year, 4, "0"),
}
WORDS: Final[dict[str, Callable[[Calendar], str]]] = {
    "a": lambda when: WEEKDAYS[when.weekday][:3],
    "A": lambda when: WEEKDAYS[when.weekday],
    "b": lambda when: MONTHS[when.month - 1][:3],
    "B": lambda when: MONTHS[when.month - 1],
    "h": lambda when: MONTHS[when.month - 1][:3],
    "n": lambda when: "\n",
    "p": lambda when: "PM" if when.hour >= 12 else "AM",
    "P": lambda when: "pm" if when.hour >= 12 else "am",
    "t": lambda when: "\t",
    "%": lambda when: "%",
}


def format_moment(moment: Moment, form: str, zone: Zone = UTC) -> str:
    """Format a moment; text outside of directives is unchanged."""
    return _Writer(moment, zone).write(form)


class _Writer:
    def __init__(self, moment: Moment, zone: Zone) -> None:
        self._moment = moment
        self._zone = zone
        self._when = calendar(moment.seconds + zone.offset_s)

    def write(self, form: str) -> str:
        parts: list[str] = []
        position = 0
        while True:
            percent = form.find("%", position)
            if percent < 0:
                return "".join(parts) + form[position:]
            parts.append(form[position:percent])
            directive = _Directive(form, percent)
            text = self._directive(directive)
            parts.append(form[percent : directive.end] if text is None else text)
            position = directive.end

    def _directive(self, directive: _Directive) -> str | None:
        letter = directive.letter
        if letter in NUMBERS:
            return directive.number(*NUMBERS[letter](self._when))
        if letter in WORDS:
            return directive.text(WORDS[letter](self._when))
        if letter in COMPOSED:
            far = letter == "F" and directive.plain and self._when.year > 9999
            return directive.text(("+" if far else "") + self.write(COMPOSED[letter]))
        if letter == "s":
            return directive.number(self._moment.seconds, 1, "0")
        if letter == "N":
            return directive.nanoseconds(self._moment.nanos)
        if letter == "Z":
            return directive.text(self._zone.name)
        return self._offset(directive) if letter == "z" else None

    def _offset(self, directive: _Directive) -> str | None:
        colons = directive.colons
        if colons > 3:
            return None
        offset = self._zone.offset_s
        sign, size = "-" if offset < 0 else "+", abs(offset)
        hours, minutes, seconds = size // 3600, size // 60 % 60, size % 60
        if colons == 3:
            colons = 2 if seconds else 1 if minutes else -1
        rest = {1: f":{minutes:02d}", 2: f":{minutes:02d}:{seconds:02d}"}.get(colons, "")
        return directive.pad_offset(
            sign, f"{hours:02d}{minutes:02d}" if colons == 0 else f"{hours:02d}", rest
        )


class _Directive:
    """One ``%`` with its flags, width and letter."""

    def __init__(self, form: str, start: int) -> None:
        at = start + 1
        self._pad = ""
        self._upper = self._swap = False
        while form[at : at + 1] and form[at] in FLAGS:
            flag = form[at]
            if flag in "_-0+":
                self._pad = flag
            self._upper |= flag == "^"
            self._swap |= flag == "#"
            at += 1
        digits = at
        while form[at : at + 1].isdecimal() and form[at].isascii():
            at += 1
        self._width = min(int(form[digits:at] or 0), MAX_WIDTH)
        self._wide = at > digits
        colons = at
        while form[at : at + 1] == ":":
            at += 1
        self.colons = at - colons
        if form[at : at + 1] and form[at] in "EO":
            at += 1
        self.letter = form[at : at + 1]
        if self.colons and self.letter != "z":
            self.letter = ""
        self.end = min(at + 1, len(form))

    def number(self, value: int, digits: int, fill: str) -> str:
        """Format a number, padded to its digits or the given width."""
        fill = {"_": " ", "0": "0", "+": "0"}.get(self._pad, fill)
        sign = (
            "-"
            if value < 0
            else "+"
            if self._pad == "+" and value >= 10**digits and self.letter in "CFGY"
            else ""
        )
        text = str(abs(value))
        if self._pad == "-":
            return sign + text
        width = max(self._width, digits)
        return (sign + text).rjust(width) if fill == " " else sign + text.rjust(width - len(sign), "0")

    @property
    def plain(self) -> bool:
        """Neither flags that fill up nor a width."""
        return not self._pad and not self._wide

    def pad_offset(self, sign: str, digits: str, rest: str) -> str:
        """Format an offset; padding zeros go between the sign and the digits."""
        width = max(self._width, 1 + len(digits) + len(rest))
        if self._pad in ("-", "_"):
            text = sign + (digits.lstrip("0") or "0") + rest
            return text if self._pad == "-" else text.rjust(width)
        return sign + digits.rjust(width - 1 - len(rest), "0") + rest

    def nanoseconds(self, nanos: int) -> str:
        """A fraction: its width cuts on the right."""
        width = self._width if self._wide else 9
        return f"{nanos:09d}"[:width].ljust(width, "0")

    def text(self, text: str) -> str:
        """Words: cases changed as asked, filled up on the left."""
        if self._upper:
            text = text.upper()
        elif self._swap and self.letter not in COMPOSED:
            text = text.lower() if self.letter in "pZ" else text.upper()
        if self._pad == "-":
            return text
        return text.rjust(self._width, "0" if self._pad in ("0", "+") else " ") if self._width else text


def _iso_week(when: Calendar) -> tuple[int, int]:
    """The year and week by ISO 8601: the week of a year that holds most of its days."""
    weekday = (when.weekday + 6) % 7
    thursday = days_before(when.year, when.month, when.day) - weekday + 3
    year = when.year
    if thursday < days_before(year, 1, 1):
        year -= 1
    elif thursday >= days_before(year + 1, 1, 1):
        year += 1
    return year, (thursday - days_before(year, 1, 1)) // 7 + 1
