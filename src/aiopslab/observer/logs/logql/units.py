"""Durations and sizes as log lines and queries have them."""

from __future__ import annotations

import re
from decimal import Decimal
from typing import Final

from aiopslab.observer.promql.numbers import parse_duration_ms, quote

_NS: Final = {
    "ns": 1,
    "us": 1000,
    "µs": 1000,
    "μs": 1000,
    "ms": 1_000_000,
    "s": 1_000_000_000,
    "m": 60_000_000_000,
    "h": 3_600_000_000_000,
}
_PART: Final = re.compile(r"([0-9]+(?:\.[0-9]*)?|\.[0-9]+)(ns|us|µs|μs|ms|s|m|h)")
_LONGEST_NS: Final = 2**63 - 1
_SIZE: Final = re.compile(r"([0-9][0-9,]*(?:\.[0-9]*)?|\.[0-9]+)\s*([a-zA-Z]*)")
_SIZES: Final = {
    "": 1,
    "b": 1,
    **{f"{letter}{end}": 1000**power for power, letter in enumerate("kmgtp", 1) for end in ("", "b")},
    **{f"{letter}i{end}": 1024**power for power, letter in enumerate("kmgtp", 1) for end in ("", "b")},
}


def parse_go_duration_ns(text: str) -> int:
    """A duration as Go has them, ``1h2m3.5s``; ``ValueError`` in Go's words."""
    rest = text.removeprefix("-") if text.startswith("-") else text.removeprefix("+")
    if rest == "0":
        return 0
    total, at = Decimal(0), 0
    while at < len(rest):
        match = _PART.match(rest, at)
        if match is None:
            raise ValueError(f"time: {_fault(rest[at:])} {quote(text)}")
        total += Decimal(match[1]) * _NS[match[2]]
        at = match.end()
    if not rest or total > _LONGEST_NS:
        raise ValueError(f"time: invalid duration {quote(text)}")
    return -int(total) if text.startswith("-") else int(total)


def _fault(rest: str) -> str:
    match = re.match(r"(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)([^0-9.]*)", rest)
    if match is None:
        return "invalid duration"
    if not match[1]:
        return "missing unit in duration"
    return f"unknown unit {quote(match[1])} in duration"


def parse_duration_ns(text: str) -> int:
    """A duration in a query: Prometheus' or Go's."""
    try:
        return parse_duration_ms(text) * 1_000_000
    except ValueError:
        return parse_go_duration_ns(text)


def parse_bytes(text: str) -> int:
    """A size such as ``2.5KiB`` or ``10MB``; ``ValueError`` in the words of Go's humanize."""
    match = _SIZE.fullmatch(text.strip())
    if match is None:
        raise ValueError('strconv.ParseFloat: parsing "": invalid syntax')
    unit = _SIZES.get(match[2].lower())
    if unit is None:
        raise ValueError(f"unhandled size name: {match[2].lower()}")
    return int(Decimal(match[1].replace(",", "")) * unit)
