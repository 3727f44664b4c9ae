"""Arithmetic on floating point numbers without exceptions: infinities and NaN come out as in Go."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import Final

NAN: Final = math.nan
INF: Final = math.inf


def divide(left: float, right: float) -> float:
    """Return a quotient; by zero an infinity, or NaN of zero by zero."""
    if right:
        return left / right
    if left != left or not left:
        return NAN
    return math.copysign(INF, left) * math.copysign(1.0, right)


def modulo(left: float, right: float) -> float:
    """Return the rest of a division, with the sign of what is divided."""
    try:
        return math.fmod(left, right)
    except ValueError:
        return NAN


def power(left: float, right: float) -> float:
    """One number to the power of another."""
    try:
        return math.pow(left, right)
    except OverflowError:
        return -INF if left < 0 and right % 2 == 1 else INF
    except ValueError:
        if left:
            return NAN
        return math.copysign(INF, left) if right % 2 == 1 else INF


_COMPUTE: Final[dict[str, Callable[[float, float], float]]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": divide,
    "%": modulo,
    "^": power,
    "atan2": math.atan2,
}
_COMPARE: Final[dict[str, Callable[[float, float], bool]]] = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


def compute(symbol: str, left: float, right: float) -> float:
    """Return the result of an arithmetic operator."""
    return _COMPUTE[symbol](left, right)


def compare(symbol: str, left: float, right: float) -> bool:
    """Return the result of a comparison."""
    return _COMPARE[symbol](left, right)


def lenient(function: Callable[[float], float]) -> Callable[[float], float]:
    """Return a function of the mathematics library that answers NaN or an infinity instead of raising."""

    def call(value: float) -> float:
        try:
            return function(value)
        except ValueError:
            return NAN
        except OverflowError:
            # Only exp, sinh and cosh grow that fast; sinh alone is negative there.
            return -INF if function is math.sinh and value < 0 else INF

    return call


def logarithm(function: Callable[[float], float]) -> Callable[[float], float]:
    """Return a logarithm that knows zero."""
    safe = lenient(function)
    return lambda value: -INF if value == 0 else safe(value)


def add_exactly(increment: float, total: float, rest: float) -> tuple[float, float]:
    """One step of a sum that keeps what rounding loses (Kahan's, as Neumaier improved it)."""
    new = total + increment
    if abs(total) >= abs(increment):
        rest += (total - new) + increment
    else:
        rest += (increment - new) + total
    return new, rest


def quantile(q: float, values: list[float]) -> float:
    """Return the value below which the share ``q`` of all lies; between two values, in proportion."""
    if not values or q != q:
        return NAN
    if q < 0:
        return -INF
    if q > 1:
        return INF
    ordered = sorted(values, key=lambda value: (value == value, value if value == value else 0.0))
    rank = q * (len(ordered) - 1)
    lower = max(0, math.floor(rank))
    upper = min(len(ordered) - 1, lower + 1)
    weight = rank - math.floor(rank)
    return ordered[lower] * (1 - weight) + ordered[upper] * weight
