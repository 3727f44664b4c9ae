"""Scalars with a format of their own, decoded and encoded as in Go: quantities, times, base64.

A function takes text and returns the text that a genuine server stores, or raises ``Unreadable`` with Go's message.
"""

from __future__ import annotations

import base64
import re
from datetime import UTC, datetime, timedelta
from functools import lru_cache

from simcloud.golang import quote
from simcloud.kubernetes.api import quantity

_BAD_SUFFIX = "unable to parse quantity's suffix"
_QUANTITY = re.compile(r"[+-]?[0-9]*(?:\.[0-9]*)?([eEinumkKMGTP]*[-+]?[0-9]*)\Z")
_SUFFIX = re.compile(r"(?:[KMGTPE]i|[numkMGTPE]?|[eE][-+]?[0-9]+)\Z")


class Unreadable(Exception):
    """A value that Go's own reader of its type refuses; the text is Go's sentence."""


@lru_cache(maxsize=4096)
def read_quantity(text: str) -> str:
    """A quantity in its canonical form."""
    stripped = text.strip()
    try:
        return quantity.canonical(stripped)
    except ValueError:
        return _unusual_quantity(stripped)


def _unusual_quantity(text: str) -> str:
    """A suffix without digits is zero to Go; everything else here is refused."""
    match = _QUANTITY.match(text) if text else None
    if match is None:
        raise Unreadable(quantity.BAD_FORM)
    if not _SUFFIX.match(match.group(1)):
        raise Unreadable(_BAD_SUFFIX)
    return "0"


_LAYOUT = "2006-01-02T15:04:05Z07:00"
_MICRO_LAYOUT = "2006-01-02T15:04:05.000000Z07:00"
_DATE_PARTS = (
    ("2006", re.compile(r"[0-9]{4}")),
    ("-", re.compile("-")),
    ("01", re.compile(r"[0-9]{2}")),
    ("-", re.compile("-")),
    ("02", re.compile(r"[0-9]{2}")),
    ("T", re.compile("T")),
    ("15", re.compile(r"[0-9]{2}")),
    (":", re.compile(":")),
    ("04", re.compile(r"[0-9]{2}")),
    (":", re.compile(":")),
    ("05", re.compile(r"[0-9]{2}")),
)
_ZONE = re.compile(r"Z|([+-])([0-9]{2}):([0-9]{2})")
_ANY_FRACTION = re.compile(r"[.,][0-9]+")
_SIX_DIGITS = re.compile(r"\.[0-9]{6}")
_CANONICAL = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z")
_CANONICAL_MICRO = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{6}Z")


@lru_cache(maxsize=4096)
def read_time(text: str) -> str:
    """A time stamp to the second, in UTC."""
    if _is_canonical(text, _CANONICAL):
        return text
    moment = _moment(text, _LAYOUT)
    return (
        f"{moment:%Y-%m-%dT%H:%M:%SZ}"
        if moment.year >= 1000
        else f"{moment.isoformat(timespec='seconds')[:19]}Z"
    )


@lru_cache(maxsize=4096)
def read_micro_time(text: str) -> str:
    """A time stamp to the microsecond, in UTC."""
    if _is_canonical(text, _CANONICAL_MICRO):
        return text
    return f"{_moment(text, _MICRO_LAYOUT).isoformat(timespec='microseconds')[:26]}Z"


def _is_canonical(text: str, form: re.Pattern[str]) -> bool:
    """Whether a time stamp has the form in which it is stored already, as nearly all have."""
    if not form.fullmatch(text):
        return False
    try:
        datetime.fromisoformat(text)
    except ValueError:  # no such day; Go's own message is found step by step
        return False
    return True


_RANGES = {2: ("month", 1, 12), 4: ("hour", 0, 23), 5: ("minute", 0, 59), 6: ("second", 0, 59)}
"""What Go checks as soon as it has read it, by its place."""


def _moment(text: str, layout: str) -> datetime:
    rest = text
    numbers: list[int] = []
    for wanted, form in _DATE_PARTS:
        match = form.match(rest)
        if match is None:
            raise _make_time_error(text, layout, rest, wanted)
        if match.group().isdigit():
            numbers.append(int(match.group()))
            name, least, most = _RANGES.get(len(numbers), ("", 0, 0))
            if name and not least <= numbers[-1] <= most:
                raise Unreadable(f"parsing time {quote(text)}: {name} out of range")
        rest = rest[match.end() :]
    micros, rest = _fraction(text, layout, rest)
    zone = _ZONE.match(rest)
    if zone is None:
        raise _make_time_error(text, layout, rest, "Z07:00")
    if rest[zone.end() :]:
        raise Unreadable(f"parsing time {quote(text)}: extra text: {quote(rest[zone.end() :])}")
    return _make_time(text, numbers, micros, zone)


def _fraction(text: str, layout: str, rest: str) -> tuple[int, str]:
    form = _ANY_FRACTION if layout == _LAYOUT else _SIX_DIGITS
    match = form.match(rest)
    if match is None:
        if layout == _MICRO_LAYOUT:
            raise _make_time_error(text, layout, rest, ".000000")
        return 0, rest
    return int(match.group()[1:7].ljust(6, "0")), rest[match.end() :]


def _make_time(text: str, numbers: list[int], micros: int, zone: re.Match[str]) -> datetime:
    year, month, day, hour, minute, second = numbers
    for name, bad in (
        ("month", not 1 <= month <= 12),
        ("hour", hour > 23),
        ("minute", minute > 59),
        ("second", second > 59),
    ):
        if bad:
            raise Unreadable(f"parsing time {quote(text)}: {name} out of range")
    try:
        moment = datetime(year, month, day, hour, minute, second, micros, tzinfo=UTC)
        if zone.group(1):
            offset = timedelta(hours=int(zone.group(2)), minutes=int(zone.group(3)))
            moment = moment - offset if zone.group(1) == "+" else moment + offset
    except (ValueError, OverflowError):
        raise Unreadable(f"parsing time {quote(text)}: day out of range") from None
    return moment


def _make_time_error(text: str, layout: str, rest: str, wanted: str) -> Unreadable:
    return Unreadable(
        f"parsing time {quote(text)} as {quote(layout)}: cannot parse {quote(rest)} as {quote(wanted)}"
    )


_BASE64 = re.compile(r"[A-Za-z0-9+/\r\n]*")


def read_base64(text: str) -> str:
    """Base64 in its canonical form."""
    letters = text.replace("\r", "").replace("\n", "")
    body = letters.rstrip("=")
    padding = len(letters) - len(body)
    if not _BASE64.fullmatch(body) or padding != -len(body) % 4 or len(body) % 4 == 1:
        raise Unreadable(f"illegal base64 data at input byte {_base64_fault(text)}")
    return base64.b64encode(base64.b64decode(letters)).decode()


def _base64_fault(text: str) -> int:
    """Where Go's decoder stops: at the wrong character, or behind the last whole group of four."""
    count = 0
    for index, char in enumerate(text):
        if char in "\r\n":
            continue
        if char == "=":
            return _padding_fault(text, index, count)
        if not _BASE64.fullmatch(char):
            return index
        count += 1
    return len(text) - count % 4 if count % 4 else len(text)


def _padding_fault(text: str, index: int, count: int) -> int:
    if count % 4 < 2:
        return index
    rest = [at for at in range(index + 1, len(text)) if text[at] not in "\r\n"]
    if count % 4 == 2:
        if not rest:
            return len(text)
        if text[rest[0]] != "=":
            return rest[0]
        rest = rest[1:]
    return rest[0] if rest else len(text)
