"""The operators of aggregation expressions on values: arithmetic, conversions, comparisons, text and arrays."""

from __future__ import annotations

import math
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any, Final, NamedTuple

from simcloud.datastores.mongodb.bson import (
    EPOCH,
    INT64_MAX,
    INT64_MIN,
    Int64,
    ObjectId,
    is_number,
    milliseconds,
    type_name,
)
from simcloud.datastores.mongodb.engine.paths import MISSING
from simcloud.datastores.mongodb.failures import MongoFailure
from simcloud.datastores.mongodb.order import equal, sort_key


class Operator(NamedTuple):
    """A function of values, and its numbers of arguments (None: any)."""

    function: Callable[..., Any]
    takes: tuple[int, ...] | None


def absent(value: Any) -> bool:
    """Return whether a value is null or missing."""
    return value is None or value is MISSING


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


def _of_date(part: Callable[[datetime], int]) -> Operator:
    def apply(value: Any) -> Any:
        if absent(value):
            return None
        moment = value.generated_at if value.__class__ is ObjectId else value
        if moment.__class__ is not datetime:
            raise MongoFailure(16006, f"can't convert from BSON type {type_name(value)} to Date")
        return part(moment)

    return Operator(apply, (1,))


def _date_to_string(options: Any) -> Any:
    moment: Any = options.get("date") if options.__class__ is dict else None
    if absent(moment):
        return None
    text = options.get("format", "%Y-%m-%dT%H:%M:%S.%LZ").replace("%L", f"{moment.microsecond // 1000:03d}")
    for letter in "YmdHMSjuVG":
        text = text.replace(f"%{letter}", moment.strftime(f"%{letter}"))
    return text


def to_string(value: Any) -> Any:
    """Return a value as text, the way $toString has it."""
    if absent(value) or value.__class__ is str:
        return None if absent(value) else value
    if value.__class__ is bool:
        return "true" if value else "false"
    if value.__class__ is datetime:
        return f"{value:%Y-%m-%dT%H:%M:%S}.{value.microsecond // 1000:03d}Z"
    if value.__class__ is float and value == int(value if value == value and abs(value) < 1e15 else 0):
        return str(int(value))
    if value.__class__ in (dict, list):
        raise MongoFailure(
            241, f"Unsupported conversion from {type_name(value)} to string in $convert with no onError value"
        )
    return str(int(value)) if isinstance(value, int) else str(value)


def _to_number(make: Callable[[Any], Any], name: str) -> Operator:
    def apply(value: Any) -> Any:
        if absent(value):
            return None
        if value.__class__ is datetime:
            return make(milliseconds(value))
        try:
            return make(value)
        except (ValueError, TypeError, ArithmeticError):
            raise MongoFailure(
                241, f"Failed to parse number '{value}' in $convert with no onError value"
            ) from None

    return Operator(apply, (1,))


def _to_date(value: Any) -> Any:
    if absent(value):
        return None
    if value.__class__ is ObjectId:
        return value.generated_at
    if value.__class__ is datetime:
        return value
    try:
        if is_number(value):
            return EPOCH + timedelta(milliseconds=int(value))
        return (
            datetime.fromisoformat(str(value)).astimezone(EPOCH.tzinfo)
            if "T" in str(value)
            else datetime.fromisoformat(f"{value}T00:00:00+00:00")
        )
    except (ValueError, OverflowError):
        raise MongoFailure(241, f"Error parsing date string '{value}'") from None


CONVERSIONS: Final[dict[str, Operator]] = {
    "$toString": Operator(to_string, (1,)),
    "$toInt": _to_number(int, "int"),
    "$toLong": _to_number(lambda value: Int64(int(value)), "long"),
    "$toDouble": _to_number(float, "double"),
    "$toDate": Operator(_to_date, (1,)),
    "$year": _of_date(lambda moment: moment.year),
    "$month": _of_date(lambda moment: moment.month),
    "$dayOfMonth": _of_date(lambda moment: moment.day),
    "$hour": _of_date(lambda moment: moment.hour),
    "$minute": _of_date(lambda moment: moment.minute),
    "$second": _of_date(lambda moment: moment.second),
    "$dateToString": Operator(_date_to_string, (1,)),
}


MAX_TEXT: Final = 16_777_216


def _key(value: Any) -> tuple[Any, ...]:
    return (0,) if value is MISSING else sort_key(value)


def _compare(accept: Callable[[Any, Any], bool]) -> Operator:
    return Operator(lambda one, other: accept(_key(one), _key(other)), (2,))


def _concat(*values: Any) -> Any:
    if any(map(absent, values)):
        return None
    for value in values:
        if value.__class__ is not str:
            raise MongoFailure(16702, f"$concat only supports strings, not {type_name(value)}")
    if sum(map(len, values)) > MAX_TEXT:
        raise MongoFailure(10334, "the resulting string is too large")
    return "".join(values)


def _text(value: Any) -> str:
    if absent(value):
        return ""
    return value if value.__class__ is str else str(to_string(value))


def _substr(value: Any, start: Any, count: Any) -> str:
    text, start, count = _text(value), int(start), int(count)
    if start < 0:
        return ""
    return text[start:] if count < 0 else text[start : start + count]


def _elements(name: str, value: Any) -> list[Any]:
    if value.__class__ is not list:
        found = "missing" if value is MISSING else type_name(value)
        raise MongoFailure(17124, f"The argument to {name} must be an array, but was of type: {found}")
    return value


def _element_at(array: Any, place: Any) -> Any:
    if absent(array) or absent(place):
        return None
    items, at = _elements("$arrayElemAt", array), int(place)
    return items[at] if -len(items) <= at < len(items) else MISSING


def _in(value: Any, array: Any) -> bool:
    return any(equal(value, each) for each in _elements("$in", array))


def _if_null(*values: Any) -> Any:
    return next((value for value in values[:-1] if not absent(value)), values[-1])


def _extreme(choose: Callable[..., Any]) -> Operator:
    def apply(*values: Any) -> Any:
        pool = values[0] if len(values) == 1 and values[0].__class__ is list else values
        found = [value for value in pool if not absent(value)]
        return choose(found, key=sort_key) if found else None

    return Operator(apply, None)


OPERATORS: Final[dict[str, Operator]] = {
    "$eq": _compare(lambda one, other: one == other),
    "$ne": _compare(lambda one, other: one != other),
    "$gt": _compare(lambda one, other: one > other),
    "$gte": _compare(lambda one, other: one >= other),
    "$lt": _compare(lambda one, other: one < other),
    "$lte": _compare(lambda one, other: one <= other),
    "$not": Operator(
        lambda value: absent(value) or value is False or (is_number(value) and value == 0), (1,)
    ),
    "$concat": Operator(_concat, None),
    "$toUpper": Operator(lambda value: _text(value).upper(), (1,)),
    "$toLower": Operator(lambda value: _text(value).lower(), (1,)),
    "$substr": Operator(_substr, (3,)),
    "$arrayElemAt": Operator(_element_at, (2,)),
    "$size": Operator(lambda array: len(_elements("$size", array)), (1,)),
    "$in": Operator(_in, (2,)),
    "$ifNull": Operator(_if_null, None),
    "$type": Operator(lambda value: "missing" if value is MISSING else type_name(value), (1,)),
    "$max": _extreme(max),
    "$min": _extreme(min),
    **ARITHMETIC,
    **CONVERSIONS,
}
