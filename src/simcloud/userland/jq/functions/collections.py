"""Functions on arrays and objects."""

from __future__ import annotations

from collections.abc import Iterable

from simcloud.userland.jq.errors import JqError
from simcloud.userland.jq.functions.arithmetic import minus, plus
from simcloud.userland.jq.functions.registry import describe, native, refuse, refuse_both
from simcloud.userland.jq.output import MAX_DEPTH, dump, number_text
from simcloud.userland.jq.paths import (
    delete_paths,
    get_path,
    has,
    index,
    set_path,
    whole,
)
from simcloud.userland.jq.run import Run, too_much
from simcloud.userland.jq.tree import Value
from simcloud.userland.jq.values import compare, kind_of, sort_values, truth


def items_of(run: Run, value: Value) -> Iterable[Value]:
    """Return the values that ``.[]`` produces."""
    if type(value) is list:
        run.spend(len(value))
        return value
    if type(value) is dict:
        run.spend(len(value))
        return value.values()
    raise JqError(f"Cannot iterate over {describe(value)}")


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
    """Return the value at a path."""
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
    """Flatten nested arrays, up to a depth."""
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
        raise JqError(f"Cannot use {describe(key)} as object key")
    return key


@native("transpose", 0)
def transpose(run: Run, value: Value) -> Value:
    """Rows for columns; what is missing is null."""
    rows = list(items_of(run, value))
    if not rows:
        if type(value) is dict:
            raise JqError("Range bounds must be numeric")
        return []
    widths = sort_values([length(run, row) for row in rows], run.spend)
    if type(value) is dict and widths[-1] > 0:
        index(value, 0.0, run)
    columns: list[Value] = []
    for place in range(whole(widths[-1])):
        run.spend_bytes(8 * len(rows))
        columns.append([index(row, float(place), run) for row in rows])
    return columns


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
