"""Functions that sort and group arrays, or find their minimum and maximum."""

from __future__ import annotations

from typing import Any

from simcloud.userland.jq.functions.registry import native, refuse, refuse_both
from simcloud.userland.jq.run import Run
from simcloud.userland.jq.tree import Value
from simcloud.userland.jq.values import compare, sort_places, sort_values


@native("sort", 0)
def sort(run: Run, value: Value) -> Value:
    """The items in order."""
    if type(value) is not list:
        refuse(value, "cannot be sorted, as it is not an array")
    return sort_values(value, run.spend)


def _check_keys(value: Value, by: Value) -> None:
    if type(value) is not list or type(by) is not list or len(value) != len(by):
        refuse_both(value, by, "cannot be sorted, as they are not both arrays")


@native("_sort_by_impl", 1)
def sort_by(run: Run, value: Value, by: Value) -> Value:
    """The items in the order of their keys."""
    _check_keys(value, by)
    return [value[place] for place in sort_places(by, run.spend)]


@native("_group_by_impl", 1)
def group_by(run: Run, value: Value, by: Value) -> Value:
    """The items with equal keys together."""
    _check_keys(value, by)
    groups: list[Value] = []
    previous: Any = None
    for place in sort_places(by, run.spend):
        if groups and compare(previous, by[place], run.spend) == 0:
            groups[-1].append(value[place])
        else:
            groups.append([value[place]])
            previous = by[place]
    return groups


@native("min", 0)
def smallest(run: Run, value: Value) -> Value:
    """The smallest item."""
    return min_by(run, value, value)


@native("max", 0)
def largest(run: Run, value: Value) -> Value:
    """The largest item."""
    return max_by(run, value, value)


@native("_min_by_impl", 1)
def min_by(run: Run, value: Value, by: Value) -> Value:
    """The item with the smallest key, the first of several."""
    return _extreme(run, value, by, -1)


@native("_max_by_impl", 1)
def max_by(run: Run, value: Value, by: Value) -> Value:
    """The item with the largest key, the last of several."""
    return _extreme(run, value, by, 1)


def _extreme(run: Run, value: Value, by: Value, sign: int) -> Value:
    if type(value) is not list or type(by) is not list:
        refuse_both(value, by, "cannot be iterated over")
    if len(value) != len(by):
        refuse_both(value, by, "have wrong length")
    best: int | None = None
    for place, key in enumerate(by):
        run.spend(1)
        order = compare(key, by[best], run.spend) if best is not None else sign
        if order * sign > 0 or (order == 0 and sign > 0):
            best = place
    return None if best is None else value[best]
