"""The types, the order and the truth of jq values.

All walks over values are charged: comparing two values built by repeated doubling could take practically forever.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from typing import Any

from simcloud.userland.jq.tree import Value

Spend = Callable[[int], None]
"""Charges a number of small steps; raises when the budget is used up."""

_KINDS: dict[type, str] = {
    type(None): "null",
    bool: "boolean",
    float: "number",
    str: "string",
    list: "array",
    dict: "object",
}


def kind_of(value: Value) -> str:
    """``null``, ``boolean``, ``number``, ``string``, ``array`` or ``object``."""
    return _KINDS[type(value)]


def truth(value: Value) -> bool:
    """All but ``null`` and ``false``."""
    return value is not None and value is not False


def _rank(value: Value) -> int:
    kind = type(value)
    if kind is bool:
        return 2 if value else 1
    return _RANKS[kind]


_RANKS: dict[type, int] = {type(None): 0, float: 3, str: 4, list: 5, dict: 6}


def compare(a: Value, b: Value, spend: Spend) -> int:
    """Negative, zero or positive: null, false, true, numbers, strings, arrays, objects."""
    order = _compare_flat(a, b)
    if order is not None:
        return order
    walks = [_pairs(a, b, spend)]
    while walks:
        for step in walks[-1]:
            if type(step) is int:
                if step:
                    return step
                continue
            order = _compare_flat(step[0], step[1])
            if order is None:
                walks.append(_pairs(step[0], step[1], spend))
                break
            if order:
                return order
        else:
            walks.pop()
    return 0


def _compare_flat(a: Value, b: Value) -> int | None:
    """The order of two values that is plain at once, or nothing for two arrays or two objects."""
    kind = type(a)
    if kind is not type(b) or kind is bool:
        return _rank(a) - _rank(b)
    if kind is float:
        return -1 if a < b or a != a else 0 if a == b else 1
    if kind is str:
        return -1 if a < b else 0 if a == b else 1
    return 0 if kind is type(None) else None


def _pairs(a: Value, b: Value, spend: Spend) -> Iterator[Any]:
    """Yield the pairs of two arrays or objects that decide their order, and orders already known."""
    spend(min(len(a), len(b)) + 1)
    if type(a) is list:
        yield from zip(a, b, strict=False)
        yield (len(a) > len(b)) - (len(a) < len(b))
        return
    ours, theirs = sorted(a), sorted(b)
    yield (ours > theirs) - (ours < theirs)
    for key in ours:
        yield a[key], b[key]


def sort_key(spend: Spend) -> Callable[[Value], Any]:
    """A key for ``sorted`` that orders values as jq does."""

    def compare_counted(a: Value, b: Value) -> int:
        spend(1)
        return compare(a, b, spend)

    return functools.cmp_to_key(compare_counted)


def sort_values(values: list[Value], spend: Spend) -> list[Value]:
    """Sort the values."""
    return [values[place] for place in sort_places(values, spend)]


def sort_places(keys: list[Value], spend: Spend) -> list[int]:
    """Return the indices of the keys in sorted order; the sort is stable."""
    spend(len(keys))
    plain: list[Any] = keys
    if keys and all(type(key) is list and len(key) == 1 for key in keys):
        plain = [key[0] for key in keys]
    kinds = {type(key) for key in plain}
    if kinds == {str} or (kinds == {float} and all(key == key for key in plain)):
        return sorted(range(len(keys)), key=plain.__getitem__)
    key = sort_key(spend)
    return sorted(range(len(keys)), key=lambda place: key(keys[place]))
