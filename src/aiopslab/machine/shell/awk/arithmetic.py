"""Awk's arithmetic where it differs from Python's: dividing by zero, and what is too large."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import Final

from aiopslab.machine.shell.awk.errors import Fatal


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
    """``left ^ right``."""
    try:
        raised = left**right
    except OverflowError:
        return -math.inf if left < 0 and right % 2 == 1 else math.inf
    except ZeroDivisionError:
        return math.inf
    return -math.nan if isinstance(raised, complex) else raised


ARITHMETIC: Final[dict[str, Callable[[float, float], float]]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": divide,
    "%": remainder,
    "^": power,
}
