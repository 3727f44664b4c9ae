"""Schedules of CronJobs and time zones: whether they can be read, in the words of the reader they have there."""

from __future__ import annotations

import re
from functools import cache
from zoneinfo import available_timezones

from simcloud.golang import parse_duration_ns
from simcloud.kubernetes.api.field_errors import format_value

_MONTHS = {
    name: number
    for number, name in enumerate(
        ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"], 1
    )
}
_DAYS = {name: number for number, name in enumerate(["sun", "mon", "tue", "wed", "thu", "fri", "sat"])}
_BOUNDS: tuple[tuple[int, int, dict[str, int]], ...] = (
    (0, 59, {}),
    (0, 23, {}),
    (1, 31, {}),
    (1, 12, _MONTHS),
    (0, 6, _DAYS),
)
_DESCRIPTORS = ("@yearly", "@annually", "@monthly", "@weekly", "@daily", "@midnight", "@hourly")
_ZONE_PART = re.compile(r"[A-Za-z.\-_0-9+]{1,14}")
_INT64 = range(-(2**63), 2**63)


def schedule_error(schedule: str) -> str | None:
    """Why a schedule cannot be read; None if it can."""
    try:
        _read(schedule)
    except ValueError as problem:
        return str(problem)
    return None


def _read(schedule: str) -> None:
    if schedule.startswith(("TZ=", "CRON_TZ=")):
        zone, space, rest = schedule.partition(" ")
        name = zone.partition("=")[2]
        if not space or name not in _zones():
            raise ValueError(f"provided bad location {name}: unknown time zone {name}")
        schedule = rest.strip()
    if schedule.startswith("@"):
        _descriptor(schedule)
        return
    fields = schedule.split()
    if len(fields) != len(_BOUNDS):
        raise ValueError(f"expected exactly 5 fields, found {len(fields)}: [{' '.join(fields)}]")
    for field, bounds in zip(fields, _BOUNDS, strict=True):
        for part in filter(None, field.split(",")):
            _range(part, *bounds)


def _descriptor(schedule: str) -> None:
    if schedule in _DESCRIPTORS:
        return
    if not schedule.startswith("@every "):
        raise ValueError(f"unrecognized descriptor: {schedule}")
    try:
        parse_duration_ns(schedule.removeprefix("@every "))
    except ValueError as fault:
        raise ValueError(f"failed to parse duration {schedule}: {fault}") from None


def _range(part: str, low: int, high: int, names: dict[str, int]) -> None:
    """One range of a field: a number, two, or a star, and a step."""
    span, *steps = part.split("/")
    first, *rest = span.split("-")
    if first in ("*", "?"):
        start, end = low, high
    else:
        start = end = _number(first, names)
        if len(rest) == 1:
            end = _number(rest[0], names)
        elif rest:
            raise ValueError(f"too many hyphens: {part}")
    if len(steps) > 1:
        raise ValueError(f"too many slashes: {part}")
    step = _number(steps[0], {}) if steps else 1
    if steps and not rest:
        end = high
    if start < low:
        raise ValueError(f"beginning of range ({start}) below minimum ({low}): {part}")
    if end > high:
        raise ValueError(f"end of range ({end}) above maximum ({high}): {part}")
    if start > end:
        raise ValueError(f"beginning of range ({start}) beyond end of range ({end}): {part}")
    if step == 0:
        raise ValueError(f"step of range should be a positive number: {part}")


def _number(word: str, names: dict[str, int]) -> int:
    if word.lower() in names:
        return names[word.lower()]
    digits = word[1:] if word[:1] in ("+", "-") else word
    parsing = f"failed to parse int from {word}: strconv.Atoi: parsing {format_value(word)}"
    if not (digits.isascii() and digits.isdecimal()):
        raise ValueError(f"{parsing}: invalid syntax")
    if len(digits.lstrip("0")) > 19 or int(word) not in _INT64:
        raise ValueError(f"{parsing}: value out of range")
    if int(word) < 0:
        raise ValueError(f"negative number ({int(word)}) not allowed: {word}")
    return int(word)


@cache
def _zones() -> frozenset[str]:
    return frozenset((*available_timezones(), "UTC", "Local", ""))


def zone_errors(zone: str) -> list[str]:
    """Why a name is no time zone."""
    if not zone:
        return ["timeZone must be nil or non-empty string"]
    for part in zone.split("/"):
        if part in (".", "..") or part.startswith("-") or not _ZONE_PART.fullmatch(part):
            return [f"unknown time zone {zone}"]
    messages = []
    if zone.lower() == "local":
        messages.append(
            "timeZone must be an explicit time zone as defined in https://www.iana.org/time-zones"
        )
    if zone not in _zones():
        messages.append(f"unknown time zone {zone}")
    return messages
