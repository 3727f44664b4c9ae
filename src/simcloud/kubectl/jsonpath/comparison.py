"""The comparisons of filters: values of the same type, or an error."""

from __future__ import annotations

from typing import Any

from simcloud.golang import is_int64
from simcloud.kubectl.jsonpath.nodes import JsonPathError


def holds(operator: str, left: Any, right: Any) -> bool:
    """Whether ``left operator right``. JsonPathError if the two do not compare or it is no operator."""
    if operator == "==":
        return _equal(left, right)
    if operator == "!=":
        return not _equal(left, right)
    if operator == "<":
        return _less(left, right)
    if operator == ">":
        return not (_less(left, right) or _equal(left, right))
    if operator == "<=":
        return _less(left, right) or _equal(left, right)
    if operator == ">=":
        return not _less(left, right)
    raise JsonPathError(f"unrecognized filter operator {operator}")


def _kind(value: Any) -> str:
    if isinstance(value, bool):
        return "bool"
    if isinstance(value, int):
        return "int" if is_int64(value) else "float"
    if isinstance(value, float):
        return "float"
    if isinstance(value, str):
        return "string"
    raise JsonPathError("invalid type for comparison")


def _equal(left: Any, right: Any) -> bool:
    if _kind(left) != _kind(right):
        raise JsonPathError("incompatible types for comparison")
    return bool(left == right)


def _less(left: Any, right: Any) -> bool:
    kind = _kind(left)
    if kind != _kind(right):
        raise JsonPathError("incompatible types for comparison")
    if kind == "bool":
        raise JsonPathError("invalid type for comparison")
    return bool(left < right)
