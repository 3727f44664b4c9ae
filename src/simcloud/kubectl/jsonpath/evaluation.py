"""Evaluates a JSONPath template on an object.

``range`` and ``end`` are ordinary steps, and counters of open ranges make loops of them; so a missing ``end`` repeats
the rest of the template, as in the genuine one. The number of steps is limited, since every range may multiply them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from simcloud.golang import format_json, quote, sprint, syntax, type_name
from simcloud.kubectl.jsonpath.comparison import holds
from simcloud.kubectl.jsonpath.nodes import (
    Branch,
    Descent,
    Field,
    Filter,
    Identifier,
    JsonPathError,
    Node,
    Number,
    Panic,
    Slice,
    Text,
    Truth,
    Union,
    Wildcard,
)
from simcloud.kubectl.jsonpath.parser import parse

MOST_STEPS = 1_000_000
"""Values a template may touch in all."""
MOST_CHARACTERS = 64_000_000
"""Characters a template may print."""
MOST_RANGES = 100
"""Ranges inside each other."""

_ABSENT = object()
"""What a range over nothing runs its body with."""


class JsonPath:
    """A parsed template. JsonPathError if it cannot be read."""

    def __init__(self, template: str, *, allow_missing: bool = True) -> None:
        self.template = template
        self._nodes = parse(template)
        self._allow_missing = allow_missing

    def find(self, data: Any) -> list[list[Any]]:
        """The values each part of the template finds."""
        return _Run(self._nodes, self._allow_missing).find(data, 0)

    def text(self, data: Any, *, as_json: bool = False) -> str:
        """What the template prints of an object. ``as_json`` prints each part as an indented JSON list."""
        parts: list[str] = []
        characters = 0
        for values in self.find(data):
            for place, value in enumerate([values] if as_json else values):
                text = format_json(value, indent=4) + "\n" if as_json else format_value(value)
                parts.append(f" {text}" if place else text)
                characters += len(text)
                if characters > MOST_CHARACTERS:
                    raise JsonPathError(f"the template prints more than {MOST_CHARACTERS} characters")
        return "".join(parts)

    def evaluate_with_details(self, data: Any, *, as_json: bool = False) -> str:
        """Return the text; an error names the template and the object, as that of ``kubectl get`` does."""
        try:
            return self.text(data, as_json=as_json)
        except Panic:
            raise
        except JsonPathError as error:
            raise JsonPathError(
                f"error executing jsonpath {quote(self.template)}: Error executing template: {error}. "
                "Printing more information for debugging the template:\n"
                f"\ttemplate was:\n\t\t{self.template}\n"
                f"\tobject given to jsonpath engine was:\n\t\t{syntax(data)}\n\n\n"
            ) from None


def format_value(value: Any) -> str:
    """Format a value as a template prints it: lists, maps and null as JSON."""
    if isinstance(value, str):
        return value
    return format_json(value) if value is None or isinstance(value, (dict, list)) else sprint(value)


class _Run:
    def __init__(self, nodes: list[Node], allow_missing: bool) -> None:
        self._nodes = nodes
        self._allow_missing = allow_missing
        self._begun = self._inside = self._ended = 0
        self._last_end = -1
        self._steps = 0

    def find(self, data: Any, start: int) -> list[list[Any]]:
        full: list[list[Any]] = []
        place = start
        while place < len(self._nodes):
            results = self._walk([data], self._nodes[place])
            if 0 < self._ended <= self._inside:
                self._ended -= 1
                self._last_end = place
                break
            if self._begun > 0:
                full += self._range(results, place + 1)
                place = max(place, self._last_end)
            else:
                full.append(results)
            place += 1
        return full

    def _range(self, results: list[Any], body: int) -> list[list[Any]]:
        self._begun -= 1
        self._inside += 1
        if self._inside > MOST_RANGES:
            raise JsonPathError(f"more than {MOST_RANGES} ranges inside each other")
        full: list[list[Any]] = []
        if results:
            for value in results:
                full += self.find(value, body)
        else:
            self.find(_ABSENT, body)
        self._inside -= 1
        return full

    def _walk(self, values: list[Any], node: Node) -> list[Any]:
        walk: Callable[[list[Any], Any], list[Any]] = _WALKS[type(node)].__get__(self)
        results = walk(values, node)
        self._count(len(results))
        return results

    def _count(self, more: int) -> None:
        self._steps += more + 1
        if self._steps > MOST_STEPS:
            raise JsonPathError(f"the template touches more than {MOST_STEPS} values")

    def _branch(self, values: list[Any], node: Branch) -> list[Any]:
        for step in node.nodes:
            values = self._walk(values, step)
        return values

    def _text(self, values: list[Any], node: Text) -> list[Any]:
        return [node.text]

    def _literal(self, values: list[Any], node: Number | Truth) -> list[Any]:
        return [node.value] * len(values)

    def _identifier(self, values: list[Any], node: Identifier) -> list[Any]:
        if node.name == "range":
            self._begun += 1
            return values
        if node.name != "end":
            raise JsonPathError(f"unrecognized identifier {node.name}")
        if not self._inside:
            raise JsonPathError("not in range, nothing to end")
        self._ended += 1
        return []

    def _field(self, values: list[Any], node: Field) -> list[Any]:
        name = node.name
        found = [value[name] for value in values if isinstance(value, dict) and name in value]
        if values and not found and not self._allow_missing:
            raise JsonPathError(f"{name} is not found")
        return found

    def _slice(self, values: list[Any], node: Slice) -> list[Any]:
        found: list[Any] = []
        for value in values:
            if value is None:
                continue
            if value is _ABSENT:
                raise Panic("reflect: call of reflect.Value.Type on zero Value")
            if not isinstance(value, list):
                raise JsonPathError(f"{type_name(value)} is not array or slice")
            length = len(value)
            start = _from_end(node.start or 0, length)
            stop = length if node.stop is None else node.stop
            if stop < 0 or (stop == 0 and node.single):
                stop += length
            if start == stop:
                return found
            _check_bounds(start, stop, length)
            if node.step is not None and node.step <= 0:
                raise JsonPathError("step must be > 0")
            found += value[start : stop : node.step or 1]
        return found

    def _union(self, values: list[Any], node: Union) -> list[Any]:
        return [value for branch in node.branches for value in self._branch(values, branch)]

    def _wildcard(self, values: list[Any], node: Wildcard) -> list[Any]:
        return [inner for value in values for inner in _inside(value)]

    def _descent(self, values: list[Any], node: Descent) -> list[Any]:
        found: list[Any] = []
        for value in values:
            if isinstance(value, str) and value:
                found.append(value)  # its bytes hold nothing themselves
            elif inner := _inside(value):
                found.append(value)
                self._count(len(inner))
                found += self._descent(inner, node)
        return found

    def _filter(self, values: list[Any], node: Filter) -> list[Any]:
        found: list[Any] = []
        for value in values:
            if not isinstance(value, list):
                shown = "<invalid reflect.Value>" if value is _ABSENT else sprint(value)
                raise JsonPathError(f"{shown} is not array or slice and cannot be filtered")
            found += [item for item in value if self._passes(item, node)]
        return found

    def _passes(self, item: Any, node: Filter) -> bool:
        if node.operator == "exists":
            return self._exists(item, node.left)
        lefts = self._branch([item], node.left)
        if not lefts:
            return False
        if len(lefts) > 1:
            raise JsonPathError("can only compare one element at a time")
        rights = self._branch([item], node.right)
        if not rights:
            return False
        if len(rights) > 1:
            raise JsonPathError("can only compare one element at a time")
        return holds(node.operator, lefts[0], rights[0])

    def _exists(self, item: Any, branch: Branch) -> bool:
        """Whether a walk finds anything: one that fails half-way has what it had before the failing step."""
        values = [item]
        for step in branch.nodes:
            try:
                values = self._walk(values, step)
            except Panic:
                raise
            except JsonPathError:
                return bool(values) and not isinstance(step, Field)
        return bool(values)


_WALKS: dict[type, Callable[..., list[Any]]] = {
    Branch: _Run._branch,
    Text: _Run._text,
    Number: _Run._literal,
    Truth: _Run._literal,
    Identifier: _Run._identifier,
    Field: _Run._field,
    Slice: _Run._slice,
    Union: _Run._union,
    Wildcard: _Run._wildcard,
    Descent: _Run._descent,
    Filter: _Run._filter,
}


def _inside(value: Any) -> list[Any]:
    """What a value holds directly: of a string, its bytes."""
    if isinstance(value, dict):
        return [value[key] for key in sorted(value)]
    if isinstance(value, str):
        return list(value.encode("utf-8", "surrogateescape"))
    return value if isinstance(value, list) else []


def _from_end(index: int, length: int) -> int:
    return index + length if index < 0 else index


def _check_bounds(start: int, stop: int, length: int) -> None:
    if start >= length or start < 0:
        raise JsonPathError(f"array index out of bounds: index {start}, length {length}")
    if stop > length or stop < 0:
        raise JsonPathError(f"array index out of bounds: index {stop - 1}, length {length}")
    if start > stop:
        raise JsonPathError(f"starting index {start} is greater than ending index {stop}")
