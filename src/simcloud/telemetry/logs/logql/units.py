"""Durations and sizes in log lines and queries."""

from __future__ import annotations

import re
from decimal import Decimal
from typing import Final

from simcloud.golang import parse_duration_ns
from simcloud.telemetry.promql.numbers import parse_duration_ms

_SIZE: Final = re.compile(r"([0-9][0-9,]*(?:\.[0-9]*)?|\.[0-9]+)\s*([a-zA-Z]*)")
_SIZES: Final = {
    "": 1,
    "b": 1,
    **{f"{letter}{end}": 1000**power for power, letter in enumerate("kmgtp", 1) for end in ("", "b")},
    **{f"{letter}i{end}": 1024**power for power, letter in enumerate("kmgtp", 1) for end in ("", "b")},
}


def parse_query_duration_ns(text: str) -> int:
    """Parse a duration in a query: Prometheus' or Go's format."""
    try:
        return parse_duration_ms(text) * 1_000_000
    except ValueError:
        return parse_duration_ns(text)


def parse_bytes(text: str) -> int:
    """Parse a size such as ``2.5KiB`` or ``10MB``. Raise ``ValueError`` with the message of Go's humanize."""
    match = _SIZE.fullmatch(text.strip())
    if match is None:
        raise ValueError('strconv.ParseFloat: parsing "": invalid syntax')
    unit = _SIZES.get(match[2].lower())
    if unit is None:
        raise ValueError(f"unhandled size name: {match[2].lower()}")
    return int(Decimal(match[1].replace(",", "")) * unit)
