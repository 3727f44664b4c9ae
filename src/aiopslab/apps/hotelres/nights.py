"""The nights of a stay, and the keys under which they are counted."""

from __future__ import annotations

from datetime import date, timedelta
from functools import lru_cache
from typing import Final

DAY: Final = timedelta(days=1)
MOST_NIGHTS: Final = 400
"""A longer stay is cut: nobody books more than a year, and a request must end."""


@lru_cache(maxsize=4096)
def nights(in_date: str, out_date: str) -> tuple[tuple[str, str], ...]:
    """Each night as the dates of its evening and its morning.

    A date that is none is the first day that Go's clock knows, as in the original.
    """
    evening, last = _day(in_date), _day(out_date)
    found: list[tuple[str, str]] = []
    while evening < last and len(found) < MOST_NIGHTS:
        morning = evening + DAY
        found.append((evening.isoformat(), morning.isoformat()))
        evening = morning
    return tuple(found)


def night_key(hotel: str, morning: str) -> str:
    """Where the count of a night is cached. Both dates are those of the morning: so it is in the original."""
    return f"{hotel}_{morning}_{morning}"


def rooms_key(hotel: str) -> str:
    """Where the number of a hotel's rooms is cached."""
    return f"{hotel}_cap"


def _day(text: str) -> date:
    try:
        return date.fromisoformat(text) if len(text) == 10 and text[4] == text[7] == "-" else date.min
    except ValueError:
        return date.min
