"""Errors of patches with the API server's messages and codes, and Go's names of JSON types in them."""

from __future__ import annotations

from typing import Any

from simcloud.kubernetes.api.errors import ApiError, BadRequest

MAX_DEPTH = 200
"""How deep an object may be nested. Go reads ten thousand levels, an object of Kubernetes has some thirty."""

_TYPES = {
    str: "string",
    bool: "bool",
    int: "int64",
    float: "float64",
    dict: "map[string]interface {}",
    list: "[]interface {}",
    type(None): "%!s(<nil>)",
}
_KINDS = {str: "string", bool: "bool", int: "int64", float: "float64", dict: "map", list: "slice"}
_JSON_TYPES = {
    str: "string",
    bool: "bool",
    int: "number",
    float: "number",
    dict: "object",
    list: "array",
    type(None): "null",
}


class Unclassified(ApiError):
    """An error that the genuine server did not foresee and therefore sends as it is, without a reason."""

    code, reason = 500, ""


class DoesNotApply(ApiError):
    """The patch is well formed, but this object is not one that it can be applied to."""

    code, reason = 422, "Invalid"

    def __init__(self) -> None:
        super().__init__("the server rejected our request due to an error in our request", {})


def check_depth(value: Any) -> None:
    """Refuse what is nested too deep to be walked."""
    level = [value]
    for _ in range(MAX_DEPTH):
        level = [child for node in level for child in _children(node)]
        if not level:
            return
    raise too_deep()


def too_deep() -> BadRequest:
    """The refusal of what is nested too deep."""
    return BadRequest("error decoding patch: exceeded max depth")


def _children(value: Any) -> list[Any]:
    """The objects and lists right inside a value."""
    inside = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return [child for child in inside if isinstance(child, dict | list)]


def plain_type(value: Any) -> type:
    """A value's own type, where the maps and lists of stored objects count as plain ones."""
    return dict if isinstance(value, dict) else list if isinstance(value, list) else type(value)


def json_type(value: Any) -> str:
    """A value's type as Go's JSON decoder calls it: ``array``."""
    return _JSON_TYPES[plain_type(value)]


def go_type(value: Any) -> str:
    """The Go type that a JSON value decodes to: ``[]interface {}``."""
    return _TYPES[plain_type(value)]


def go_kind(value: Any) -> str:
    """The kind of that type: ``slice``."""
    return _KINDS[plain_type(value)]
