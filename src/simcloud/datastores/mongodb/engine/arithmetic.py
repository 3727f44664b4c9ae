"""Operators of aggregation expressions on numbers, and on dates as far as they are counted with."""

from __future__ import annotations

import math
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any, Final

from simcloud.datastores.mongodb.bson import (
    INT64_MAX,
    INT64_MIN,
    Int64,
    is_number,
    milliseconds,
    type_name,
)
from simcloud.datastores.mongodb.engine.operator import Operator, absent
from simcloud.datastores.mongodb.failures import MongoFailure


def _number(name: str, value: Any) -> Any:
    if not is_number(value):
        raise MongoFailure(16554, f"{name} only supports numeric or date types, not {type_name(value)}")
    return value


def _check_bounds(value: Any) -> Any:
    if isinstance(value, int) and not INT64_MIN <= value <= INT64_MAX:
        return float(value) if abs(value) < 10**300 else math.copysign(math.inf, value)
    return value


def _add(*values: Any) -> Any:
    if any(map(absent, values)):
        return None
    dates = [value for value in values if value.__class__ is datetime]
    total = sum([_number("$add", value) for value in values if value.__class__ is not datetime])
    return dates[0] + timedelta(milliseconds=float(total)) if dates else _check_bounds(total)


def _subtract(one: Any, other: Any) -> Any:
    if absent(one) or absent(other):
        return None
    if one.__class__ is datetime:
        if other.__class__ is datetime:
            return Int64(milliseconds(one) - milliseconds(other))
        return one - timedelta(milliseconds=float(_number("$subtract", other)))
    a, b = _number("$subtract", one), _number("$subtract", other)
    return _check_bounds(a - b)


def _multiply(*values: Any) -> Any:
    if any(map(absent, values)):
        return None
    product: Any = 1
    for value in values:
        product = product * _number("$multiply", value)
    return _check_bounds(product)


def _divide(one: Any, other: Any) -> Any:
    if absent(one) or absent(other):
        return None
    a, b = _number("$divide", one), _number("$divide", other)
    if b == 0:
        raise MongoFailure(2, "can't $divide by zero")
    return a / b


def _mod(one: Any, other: Any) -> Any:
    if absent(one) or absent(other):
        return None
    a, b = _number("$mod", one), _number("$mod", other)
    if b == 0:
        raise MongoFailure(16610, "can't $mod by zero")
    if isinstance(a, int) and isinstance(b, int):
        return int(math.fmod(a, b))
    return math.fmod(a, b)


def _numeric(name: str, function: Callable[[Any], Any]) -> Operator:
    def apply(value: Any) -> Any:
        if absent(value):
            return None
        try:
            return function(_number(name, value))
        except (ValueError, OverflowError):
            raise MongoFailure(28714, f"{name}'s argument is out of its range") from None

    return Operator(apply, (1,))


def _round(value: Any, places: Any = 0) -> Any:
    if absent(value):
        return None
    rounded = round(_number("$round", value), max(-20, min(100, int(places))))
    return rounded if value.__class__ is not float else float(rounded)


def _average(*values: Any) -> Any:
    pool = values[0] if len(values) == 1 and values[0].__class__ is list else values
    found = [value for value in pool if is_number(value)]
    return sum(found) / len(found) if found else None


def _sum(*values: Any) -> Any:
    pool = values[0] if len(values) == 1 and values[0].__class__ is list else values
    return _check_bounds(sum([value for value in pool if is_number(value)]))


ARITHMETIC: Final[dict[str, Operator]] = {
    "$add": Operator(_add, None),
    "$subtract": Operator(_subtract, (2,)),
    "$multiply": Operator(_multiply, None),
    "$divide": Operator(_divide, (2,)),
    "$mod": Operator(_mod, (2,)),
    "$abs": _numeric("$abs", abs),
    "$ceil": _numeric(
        "$ceil", lambda value: float(math.ceil(value)) if value.__class__ is float else math.ceil(value)
    ),
    "$floor": _numeric(
        "$floor", lambda value: float(math.floor(value)) if value.__class__ is float else math.floor(value)
    ),
    "$round": Operator(_round, (1, 2)),
    "$avg": Operator(_average, None),
    "$sum": Operator(_sum, None),
}
