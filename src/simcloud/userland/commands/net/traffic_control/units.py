"""Times, percentages, rates and sizes in the notation of iproute2."""

from __future__ import annotations

import re
from typing import Final

from simcloud.userland.commands.options import UsageError

LONGEST_S: Final = 4294.0
"""More than this a discipline does not hold a packet back."""

_NUMBER: Final = re.compile(r"([0-9]{1,15}(?:\.[0-9]{0,9})?|\.[0-9]{1,9})([A-Za-z%]{0,6})")
_TIMES: Final = {"s": 1.0, "sec": 1.0, "secs": 1.0, "ms": 1e-3, "msec": 1e-3, "msecs": 1e-3,
                 "us": 1e-6, "usec": 1e-6, "usecs": 1e-6, "": 1e-6, "ns": 1e-9, "nsec": 1e-9, "nsecs": 1e-9}  # fmt: skip
_POWERS: Final = {"": 0.0, "k": 1.0, "m": 2.0, "g": 3.0, "t": 4.0}
_RATE: Final = re.compile(r"([kmgt]?)(i?)(bit|bps)")
_SIZES: Final = {"": 1.0, "b": 1.0, "k": 1024.0, "kb": 1024.0, "m": 1024.0**2, "mb": 1024.0**2, "g": 1024.0**3,
                 "gb": 1024.0**3, "kbit": 1024 / 8, "mbit": 1024**2 / 8, "gbit": 1024**3 / 8}  # fmt: skip


def _parts(word: str) -> tuple[float, str] | None:
    found = _NUMBER.fullmatch(word)
    return (float(found[1]), found[2].lower()) if found else None


def illegal(name: str) -> UsageError:
    """Return iproute2's message for an invalid value."""
    return UsageError(f'Illegal "{name}"')


def time_of(word: str, name: str) -> float:
    """Seconds; a bare number is microseconds."""
    found = _parts(word)
    if found is None or found[1] not in _TIMES:
        raise illegal(name)
    return min(LONGEST_S, found[0] * _TIMES[found[1]])


def share_of(word: str, name: str) -> float:
    """A percentage, as a share of 1."""
    found = _parts(word)
    if found is None or found[1] not in ("", "%") or found[0] > 100:
        raise illegal(name)
    return found[0] / 100


def rate_of(word: str, name: str) -> float:
    """Bytes a second; a bare number is bits."""
    found = _parts(word)
    unit = _RATE.fullmatch(found[1] or "bit") if found else None
    if found is None or unit is None:
        raise illegal(name)
    rate: float = found[0] * (1024.0 if unit[2] else 1000.0) ** _POWERS[unit[1]]
    return rate / 8 if unit[3] == "bit" else rate


def size_of(word: str, name: str) -> float:
    """Bytes."""
    found = _parts(word)
    if found is None or found[1] not in _SIZES:
        raise illegal(name)
    return found[0] * _SIZES[found[1]]


def format_time(seconds: float) -> str:
    """Format a time in the largest unit in which it is at least 1."""
    for unit, factor in (("s", 1.0), ("ms", 1e-3), ("us", 1e-6)):
        if seconds >= factor * 0.9999999:
            return f"{seconds / factor:.3g}{unit}"
    return f"{seconds * 1e9:.0f}ns"


def format_share(share: float) -> str:
    """Format a percentage."""
    return f"{share * 100:g}%"


def format_rate(bytes_s: float) -> str:
    """Format a rate in bits, in the largest unit without loss of precision."""
    bits, unit = round(bytes_s * 8), 0
    while unit < 4 and bits >= 1000 and (bits % 1000 == 0 or bits >= 1_000_000):
        bits, unit = bits // 1000, unit + 1
    return f"{bits}{('', 'K', 'M', 'G', 'T')[unit]}bit"


def format_size(size: float) -> str:
    """Format a size in bytes."""
    for unit, factor, slack in (("Mb", 1024**2, 1024), ("Kb", 1024, 16)):
        if size >= factor and abs(factor * round(size / factor) - size) < slack:
            return f"{round(size / factor)}{unit}"
    return f"{size:.0f}b"
