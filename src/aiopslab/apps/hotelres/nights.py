"""The nights of a stay, and the cache keys of their counts."""

from __future__ import annotations

from datetime import date, timedelta
from functools import lru_cache
from typing import Final

DAY: Final = timedelta(days=1)
MAX_NIGHTS: Final = 400
"""Longer stays are cut, so that a request ends."""


@lru_cache(maxsize=4096)
def list_nights(in_date: str, out_date: str) -> tuple[tuple[str, str], ...]:
    """Return each night as the dates of its evening and its morning.

    An invalid date is Go's zero date, as in the original.
    """
    evening, last = _parse_day(in_date), _parse_day(out_date)
    found: list[tuple[str, str]] = []
    while evening < last and len(found) < MAX_NIGHTS:
        morning = evening + DAY
        found.append((evening.isoformat(), morning.isoformat()))
        evening = morning
    return tuple(found)


def get_night_key(hotel: str, morning: str) -> str:
    """Return the cache key of a night's count. Both dates are the morning's, as in the original."""
    return f"{hotel}_{morning}_{morning}"


def get_rooms_key(hotel: str) -> str:
    """Return the cache key of a hotel's number of rooms."""
    return f"{hotel}_cap"


def _parse_day(text: str) -> date:
    try:
        return date.fromisoformat(text) if len(text) == 10 and text[4] == text[7] == "-" else date.min
    except ValueError:
        return date.min
