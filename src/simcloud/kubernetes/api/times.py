"""Times and durations in Kubernetes' formats. Times are given in seconds since 1970; this module reads no clock."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta, timezone
from functools import lru_cache

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_FORM = re.compile(
    r"(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d):(\d\d)(?:[.,](\d+))?(?:Z|([+-])(\d\d):(\d\d))\Z", re.ASCII
)

_MINUTE, _HOUR, _DAY = 60, 3600, 86400
_YEAR = 365 * _DAY


def rfc3339(seconds: float) -> str:
    """A time to the second, as ``metav1.Time`` is written: ``2026-11-15T00:43:20Z``."""
    return _format_second(seconds // 1)


@lru_cache(maxsize=8192)
def _format_second(whole_seconds: float) -> str:
    """One text for all who write in the same second."""
    return (_EPOCH + timedelta(seconds=whole_seconds)).isoformat()[:-6] + "Z"


def micro(seconds: float) -> str:
    """A time to the microsecond, as ``metav1.MicroTime`` is written: ``2026-11-15T00:43:20.123456Z``."""
    moment = _EPOCH + timedelta(microseconds=round(seconds * 1_000_000))
    return moment.isoformat(timespec="microseconds")[:-6] + "Z"


@lru_cache(maxsize=8192)
def parse(text: str) -> float:
    """The seconds of an RFC 3339 time. ValueError if it is none."""
    match = _FORM.match(text)
    if match is None:
        raise ValueError(f"{text!r} is no RFC 3339 time")
    year, month, day, hour, minute, second, fraction, sign, off_hours, off_minutes = match.groups()
    zone = UTC
    if sign:
        offset = timedelta(hours=int(off_hours), minutes=int(off_minutes))
        zone = timezone(-offset if sign == "-" else offset)
    moment = datetime(int(year), int(month), int(day), int(hour), int(minute), int(second), tzinfo=zone)
    elapsed = moment - _EPOCH
    return elapsed.days * 86400 + elapsed.seconds + (float(f"0.{fraction}") if fraction else 0.0)


def human_duration(seconds: float) -> str:
    """A span with at most two units, ever coarser as it grows; ``<invalid>`` when it is negative.

    A second below zero is forgiven, since clocks differ.
    """
    whole = int(seconds)
    if whole < -1:
        return "<invalid>"
    if whole < 2 * _MINUTE:
        return f"{max(whole, 0)}s"
    if whole < 10 * _MINUTE:
        return _two(whole, _MINUTE, "m", 1, "s")
    if whole < 3 * _HOUR:
        return f"{whole // _MINUTE}m"
    if whole < 8 * _HOUR:
        return _two(whole, _HOUR, "h", _MINUTE, "m")
    if whole < 2 * _DAY:
        return f"{whole // _HOUR}h"
    if whole < 8 * _DAY:
        return _two(whole, _DAY, "d", _HOUR, "h")
    if whole < 2 * _YEAR:
        return f"{whole // _DAY}d"
    if whole < 8 * _YEAR:
        return _two(whole, _YEAR, "y", _DAY, "d")
    return f"{whole // _YEAR}y"


def _two(seconds: int, large: int, large_name: str, small: int, small_name: str) -> str:
    rest = seconds % large // small
    return f"{seconds // large}{large_name}" + (f"{rest}{small_name}" if rest else "")
