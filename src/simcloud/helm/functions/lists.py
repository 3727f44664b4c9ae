"""Functions on lists. Those with the prefix ``must`` differ only in that they can fail."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from simcloud.golang.template import CallError, Function
from simcloud.helm.functions.kinds import kind_of
from simcloud.helm.functions.values import check_size, empty


def _items(doing: str) -> Callable[[Any], list[Any]]:
    def read(value: Any) -> list[Any]:
        if isinstance(value, (list, bytes, tuple)):
            return list(value)
        kind = kind_of(value)
        raise CallError(
            f"Cannot {doing} on type {kind}" if doing else f"list should be type of slice or array but {kind}"
        )

    return read


_first_of, _last_of, _rest_of = _items("find first"), _items("find last"), _items("find rest")
_initial_of, _reverse_of, _uniq_of = _items("find initial"), _items("find reverse"), _items("find uniq")
_append_to, _prepend_to, _without_of = _items("push"), _items("prepend"), _items("find without")
_compact_of, _slice_of, _concat_of, _chunk_of = (
    _items("compact"),
    _items("slice"),
    _items("concat"),
    _items("chunk"),
)


def _first(value: Any) -> Any:
    found = _first_of(value)
    return found[0] if found else None


def _last(value: Any) -> Any:
    found = _last_of(value)
    return found[-1] if found else None


def _uniq(value: Any) -> list[Any]:
    found: list[Any] = []
    for item in _uniq_of(value):
        if not _has(item, found):
            found.append(item)
    return found


def _has(item: Any, items: list[Any]) -> bool:
    return any(type(item) is type(other) and item == other for other in items)


def _member(item: Any, value: Any) -> bool:
    return value is not None and _has(item, _items("find has")(value))


def _without(value: Any, *omitted: Any) -> list[Any]:
    return [item for item in _without_of(value) if not _has(item, list(omitted))]


def _append(value: Any, item: Any) -> list[Any]:
    return [*_append_to(value), item]


def _concat(*values: Any) -> list[Any]:
    joined = [item for value in values for item in _concat_of(value)]
    check_size(len(joined))
    return joined


def _slice(value: Any, *bounds: int) -> list[Any]:
    items = _slice_of(value)
    start = bounds[0] if bounds else 0
    end = bounds[1] if len(bounds) > 1 else len(items)
    if not 0 <= start <= end <= len(items):
        raise CallError("reflect.Value.Slice: slice index out of bounds")
    return items[start:end]


_PLAIN: dict[str, Function] = {
    "first": Function(_first, 1, 1),
    "last": Function(_last, 1, 1),
    "rest": Function(lambda value: _rest_of(value)[1:], 1, 1),
    "initial": Function(lambda value: _initial_of(value)[:-1], 1, 1),
    "reverse": Function(lambda value: _reverse_of(value)[::-1], 1, 1),
    "uniq": Function(_uniq, 1, 1),
    "has": Function(_member, 2, 2),
    "without": Function(_without, 1),
    "compact": Function(lambda value: [item for item in _compact_of(value) if not empty(item)], 1, 1),
    "append": Function(_append, 2, 2),
    "push": Function(_append, 2, 2),
    "prepend": Function(lambda value, item: [item, *_prepend_to(value)], 2, 2),
    "slice": Function(_slice, 1, None, ("", "int")),
}


LISTS: dict[str, Function] = {
    **_PLAIN,
    **{f"must{name[0].upper()}{name[1:]}": function for name, function in _PLAIN.items()},
    "list": Function(lambda *values: list(values), 0),
    "tuple": Function(lambda *values: list(values), 0),
    "concat": Function(_concat, 0),
}
