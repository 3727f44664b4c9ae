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
from simcloud.datastores.mongodb.ordering import equal, identity, sort_key

MAX_ELEMENTS: Final = 100_000
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


def _split(value: Any, separator: Any) -> Any:
    if absent(value) or absent(separator):
        return None
    if value.__class__ is not str or separator.__class__ is not str or not separator:
        raise MongoFailure(40085, "$split requires an expression that evaluates to a string")
    return value.split(separator)


def _index_of(text: Any, part: Any) -> Any:
    return None if absent(text) else str(text).find(str(part))


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


def _slice(array: Any, *numbers: Any) -> Any:
    if absent(array):
        return None
    items = _elements("$slice", array)
    if len(numbers) == 1:
        count = int(numbers[0])
        return items[count:] if count < 0 else items[:count]
    start, count = int(numbers[0]), int(numbers[1])
    start = max(0, len(items) + start) if start < 0 else start
    return items[start : start + count]


def _in(value: Any, array: Any) -> bool:
    return any(equal(value, each) for each in _elements("$in", array))


def _concat_arrays(*arrays: Any) -> Any:
    if any(map(absent, arrays)):
        return None
    joined = [each for array in arrays for each in _elements("$concatArrays", array)]
    if len(joined) > MAX_ELEMENTS:
        raise MongoFailure(10334, "the resulting array is too large")
    return joined


def _range(start: Any, end: Any, step: Any = 1) -> list[int]:
    values = range(int(start), int(end), int(step) or 1)
    if len(values) > MAX_ELEMENTS:
        raise MongoFailure(50, "$range would produce too many elements")
    return list(values)


def _set_union(*arrays: Any) -> Any:
    if any(map(absent, arrays)):
        return None
    return list({identity(each): each for array in arrays for each in array}.values())


def _set_intersection(*arrays: Any) -> Any:
    if any(map(absent, arrays)):
        return None
    kept = {identity(each): each for each in arrays[0]}
    for array in arrays[1:]:
        there = {identity(each): None for each in array}
        kept = {key: each for key, each in kept.items() if key in there}
    return list(kept.values())


def _set_difference(one: Any, other: Any) -> Any:
    gone = {identity(each): None for each in other}
    return [each for each in one if identity(each) not in gone]


def _merge(*documents: Any) -> Any:
    merged: dict[str, Any] = {}
    for each in documents[0] if len(documents) == 1 and documents[0].__class__ is list else documents:
        if not absent(each):
            merged.update(each)
    return merged


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
    "$cmp": Operator(lambda one, other: (_key(one) > _key(other)) - (_key(one) < _key(other)), (2,)),
    "$not": Operator(
        lambda value: absent(value) or value is False or (is_number(value) and value == 0), (1,)
    ),
    "$concat": Operator(_concat, None),
    "$toUpper": Operator(lambda value: _text(value).upper(), (1,)),
    "$toLower": Operator(lambda value: _text(value).lower(), (1,)),
    "$substr": Operator(_substr, (3,)),
    "$substrBytes": Operator(_substr, (3,)),
    "$substrCP": Operator(_substr, (3,)),
    "$strLenCP": Operator(lambda value: len(_text(value)), (1,)),
    "$strLenBytes": Operator(lambda value: len(_text(value).encode()), (1,)),
    "$split": Operator(_split, (2,)),
    "$indexOfCP": Operator(_index_of, (2,)),
    "$strcasecmp": Operator(
        lambda one, other: (
            (_text(one).lower() > _text(other).lower()) - (_text(one).lower() < _text(other).lower())
        ),
        (2,),
    ),
    "$arrayElemAt": Operator(_element_at, (2,)),
    "$first": Operator(lambda array: _element_at(array, 0), (1,)),
    "$last": Operator(lambda array: _element_at(array, -1), (1,)),
    "$size": Operator(lambda array: len(_elements("$size", array)), (1,)),
    "$slice": Operator(_slice, (2, 3)),
    "$in": Operator(_in, (2,)),
    "$isArray": Operator(lambda value: value.__class__ is list, (1,)),
    "$concatArrays": Operator(_concat_arrays, None),
    "$reverseArray": Operator(
        lambda array: None if absent(array) else _elements("$reverseArray", array)[::-1], (1,)
    ),
    "$range": Operator(_range, (2, 3)),
    "$setUnion": Operator(_set_union, None),
    "$setIntersection": Operator(_set_intersection, None),
    "$setDifference": Operator(_set_difference, (2,)),
    "$mergeObjects": Operator(_merge, None),
    "$objectToArray": Operator(
        lambda value: None if absent(value) else [{"k": k, "v": v} for k, v in value.items()], (1,)
    ),
    "$ifNull": Operator(_if_null, None),
    "$type": Operator(lambda value: "missing" if value is MISSING else type_name(value), (1,)),
    "$toBool": Operator(
        lambda value: None if absent(value) else not (value is False or (is_number(value) and value == 0)),
        (1,),
    ),
    "$max": _extreme(max),
    "$min": _extreme(min),
    **ARITHMETIC,
    **CONVERSIONS,
}
