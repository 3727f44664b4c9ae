"""The operators of aggregation expressions that work on plain values."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from simcloud.datastores.mongodb.bson import (
    is_number,
    type_name,
)
from simcloud.datastores.mongodb.engine.arithmetic import ARITHMETIC
from simcloud.datastores.mongodb.engine.conversions import CONVERSIONS, to_string
from simcloud.datastores.mongodb.engine.operator import Operator, absent
from simcloud.datastores.mongodb.engine.paths import MISSING
from simcloud.datastores.mongodb.failures import MongoFailure
from simcloud.datastores.mongodb.ordering import equal, sort_key

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
