"""Awk's arithmetic where it differs from Python's: division by zero and overflow."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import Final

from simcloud.userland.awk.errors import Fatal


def divide(left: float, right: float) -> float:
    """``left / right``."""
    if right == 0.0:
        raise Fatal("division by zero attempted")
    return left / right


def remainder(left: float, right: float) -> float:
    """``left % right``, with the sign of the left."""
    if right == 0.0:
        raise Fatal("division by zero attempted in `%'")
    if not math.isfinite(left) or math.isnan(right):
        return -math.nan
    return math.fmod(left, right)


def power(left: float, right: float) -> float:
    """``left ^ right``; whole exponents by multiplying, which rounds as the genuine one does."""
    if right.is_integer() and abs(right) < 2.0**63:
        raised = _raise_to(left, int(abs(right)))
        if right >= 0:
            return raised
        return 1.0 / raised if raised else math.copysign(math.inf, raised)
    try:
        result = left**right
    except (OverflowError, ZeroDivisionError):
        return math.inf
    return -math.nan if isinstance(result, complex) else result


def _raise_to(base: float, exponent: int) -> float:
    product = 1.0
    while exponent:
        if exponent % 2:
            product *= base
        exponent //= 2
        if exponent:
            base *= base
    return product


ARITHMETIC: Final[dict[str, Callable[[float, float], float]]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": divide,
    "%": remainder,
    "^": power,
}


def assignment_operation(symbol: str) -> Callable[[float, float], float]:
    """Return the operation of ``+=`` and the like, by the symbol before ``=``."""
    operation = ARITHMETIC[symbol]
    if symbol not in "/%":
        return operation

    def divide_nonzero(left: float, right: float) -> float:
        if right == 0.0:
            raise Fatal(f"division by zero attempted in `{symbol}='")
        return operation(left, right)

    return divide_nonzero
