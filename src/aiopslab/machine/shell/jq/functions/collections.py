"""Functions on arrays and objects."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from aiopslab.machine.shell.jq.errors import JqError
from aiopslab.machine.shell.jq.functions.arithmetic import minus, plus
from aiopslab.machine.shell.jq.functions.registry import native, refuse, refuse_both, shown
from aiopslab.machine.shell.jq.output import MAX_DEPTH, dump, number_text
from aiopslab.machine.shell.jq.paths import (
    delete_paths,
    get_path,
    has,
    index,
    places_of,
    set_path,
    whole,
)
from aiopslab.machine.shell.jq.run import Run, too_much
from aiopslab.machine.shell.jq.tree import Value
from aiopslab.machine.shell.jq.values import compare, kind_of, sorted_places, sorted_values, truth


def items_of(run: Run, value: Value) -> Iterable[Value]:
    """What ``.[]`` would give."""
    if type(value) is list:
        run.spend(len(value))
        return value
    if type(value) is dict:
        run.spend(len(value))
        return value.values()
    raise JqError(f"Cannot iterate over {shown(value)}")


@native("length", 0)
def length(_: Run, value: Value) -> Value:
    """Of a text its characters, of a number its size."""
    if type(value) is float:
        return abs(value)
    if value is None:
        return 0.0
    if type(value) is bool:
        refuse(value, "has no length")
    return float(len(value))


@native("type", 0)
def type_name(_: Run, value: Value) -> Value:
    """``null``, ``boolean``, ``number``, ``string``, ``array`` or ``object``."""
    return kind_of(value)


@native("keys_unsorted", 0)
def keys_unsorted(run: Run, value: Value) -> Value:
    """The keys as they came."""
    if type(value) is dict:
        run.spend_bytes(8 * len(value))
        return list(value)
    if type(value) is list:
        run.spend_bytes(32 * len(value))
        return [float(place) for place in range(len(value))]
    refuse(value, "has no keys")


@native("keys", 0)
def keys(run: Run, value: Value) -> Value:
    """The keys in order."""
    found: list[Value] = keys_unsorted(run, value)
    return sorted(found)


@native("has", 1)
def has_key(_: Run, value: Value, key: Value) -> Value:
    """Whether there is something under a key."""
    return has(value, key)


@native("getpath", 1)
def getpath(run: Run, value: Value, path: Value) -> Value:
    """What stands at a path."""
    return get_path(value, path, run)


@native("setpath", 2)
def setpath(run: Run, value: Value, path: Value, new: Value) -> Value:
    """The input with something else at a path."""
    return set_path(value, path, new, run)


@native("delpaths", 1)
def delpaths(run: Run, value: Value, paths: Value) -> Value:
    """The input without what stands at the paths."""
    return delete_paths(value, paths, run)


@native("add", 0)
def add(run: Run, value: Value) -> Value:
    """All items added up."""
    items = list(items_of(run, value))
    kinds = {type(item) for item in items}
    if kinds == {str}:
        return run.text("".join(items))
    if kinds == {list}:
        total: list[Value] = []
        for item in items:
            run.spend_bytes(8 * len(item))
            total.extend(item)
        return total
    if kinds == {dict}:
        merged: dict[str, Value] = {}
        for item in items:
            run.spend_copy(len(item))
            merged.update(item)
        return merged
    result: Value = None
    for item in items:
        result = plus(run, None, result, item)
    return result


@native("join", 1)
def join(run: Run, value: Value, separator: Value) -> Value:
    """The items as one text, with something in between."""
    parts: list[str] = []
    glue = ""
    for item in items_of(run, value):
        text = _joinable(item)
        if parts and glue == "" and separator is not None:
            if type(separator) is not str:
                refuse_both("".join(parts), separator, "cannot be added")
            glue = separator
        before = glue if parts else ""
        if type(text) is not str:
            refuse_both("".join(parts) + before, text, "cannot be added")
        run.spend_bytes(len(text) + len(before))
        parts.append(before + text)
    return "".join(parts)


def _joinable(item: Value) -> Value:
    if type(item) is bool:
        return "true" if item else "false"
    if type(item) is float:
        return number_text(item)
    return "" if item is None else item


@native("flatten", 0)
def flatten_all(run: Run, value: Value) -> Value:
    """Arrays inside arrays opened up."""
    return flatten(run, value, 1e9)


@native("flatten", 1)
def flatten(run: Run, value: Value, depth: Value) -> Value:
    """Arrays inside arrays opened up, so many levels of them."""
    if compare(depth, 0.0, run.spend) < 0:
        raise JqError("flatten depth must not be negative")
    flat: list[Value] = []
    _flatten(run, value, depth, flat, 0)
    return flat


def _flatten(run: Run, value: Value, depth: Value, flat: list[Value], level: int) -> None:
    if level > MAX_DEPTH:
        raise too_much(f"arrays nested more than {MAX_DEPTH} deep cannot be flattened")
    for item in items_of(run, value):
        if type(item) is list and depth != 0:
            _flatten(run, item, minus(run, None, depth, 1.0), flat, level + 1)
        else:
            flat.append(item)
    run.spend_bytes(8 * len(value))


@native("reverse", 0)
def reverse(run: Run, value: Value) -> Value:
    """The items the other way round."""
    if type(value) is list:
        run.spend_copy(len(value))
        return value[::-1]
    if length(run, value) > 0:
        index(value, 0.0, run)
    return []


@native("to_entries", 0)
def to_entries(run: Run, value: Value) -> Value:
    """``{"key": …, "value": …}`` for each entry."""
    names = keys_unsorted(run, value)
    run.spend_bytes(100 * len(names))
    return [{"key": name, "value": index(value, name, run)} for name in names]


@native("from_entries", 0)
def from_entries(run: Run, value: Value) -> Value:
    """The object of such entries."""
    made: dict[str, Value] = {}
    for entry in items_of(run, value):
        for name in ("key", "Key", "name", "Name"):
            key = index(entry, name, run)
            if truth(key):
                break
        item = index(entry, "value" if has(entry, "value") else "Value", run)
        made[object_key(key)] = item
    return made


def object_key(key: Value) -> str:
    """A value as a key of an object, which only a text can be."""
    if type(key) is not str:
        raise JqError(f"Cannot use {shown(key)} as object key")
    return key


@native("transpose", 0)
def transpose(run: Run, value: Value) -> Value:
    """Rows for columns; what is missing is null."""
    rows = list(items_of(run, value))
    if not rows:
        if type(value) is dict:
            raise JqError("Range bounds must be numeric")
        return []
    widths = sorted_values([length(run, row) for row in rows], run.spend)
    if type(value) is dict and widths[-1] > 0:
        index(value, 0.0, run)
    columns: list[Value] = []
    for place in range(whole(widths[-1])):
        run.spend_bytes(8 * len(rows))
        columns.append([index(row, float(place), run) for row in rows])
    return columns


# -- order ---------------------------------------------------------------------------------------------------


@native("sort", 0)
def sort(run: Run, value: Value) -> Value:
    """The items in order."""
    if type(value) is not list:
        refuse(value, "cannot be sorted, as it is not an array")
    return sorted_values(value, run.spend)


def _check_keys(value: Value, by: Value) -> None:
    if type(value) is not list or type(by) is not list or len(value) != len(by):
        refuse_both(value, by, "cannot be sorted, as they are not both arrays")


@native("_sort_by_impl", 1)
def sort_by(run: Run, value: Value, by: Value) -> Value:
    """The items in the order of their keys."""
    _check_keys(value, by)
    return [value[place] for place in sorted_places(by, run.spend)]


@native("_group_by_impl", 1)
def group_by(run: Run, value: Value, by: Value) -> Value:
    """The items with equal keys together."""
    _check_keys(value, by)
    groups: list[Value] = []
    previous: Any = None
    for place in sorted_places(by, run.spend):
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


@native("bsearch", 1)
def bsearch(run: Run, value: Value, target: Value) -> Value:
    """Where a value stands in a sorted array, or below zero where it would stand."""
    low, high = 0, whole(length(run, value)) - 1
    while low <= high:
        middle = (low + high) // 2
        order = compare(index(value, float(middle), run), target, run.spend)
        if order == 0:
            return float(middle)
        if order < 0:
            low = middle + 1
        else:
            high = middle - 1
    return float(-1 - low)


# -- containment ---------------------------------------------------------------------------------------------


@native("contains", 1)
def contains(run: Run, value: Value, other: Value) -> Value:
    """Whether the other is part of the input, all the way down."""
    if kind_of(value) != kind_of(other):
        refuse_both(value, other, "cannot have their containment checked")
    return _contains(run, value, other, 0)


def _contains(run: Run, value: Value, other: Value, depth: int) -> bool:
    if depth > MAX_DEPTH:
        raise too_much(f"values nested more than {MAX_DEPTH} deep cannot be searched")
    run.spend(1)
    kind = type(value)
    if kind is not type(other):
        return False
    if kind is dict:
        return all(
            key in value and _contains(run, value[key], item, depth + 1) for key, item in other.items()
        )
    if kind is list:
        return all(any(_contains(run, ours, item, depth + 1) for ours in value) for item in other)
    if kind is str:
        return other.partition("\0")[0] in value.partition("\0")[0]
    return compare(value, other, run.spend) == 0


@native("indices", 1)
def indices(run: Run, value: Value, wanted: Value) -> Value:
    """All places where something occurs."""
    if type(value) is list:
        return places_of(value, wanted if type(wanted) is list else [wanted], run)
    if type(value) is str and type(wanted) is str:
        return text_indices(run, value, wanted)
    return index(value, wanted, run)


@native("_strindices", 1)
def text_indices(run: Run, value: Value, wanted: Value) -> Value:
    """All places, in bytes, where one text occurs in another, not overlapping."""
    if type(value) is not str or type(wanted) is not str:
        refuse_both(value, wanted, "cannot be searched, as they are not both strings")
    data, part = value.encode(), wanted.encode()
    run.spend_copy(len(data))
    found: list[Value] = []
    place = data.find(part) if part else -1
    while place >= 0:
        run.spend(1)
        found.append(float(place))
        place = data.find(part, place + len(part))
    return found


@native("index", 1)
def first_index(run: Run, value: Value, wanted: Value) -> Value:
    """The first place where something occurs."""
    return index(indices(run, value, wanted), 0.0, run)


@native("rindex", 1)
def last_index(run: Run, value: Value, wanted: Value) -> Value:
    """The last place where something occurs."""
    last = index(indices(run, value, wanted), {"start": -1.0, "end": None}, run)
    return index(last, 0.0, run)


@native("_tostream", 0)
def tostream(run: Run, value: Value) -> Value:
    """The value as a list of paths and leaves."""
    events: list[Value] = []
    walk_stream(run, value, [], events)
    return events


def walk_stream(run: Run, value: Value, path: list[Value], events: list[Value]) -> None:
    """Add the events of a value at a path; a closing one only where something was open."""
    if len(path) > MAX_DEPTH:
        raise too_much(f"values nested more than {MAX_DEPTH} deep cannot be streamed")
    run.spend(1 + len(path) // 8)
    if type(value) not in (list, dict) or not value:
        events.append([path, value])
        return
    key: Value = None
    for key in keys_unsorted(run, value):
        walk_stream(run, index(value, key, run), [*path, key], events)
    events.append([[*path, key]])


# -- to text and back ----------------------------------------------------------------------------------------


@native("tojson", 0)
def tojson(run: Run, value: Value) -> Value:
    """The value as JSON text."""
    if type(value) is str:
        run.quotable(value)
    return run.text(dump(value, run.spend))


@native("tostring", 0)
def tostring(run: Run, value: Value) -> Value:
    """The value as a text; a text stays as it is."""
    return value if type(value) is str else tojson(run, value)


@native("toarray", 0)
def toarray(_: Run, value: Value) -> Value:
    """The value in an array, unless it is one."""
    return value if type(value) is list else [value]
