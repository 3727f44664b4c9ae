"""How Go names the types of JSON values, for sentences about them."""

from __future__ import annotations

from typing import Any

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
