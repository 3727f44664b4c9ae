"""Functions on times. The current time is the world's; the time zone is UTC."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from simcloud.golang import parse_duration_s
from simcloud.golang.template import Function, GoObject

_MONTHS: Final = [
    "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
    "December",
]  # fmt: skip
_DAYS: Final = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"]
_PIECE: Final = re.compile(
    r"January|Jan|Monday|Mon|MST|2006|-07:00|-0700|Z07:00|Z0700|-07|_2|01|02|03|04|05|06|15|002|PM|pm|[.,]0+|[.,]9+|1|2|3|4|5"
)


class Moment(GoObject):
    """A time, as templates hold it."""

    go_type = "time.Time"

    def __init__(self, seconds: float) -> None:
        self.seconds = min(max(seconds, -62135596800.0), 253402300799.0)

    @property
    def when(self) -> datetime:
        """The same as a date, to the second."""
        return _EPOCH + timedelta(seconds=self.seconds // 1)

    def go_text(self) -> str:
        """As Go prints a time."""
        return format_moment(self, "2006-01-02 15:04:05.999999999 -0700 MST")

    def go_method(self, name: str) -> Function | None:
        """Those that charts use."""
        if name == "Format":
            return Function(lambda form: format_moment(self, form), 1, 1, ("string",))
        if name == "Unix":
            return Function(lambda: int(self.seconds // 1), 0, 0)
        parts = {
            "Year": self.when.year,
            "Month": self.when.month,
            "Day": self.when.day,
            "Hour": self.when.hour,
        }
        return Function(lambda: parts[name], 0, 0) if name in parts else None


_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


def format_moment(moment: Moment, form: str) -> str:
    """Format a time by a Go layout."""
    when = moment.when
    pieces = {
        "January": _MONTHS[when.month - 1], "Jan": _MONTHS[when.month - 1][:3], "Monday": _DAYS[when.weekday()],
        "Mon": _DAYS[when.weekday()][:3], "MST": "UTC", "2006": f"{when.year:04d}", "06": f"{when.year % 100:02d}",
        "01": f"{when.month:02d}", "1": str(when.month), "02": f"{when.day:02d}", "_2": f"{when.day:2d}",
        "2": str(when.day), "002": f"{when.timetuple().tm_yday:03d}", "15": f"{when.hour:02d}",
        "03": f"{when.hour % 12 or 12:02d}", "3": str(when.hour % 12 or 12), "04": f"{when.minute:02d}",
        "4": str(when.minute), "05": f"{when.second:02d}", "5": str(when.second), "-0700": "+0000",
        "-07:00": "+00:00", "-07": "+00", "Z07:00": "Z", "Z0700": "Z",
        "PM": "PM" if when.hour >= 12 else "AM", "pm": "pm" if when.hour >= 12 else "am",
    }  # fmt: skip

    def piece(found: re.Match[str]) -> str:
        text = found[0]
        if text[0] not in ".,":
            return pieces[text]
        nanoseconds = min(round(moment.seconds % 1 * 1e9), 999_999_999)
        digits = f"{nanoseconds:09d}"[: len(text) - 1].ljust(len(text) - 1, "0")
        if text[1] == "9":
            digits = digits.rstrip("0")
        return text[0] + digits if digits else ""

    return _PIECE.sub(piece, form)


def format_rfc3339(seconds: float) -> str:
    """A time as Go writes it in JSON: nine digits after the second, without zeros at the end."""
    return format_moment(Moment(seconds), "2006-01-02T15:04:05.999999999Z07:00")


def dates(now_s: float) -> dict[str, Function]:
    """The functions at a time of day."""

    def moment(value: Any) -> Moment:
        if isinstance(value, Moment):
            return value
        if isinstance(value, int) and not isinstance(value, bool):
            return Moment(float(value))
        return Moment(now_s)

    def move(by: str, when: Any) -> Moment:
        try:
            return Moment(moment(when).seconds + parse_duration_s(by))
        except ValueError:
            return moment(when)

    def date(form: str, when: Any) -> str:
        return format_moment(moment(when), form)

    return {
        "now": Function(lambda: Moment(now_s), 0, 0),
        "date": Function(date, 2, 2, ("string", "")),
        "dateInZone": Function(lambda form, when, _zone: date(form, when), 3, 3, ("string", "", "string")),
        "htmlDate": Function(lambda when: date("2006-01-02", when), 1, 1),
        "dateModify": Function(move, 2, 2, ("string", "")),
        "date_modify": Function(move, 2, 2, ("string", "")),
        "mustDateModify": Function(move, 2, 2, ("string", "")),
        "unixEpoch": Function(lambda when: str(int(moment(when).seconds // 1)), 1, 1),
    }
