"""Gets, sets and deletes parts of a value: ``.a``, ``.[2]``, ``.[1:3]`` and paths of such keys."""

from __future__ import annotations

import math
from typing import NoReturn

from simcloud.userland.jq.errors import JqError
from simcloud.userland.jq.run import Run
from simcloud.userland.jq.tree import Value
from simcloud.userland.jq.values import compare, kind_of, sort_values

LOWEST = -(2**31)
HIGHEST = 2**31 - 1


def whole(number: float) -> int:
    """A number cut to a C integer, as jq does before it counts with it."""
    if number != number or number < LOWEST:
        return LOWEST
    return HIGHEST if number > HIGHEST else int(number)


def index(value: Value, key: Value, run: Run) -> Value:
    """``value[key]``."""
    kind, of = type(key), type(value)
    if of is dict and kind is str:
        return value.get(key)
    if of is list:
        if kind is float:
            return _element(value, key)
        if kind is dict:
            start, stop = slice_bounds(key, len(value), "array")
            run.spend_copy(stop - start)
            return value[start:stop]
        if kind is list:
            return places_of(value, key, run)
    elif value is None and kind in (str, float, dict):
        return None
    elif of is str and kind is dict:
        start, stop = slice_bounds(key, len(value), "string")
        return run.text(value[start:stop])
    cannot_index(value, key)


def cannot_index(value: Value, key: Value) -> NoReturn:
    """Say that this key does not go with this value."""
    if type(key) is str:
        raise JqError(f'Cannot index {kind_of(value)} with string "{key}"')
    raise JqError(f"Cannot index {kind_of(value)} with {kind_of(key)}")


def _element(values: list[Value], key: float) -> Value:
    if key != key or math.isinf(key) or key != int(key):
        return None
    place = int(key)
    if place < 0:
        place += len(values)
    return values[place] if 0 <= place < len(values) else None


def slice_bounds(key: dict[str, Value], length: int, what: str) -> tuple[int, int]:
    """Return the start and stop of a slice: rounded outward, counted from the end if negative."""
    start, stop = key.get("start"), key.get("end")
    if "start" not in key or "end" not in key or not _is_bound(start) or not _is_bound(stop):
        raise JqError(f"Start and end indices of an {what} slice must be numbers")
    low = 0.0 if start is None or start != start else start
    high = float(length) if stop is None else 0.0 if stop != stop else stop
    if low < 0:
        low += length
    if high < 0:
        high += length
    first = 0 if low < 0 else length if low > length else math.floor(low)
    last = first if high < first else length if high > length else math.ceil(high)
    return first, max(first, last)


def _is_bound(value: Value) -> bool:
    return value is None or type(value) is float


def places_of(values: list[Value], wanted: list[Value], run: Run) -> list[Value]:
    """Return the positions of one array inside another."""
    if not wanted:
        return []
    found: list[Value] = []
    for place in range(len(values)):
        run.spend(1)
        for offset, item in enumerate(wanted):
            if place + offset >= len(values) or compare(values[place + offset], item, run.spend):
                break
        else:
            found.append(float(place))
    return found


def has(value: Value, key: Value) -> bool:
    """Whether there is something under a key."""
    if value is None:
        return False
    if type(value) is dict and type(key) is str:
        return key in value
    if type(value) is list and type(key) is float:
        return 0 <= whole(key) < len(value)
    raise JqError(f"Cannot check whether {kind_of(value)} has a {kind_of(key)} key")


def get_path(value: Value, path: Value, run: Run) -> Value:
    """Return the value at a path."""
    if type(path) is not list:
        raise JqError("Path must be specified as an array")
    for key in path:
        value = index(value, key, run)
    return value


class Draft:
    """A value under change. What it has copied once it changes in place from then on.

    A copy may be changed in place only until ``get`` has returned it.
    A change that was begun and not finished, because it failed, leaves null, as in jq 1.6.
    """

    def __init__(self, root: Value, run: Run) -> None:
        self.root = root
        self._begun = False
        self._run = run
        self._own: dict[int, Value] = {}

    def begin(self) -> None:
        """Begin a change."""
        self.root = self.result()
        self._begun = True

    def finish(self) -> None:
        """Finish a change."""
        self._begun = False

    def result(self) -> Value:
        """The value after all changes."""
        return None if self._begun else self.root

    def get(self, path: list[Value]) -> Value:
        """Return the current value at a path."""
        value = get_path(self.root, path, self._run)
        if id(value) in self._own or any(type(key) is dict for key in path):
            self._own.clear()
        return value

    def set(self, path: Value, value: Value) -> None:
        """Put a value at a path, making what is missing on the way."""
        if type(path) is not list:
            raise JqError("Path must be specified as an array")
        if not path:
            self.root = value
            return
        nodes = [self.root]
        for key in path[:-1]:
            nodes.append(index(nodes[-1], key, self._run))
        if index(nodes[-1], path[-1], self._run) is None:
            self._run.hold(value)  # what grows in its place is let go each time
        for key, node in zip(reversed(path), reversed(nodes), strict=True):
            value = self._with(node, key, value)
        self.root = value

    def snapshot(self) -> Value:
        """The value as it is; later changes will not touch it."""
        self._own.clear()
        return self.root

    def delete(self, path: list[Value]) -> None:
        """Remove what stands at a path, if anything does."""
        if not path:
            self.root = None
            return
        nodes = [self.root]
        for key in path[:-1]:
            nodes.append(index(nodes[-1], key, self._run))
            if nodes[-1] is None:
                return
        value = self._without(nodes[-1], path[-1])
        for key, node in zip(reversed(path[:-1]), reversed(nodes[:-1]), strict=True):
            value = self._with(node, key, value)
        self.root = value

    def _with(self, node: Value, key: Value, value: Value) -> Value:
        kind = type(key)
        if type(node) is dict and kind is str:
            node = self._own_copy(node)
            node[key] = value
            return node
        if kind is float and (node is None or type(node) is list):
            return self._with_element(node, whole(key), value)
        if node is None and kind is str:
            return self._keep({key: value})
        if kind is dict and (node is None or type(node) is list):
            return self._with_slice(node or [], key, value)
        raise JqError(f"Cannot update field at {kind_of(key)} index of {kind_of(node)}")

    def _with_element(self, node: list[Value] | None, place: int, value: Value) -> Value:
        node = self._keep([]) if node is None else self._own_copy(node)
        if place < 0:
            place += len(node)
            if place < 0:
                raise JqError("Out of bounds negative array index")
        missing = place - len(node) + 1
        if missing > 0:
            self._run.spend_bytes(missing * 8)
            node.extend([None] * missing)
        node[place] = value
        return node

    def _with_slice(self, node: list[Value], key: dict[str, Value], value: Value) -> Value:
        start, stop = slice_bounds(key, len(node), "array")
        if type(value) is not list:
            raise JqError("A slice of an array can only be assigned another array")
        self._run.spend_copy(len(node) + len(value))
        return self._keep([*node[:start], *value, *node[stop:]])

    def _without(self, node: Value, key: Value) -> Value:
        if node is None:
            return None
        kind = type(key)
        if type(node) is dict:
            if kind is not str:
                raise JqError(f"Cannot delete {kind_of(key)} field of object")
            node = self._own_copy(node)
            node.pop(key, None)
            return node
        if type(node) is not list:
            raise JqError(f"Cannot delete fields from {kind_of(node)}")
        if kind is float:
            place = whole(key)
            start = place + len(node) if place < 0 else place
            stop = start + 1
            if not 0 <= start < len(node):
                return node
        elif kind is dict:
            start, stop = slice_bounds(key, len(node), "array")
        else:
            raise JqError(f"Cannot delete {kind_of(key)} element of array")
        node = self._own_copy(node)
        del node[start:stop]
        return node

    def _own_copy(self, node: Value) -> Value:
        if id(node) in self._own:
            return node
        self._run.spend_copy(len(node))
        return self._keep(node.copy())

    def _keep(self, node: Value) -> Value:
        self._own[id(node)] = node
        return node


def set_path(value: Value, path: Value, new: Value, run: Run) -> Value:
    """The value with something else at a path."""
    draft = Draft(value, run)
    draft.set(path, new)
    return draft.root


def delete_paths(value: Value, paths: Value, run: Run) -> Value:
    """The value without what stands at any of the paths, the last ones first."""
    if type(paths) is not list:
        raise JqError("Paths must be specified as an array")
    ordered = sort_values(paths, run.spend)
    for path in ordered:
        if type(path) is not list:
            raise JqError(f"Path must be specified as array, not {kind_of(path)}")
    draft = Draft(value, run)
    for path in reversed(ordered):
        draft.delete(path)
    return draft.root
