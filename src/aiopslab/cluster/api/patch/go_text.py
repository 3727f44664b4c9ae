"""JSON values as Go prints them (``%v``) and names their types, for sentences that quote them."""

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


def go_value(value: Any) -> str:
    """A value as ``fmt.Sprint`` writes it: ``map[a:1 b:[x y]]``."""
    if value is None:
        return "<nil>"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, dict):
        return f"map[{' '.join(f'{key}:{go_value(value[key])}' for key in sorted(value))}]"
    if isinstance(value, list):
        return f"[{' '.join(go_value(item) for item in value)}]"
    if isinstance(value, float):
        return _go_float(value)
    return str(value)


def _go_float(value: float) -> str:
    """Go writes an exponent from 1e+21 on and below 1e-4, always of two digits or more."""
    if value.is_integer() and abs(value) < 1e21:
        return str(int(value))
    return repr(value)
