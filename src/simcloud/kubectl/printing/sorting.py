"""``--sort-by``: sorts objects by the value at a path.

Text is compared by characters (``web-10`` before ``web-2``) unless both values are quantities (``100Mi`` before
``1Gi``); times are text that sorts correctly. Objects without the field come first.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache
from typing import Any, TypeVar

from simcloud.golang import go_sorted, quote, type_name
from simcloud.kubectl.errors import PrintError
from simcloud.kubectl.jsonpath import JsonPath, JsonPathError
from simcloud.kubectl.jsonpath.parser import complete_path
from simcloud.kubernetes.api import Object, quantity

_Row = TypeVar("_Row")
_ABSENT = object()


class Unsortable(PrintError):
    """A field of a kind that has no order. The genuine kubectl ends there with a line of its log.

    ``place`` is where in its source; the caller puts date, time and process id before it.
    """

    def __init__(self, place: str, message: str) -> None:
        super().__init__(message)
        self.place = place


class _NoOrder(Exception):
    pass


def sort_objects(objects: Sequence[Object], by: str) -> list[Object]:
    """Objects in order, for every output form but a table. PrintError if there is no such field or order."""
    if not objects:
        return []
    try:
        path = complete_path(by)
        found = [_first(JsonPath(path), obj) for obj in objects]
    except JsonPathError as error:
        raise PrintError(str(error)) from None
    message = f"Field {path} in *unstructured.Unstructured"
    return _sort_rows(objects, found, path, "sorter.go:329", message)


def sort_rows(rows: Sequence[Object], by: str) -> list[Object]:
    """The rows of a server's Table in order; their ``object`` is what the path looks into."""
    if len(rows) < 2:
        return list(rows)
    try:
        path = complete_path(by)
    except JsonPathError:
        path = by
    try:
        parsed = JsonPath(path)
    except JsonPathError as error:
        raise PrintError(f"sorting error: {error}") from None
    try:
        found = [_first(parsed, row.get("object") or {}) for row in rows]
    except JsonPathError as error:
        raise PrintError(f"Failed to get values for [][]reflect.Value(nil) using {path} ({error})") from None
    return _sort_rows(rows, found, path, "sorter.go:375", f"Field {path} in [][][]reflect.Value")


def _first(path: JsonPath, obj: Object) -> Any:
    found = path.find(obj)
    return found[0][0] if found and found[0] else _ABSENT


def _sort_rows(rows: Sequence[_Row], found: list[Any], path: str, place: str, message: str) -> list[_Row]:
    if all(value is _ABSENT for value in found):
        raise PrintError(f"couldn't find any field with path {quote(path)} in the list of objects")
    pairs = list(zip(rows, found, strict=True))
    try:
        return [row for row, _ in go_sorted(pairs, _less_pair)]
    except _NoOrder as error:
        raise Unsortable(place, f"{message} is an unsortable type: interface, err: {error}") from None


def _less_pair(one: tuple[_Row, Any], other: tuple[_Row, Any]) -> bool:
    if one[1] is _ABSENT:
        return True
    return False if other[1] is _ABSENT else _less(one[1], other[1])


def _less(one: Any, other: Any) -> bool:
    if one is None or other is None:
        return one is None and other is not None
    kind = type_name(one)
    if kind not in ("string", "int64", "float64"):
        raise _NoOrder(f"unsortable type: {kind}")
    if kind != type_name(other):
        raise _NoOrder("unsortable interface: interface")
    if kind != "string":
        return bool(one < other)
    amounts = _amount(one), _amount(other)
    if amounts[0] is not None and amounts[1] is not None:
        return amounts[0] < amounts[1]
    return bool(one < other)


@lru_cache(maxsize=1024)
def _amount(text: str) -> Fraction | None:
    try:
        return quantity.parse(text)
    except ValueError:
        return None
