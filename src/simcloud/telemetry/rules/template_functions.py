"""Functions for the texts of alerts: formatting of numbers, and logic."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from typing import Any, Final

from simcloud.golang import compile_regexp, float_text, quote

_LARGE: Final = ("k", "M", "G", "T", "P", "E", "Z", "Y")
_SMALL: Final = ("m", "u", "n", "p", "f", "a", "z", "y")
_VERB: Final = re.compile(r"%([-+ #0]*)(\d+)?(?:\.(\d+))?([vsdfgeqtxX%])")


def number(value: Any) -> float:
    """Convert a text or a number to a number."""
    return float(value)


def four_digits(value: float) -> str:
    """Return a number in four significant digits."""
    return float_text(value) if not math.isfinite(value) else format(value, ".4g")


def humanize(given: Any) -> str:
    """Return a number with a metric prefix: ``1.235k``."""
    value = number(given)
    if not value or not math.isfinite(value):
        return four_digits(value)
    return _scale(value, 1000) if abs(value) >= 1 else _reduce(value)


def humanize_1024(given: Any) -> str:
    """Return a number with a binary prefix: ``1.5Mi``."""
    value = number(given)
    if abs(value) <= 1 or not math.isfinite(value):
        return four_digits(value)
    return _scale(value, 1024)


def _scale(value: float, base: int) -> str:
    prefix = ""
    for letter in _LARGE:
        if abs(value) < base:
            break
        prefix = letter if base == 1000 else letter + "i"
        value /= base
    return four_digits(value) + prefix


def _reduce(value: float) -> str:
    prefix = ""
    for letter in _SMALL:
        if abs(value) >= 1:
            break
        prefix = letter
        value *= 1000
    return four_digits(value) + prefix


def humanize_duration(given: Any) -> str:
    """Seconds as ``2h 3m 4s``."""
    value = number(given)
    if not math.isfinite(value):
        return four_digits(value)
    if not value:
        return "0s"
    if abs(value) < 1:
        return _reduce(value) + "s"
    sign, value = ("-", -value) if value < 0 else ("", value)
    minutes, seconds = divmod(int(value), 60)
    hours, minutes = divmod(minutes, 60)
    days, hours = divmod(hours, 24)
    if days:
        return f"{sign}{days}d {hours}h {minutes}m {seconds}s"
    if hours:
        return f"{sign}{hours}h {minutes}m {seconds}s"
    return f"{sign}{minutes}m {seconds}s" if minutes else f"{sign}{four_digits(value)}s"


def humanize_percentage(given: Any) -> str:
    """Return a share as ``12.5%``."""
    return four_digits(number(given) * 100) + "%"


def printf(template: str, *values: Any) -> str:
    """Go's ``printf`` with the verbs that texts use."""
    left = list(values)

    def one(match: re.Match[str]) -> str:
        flags, width, precision, verb = match.groups()
        if verb == "%":
            return "%"
        if not left:
            return f"%!{verb}(MISSING)"
        value = left.pop(0)
        if verb in "fge" and not isinstance(value, float):
            return f"%!{verb}({_go_type(value)}={value})"
        if verb == "d" and not isinstance(value, int):
            return f"%!d({_go_type(value)}={float_text(value) if isinstance(value, float) else value})"
        if verb == "q":
            return quote(str(value))
        if verb in "vst" or (isinstance(value, float) and not math.isfinite(value)):
            text = float_text(value) if isinstance(value, float) else str(value)
            return text.ljust(int(width or 0)) if "-" in flags else text.rjust(int(width or 0))
        if verb == "g" and precision is None and isinstance(value, float):
            return float_text(value)
        shape = f"%{flags}{width or ''}{'.' + precision if precision else ''}{verb}"
        return str(shape % value)

    return _VERB.sub(one, template)


def _go_type(value: Any) -> str:
    return {str: "string", int: "int", float: "float64", bool: "bool"}.get(type(value), "value")


def _first(rows: list[Any]) -> Any:
    if not rows:
        raise ValueError("first() called on vector with no elements")
    return rows[0]


def _re_replace_all(pattern: str, replacement: str, text: str) -> str:
    return str(compile_regexp(pattern).sub(re.sub(r"\$\{?(\d+)\}?", r"\\\1", replacement), text))


FUNCTIONS: Final[dict[str, Callable[..., Any]]] = {
    "humanize": humanize,
    "humanize1024": humanize_1024,
    "humanizeDuration": humanize_duration,
    "humanizePercentage": humanize_percentage,
    "printf": printf,
    "title": lambda text: re.sub(r"(^|\s)(\w)", lambda m: m[1] + m[2].upper(), text),
    "toUpper": str.upper,
    "toLower": str.lower,
    "reReplaceAll": _re_replace_all,
    "match": lambda pattern, text: compile_regexp(pattern).search(text) is not None,
    "first": _first,
    "value": lambda row: row["value"],
    "label": lambda name, row: row["labels"].get(name, ""),
    "len": len,
    "eq": lambda left, *rights: any(left == right for right in rights),
    "ne": lambda left, right: left != right,
    "lt": lambda left, right: left < right,
    "le": lambda left, right: left <= right,
    "gt": lambda left, right: left > right,
    "ge": lambda left, right: left >= right,
    "and": lambda *values: next((value for value in values if not value), values[-1]),
    "or": lambda *values: next((value for value in values if value), values[-1]),
    "not": lambda value: not value,
}
