"""Numbers, strings and durations of the query language, and their format in the HTTP API."""

from __future__ import annotations

import math
import re
from typing import Final

from simcloud.golang import fewest_digits, quote

_UNITS_MS: Final = {
    "y": 31_536_000_000,
    "w": 604_800_000,
    "d": 86_400_000,
    "h": 3_600_000,
    "m": 60_000,
    "s": 1000,
    "ms": 1,
}
_DURATION: Final = re.compile(
    r"(?:(\d+)y)?(?:(\d+)w)?(?:(\d+)d)?(?:(\d+)h)?(?:(\d+)m)?(?:(\d+)s)?(?:(\d+)ms)?", re.ASCII
)
_ESCAPES: Final = {"a": "\a", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v"}
_ESCAPED: Final = re.compile(
    r"\\(?:x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|([0-7]{3})|(.))", re.DOTALL
)
_NO_EXPONENT: Final = (-400, 400)
_LONGEST_MS: Final = (2**63 - 1) // 1_000_000


def unquote(text: str) -> str:
    """Return a quoted text without quotation marks and with its escapes resolved."""
    inner = text[1:-1]
    return inner if text[0] == "`" or "\\" not in inner else _ESCAPED.sub(_unescape, inner)


def _unescape(match: re.Match[str]) -> str:
    byte, short, long, octal, single = match.groups()
    if single is not None:
        return _ESCAPES.get(single, single)
    return chr(int(octal, 8) if octal else int(byte or short or long, 16))


def parse_duration_ms(text: str) -> int:
    """Return a duration such as ``1h30m`` in milliseconds; ``ValueError`` in Prometheus' words."""
    if text == "0":
        return 0
    if not text:
        raise ValueError("empty duration string")
    match = _DURATION.fullmatch(text)
    if match is None:
        raise ValueError(f"not a valid duration string: {quote(text)}")
    total = sum(
        int(count) * unit for count, unit in zip(match.groups(), _UNITS_MS.values(), strict=True) if count
    )
    if total > _LONGEST_MS:
        raise ValueError("duration out of range")
    return total


def format_duration(duration_ms: int) -> str:
    """Return a duration as Prometheus writes it: ``1h30m``; years and weeks only when they are whole."""
    if duration_ms == 0:
        return "0s"
    out = []
    for unit, size in _UNITS_MS.items():
        if unit in ("y", "w") and duration_ms % size:
            continue
        count, duration_ms = divmod(duration_ms, size)
        if count:
            out.append(f"{count}{unit}")
    return "".join(out)


def parse_number(text: str) -> float:
    """Parse a number of the query language. Raise ``ValueError`` with Go's message."""
    lower = text.lower()
    try:
        # As in Go: a whole number of 64 bits in any notation, or else a decimal one.
        if lower.startswith("0x") or (lower[0] == "0" and lower.isdigit() and set(lower) <= set("01234567")):
            whole = int(lower, 16) if lower.startswith("0x") else int(lower, 8)
            if whole < 2**63:
                return float(whole)
        value = float(lower)
    except ValueError:
        raise ValueError(f"strconv.ParseFloat: parsing {quote(text)}: invalid syntax") from None
    if math.isinf(value) and lower != "inf":
        raise ValueError(f"strconv.ParseFloat: parsing {quote(text)}: value out of range")
    return value


def plain(value: float) -> str:
    """Return a number without an exponent, as short as it can be read back (Go's ``'f', -1``)."""
    return fewest_digits(value, *_NO_EXPONENT)


def in_json(value: float) -> str:
    """Return a number as the HTTP API writes it: without an exponent unless it is very small or very large."""
    return fewest_digits(value, -6, 21)


def exponential(value: float) -> str:
    """Return a number as ``1.5e-07``."""
    return fewest_digits(value, 0, 0) if value else f"{plain(value)}e+00"
