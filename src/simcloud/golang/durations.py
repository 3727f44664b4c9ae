"""Durations in Go's notation: ``1h0m5s``, ``1.5s``, ``250ms``."""

from __future__ import annotations

import re
from decimal import Decimal
from typing import Final

_UNITS_NS: Final = {
    "ns": 1,
    "us": 1_000,
    "µs": 1_000,
    "μs": 1_000,
    "ms": 1_000_000,
    "s": 1_000_000_000,
    "m": 60_000_000_000,
    "h": 3_600_000_000_000,
}
_SMALL: Final = ((1_000_000, "ms"), (1_000, "µs"), (1, "ns"))
_SECOND_NS: Final = 1_000_000_000
_LONGEST_NS: Final = 2**63 - 1
_MAX_DIGITS: Final = 40
"""More digits exceed the range before the decimal point, and the precision after it."""

_PART: Final = re.compile(r"([0-9]+(?:\.[0-9]*)?|\.[0-9]+)([^0-9.]*)")


def parse_duration_ns(text: str) -> int:
    """Parse ``1h2m3.5s`` to nanoseconds. Raises ``ValueError`` with Go's message."""
    rest = text[1:] if text[:1] in ("+", "-") else text
    if rest == "0":
        return 0
    total_ns, at = 0, 0
    while at < len(rest):
        part = _PART.match(rest, at)
        if part is None:
            raise ValueError(f"time: invalid duration {_quote(text)}")
        number, unit = part.groups()
        if not unit:
            raise ValueError(f"time: missing unit in duration {_quote(text)}")
        if unit not in _UNITS_NS:
            raise ValueError(f"time: unknown unit {_quote(unit)} in duration {_quote(text)}")
        total_ns += int(Decimal(number[:_MAX_DIGITS]) * _UNITS_NS[unit])
        at = part.end()
    if not rest or total_ns > _LONGEST_NS:
        raise ValueError(f"time: invalid duration {_quote(text)}")
    return -total_ns if text.startswith("-") else total_ns


def parse_duration_s(text: str) -> float:
    """Parse a duration to seconds. Raises ``ValueError`` with Go's message."""
    return parse_duration_ns(text) / _SECOND_NS


def _quote(text: str) -> str:
    """Quote as these errors do (unlike ``%q``): characters beyond ASCII become escaped bytes."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return '"' + "".join(char if " " <= char < "\x80" else _bytes(char) for char in escaped) + '"'


def _bytes(char: str) -> str:
    return "".join(f"\\x{byte:02x}" for byte in char.encode("utf-8", "surrogateescape"))


def format_duration(seconds: float) -> str:
    """Format a duration as ``%v`` does."""
    whole_ns = round(seconds * _SECOND_NS)
    if whole_ns == 0:
        return "0s"
    sign, left_ns = ("-", -whole_ns) if whole_ns < 0 else ("", whole_ns)
    if left_ns < _SECOND_NS:
        size_ns, unit = next((size_ns, unit) for size_ns, unit in _SMALL if left_ns >= size_ns)
        return f"{sign}{_decimal(left_ns, size_ns)}{unit}"
    minutes, rest_ns = divmod(left_ns, 60 * _SECOND_NS)
    hours, minutes = divmod(minutes, 60)
    text = f"{_decimal(rest_ns, _SECOND_NS)}s"
    if hours:
        text = f"{hours}h{minutes}m{text}"
    elif minutes:
        text = f"{minutes}m{text}"
    return sign + text


def _decimal(amount: int, unit: int) -> str:
    whole, rest = divmod(amount, unit)
    if not rest:
        return str(whole)
    digits = str(rest).rjust(len(str(unit)) - 1, "0").rstrip("0")
    return f"{whole}.{digits}"
