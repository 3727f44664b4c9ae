"""How Go prints a length of time: ``1h0m5s``, ``1.5s``, ``250ms``."""

from __future__ import annotations

from typing import Final

_SMALL: Final = ((1_000_000, "ms"), (1_000, "µs"), (1, "ns"))
_SECOND_NS: Final = 1_000_000_000


def shown_duration(seconds: float) -> str:
    """A length of time as ``%v`` shows it."""
    whole_ns = round(seconds * _SECOND_NS)
    if whole_ns == 0:
        return "0s"
    sign, left_ns = ("-", -whole_ns) if whole_ns < 0 else ("", whole_ns)
    if left_ns < _SECOND_NS:
        size_ns, unit = next(one for one in _SMALL if left_ns >= one[0])
        return f"{sign}{_decimal(left_ns, size_ns)}{unit}"
    minutes, rest_ns = divmod(left_ns, 60 * _SECOND_NS)
    hours, minutes = divmod(minutes, 60)
    told = f"{_decimal(rest_ns, _SECOND_NS)}s"
    if hours:
        told = f"{hours}h{minutes}m{told}"
    elif minutes:
        told = f"{minutes}m{told}"
    return sign + told


def _decimal(amount: int, unit: int) -> str:
    whole, rest = divmod(amount, unit)
    if not rest:
        return str(whole)
    digits = str(rest).rjust(len(str(unit)) - 1, "0").rstrip("0")
    return f"{whole}.{digits}"
