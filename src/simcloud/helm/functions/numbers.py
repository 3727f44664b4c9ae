"""Functions on numbers. Integers have 64 bits; other values count as 0, as in sprig."""

from __future__ import annotations

import math
from typing import Any

from simcloud.golang import Int
from simcloud.golang.template import CallError, Function
from simcloud.helm.functions.values import Ints, check_size, real, whole

_I = "int"


def _sum(*values: Any) -> int:
    return whole(sum(map(whole, values)))


def _product(first: Any, *values: Any) -> int:
    result = whole(first)
    for value in values:
        result = whole(result * whole(value))
    return result


def _divide(one: Any, other: Any) -> int:
    left, right = whole(one), whole(other)
    if right == 0:
        raise CallError("runtime error: integer divide by zero")
    quotient = abs(left) // abs(right)
    return whole(quotient if (left < 0) == (right < 0) else -quotient)


def _remainder(one: Any, other: Any) -> int:
    left, right = whole(one), whole(other)
    if right == 0:
        raise CallError("runtime error: integer divide by zero")
    return left - right * _divide(left, right)


def _floor(value: Any) -> float:
    number = real(value)
    return float(math.floor(number)) if math.isfinite(number) else number


def _ceil(value: Any) -> float:
    number = real(value)
    return float(math.ceil(number)) if math.isfinite(number) else number


def _until(count: int) -> Ints:
    return _until_step(0, count, -1 if count < 0 else 1)


def _until_step(start: int, stop: int, step: int) -> Ints:
    if (stop < start and step >= 0) or (stop >= start and step <= 0):
        return Ints()
    check_size(abs(stop - start) // abs(step))
    return Ints(Int(number) for number in range(start, stop, step))


_LARGEST = Function(lambda first, *more: max([whole(first), *map(whole, more)]), 1)

NUMBERS: dict[str, Function] = {
    "int": Function(lambda value: Int(whole(value)), 1, 1),
    "int64": Function(whole, 1, 1),
    "float64": Function(real, 1, 1),
    "atoi": Function(lambda text: Int(whole(text)), 1, 1, ("string",)),
    "add": Function(_sum, 0),
    "add1": Function(lambda value: whole(whole(value) + 1), 1, 1),
    "sub": Function(lambda one, other: whole(whole(one) - whole(other)), 2, 2),
    "mul": Function(_product, 1),
    "div": Function(_divide, 2, 2),
    "mod": Function(_remainder, 2, 2),
    "max": _LARGEST,
    "biggest": _LARGEST,
    "min": Function(lambda first, *more: min([whole(first), *map(whole, more)]), 1),
    "floor": Function(_floor, 1, 1),
    "ceil": Function(_ceil, 1, 1),
    "until": Function(_until, 1, 1, (_I,)),
    "untilStep": Function(_until_step, 3, 3, (_I, _I, _I)),
}
