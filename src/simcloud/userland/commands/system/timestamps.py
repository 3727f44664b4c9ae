"""Points in time as systemd reads them: ``2026-01-05 09:00``, ``today``, ``-1h``, ``10 min ago``, ``@1767603600``."""

from __future__ import annotations

from typing import Final

from simcloud.userland.commands.system.dates import UTC, Moment, Zone, format_moment, read_moment

DAY_S: Final = 86_400.0
_UNITS: Final = {
    "us": 1e-6, "ms": 1e-3, "s": 1.0, "sec": 1.0, "second": 1.0, "m": 60.0, "min": 60.0, "minute": 60.0, "h": 3600.0,
    "hr": 3600.0, "hour": 3600.0, "d": DAY_S, "day": DAY_S, "w": 7 * DAY_S, "week": 7 * DAY_S, "month": 30.44 * DAY_S,
    "y": 365.25 * DAY_S, "year": 365.25 * DAY_S,
}  # fmt: skip
_DAYS: Final = {"yesterday": -1, "today": 0, "tomorrow": 1}


def parse_timestamp(text: str, now_s: float, zone: Zone) -> float | None:
    """Return the seconds since 1970 that a text means, or None when it means nothing."""
    text = text.strip()
    if text[:1] in ("+", "-") or text.endswith(" ago"):
        span_s = _parse_span(text.lstrip("+-").removesuffix(" ago"))
        return None if span_s is None else now_s + (span_s if text[0] == "+" else -span_s)
    words = text.removesuffix(" UTC").split()
    zone = UTC if text.endswith(" UTC") else zone
    if words and words[0] in _DAYS:
        words[0] = format_moment(Moment.of(now_s + _DAYS[words[0]] * DAY_S), "%Y-%m-%d", zone)
    is_date = all(word.strip("0123456789-:.@T") == "" for word in words) and words
    if words != ["now"] and not is_date and not (len(words) > 1 and words[0][0].isalpha()):
        return None
    moment = read_moment(" ".join(words), Moment.of(now_s), zone)
    return None if moment is None else moment.timestamp()


def _parse_span(text: str) -> float | None:
    """Return the seconds of a span such as ``1h 30min``; a number without a unit is in seconds."""
    total_s, rest = 0.0, text.strip()
    while rest:
        digits, after = len(rest) - len(rest.lstrip("0123456789")), rest.lstrip("0123456789").lstrip()
        letters = len(after) - len(after.lstrip("abcdefghijklmnopqrstuvwxyz"))
        unit = after[:letters] or "s"
        unit_s = _UNITS.get(unit) or _UNITS.get(unit.removesuffix("s"))
        if not 0 < digits < 12 or unit_s is None:
            return None
        total_s += int(rest[:digits]) * unit_s
        rest = after[letters:].lstrip()
    return total_s if text.strip() else None
