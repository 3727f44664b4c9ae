"""Type checks of a strategically merged object, with the messages of the genuine server's converter.

The result of a strategic merge patch is not decoded like a body: it is converted to Go's types directly, and a value
of the wrong type is refused with these messages. Go's own string types are called ``string`` here.
"""

from __future__ import annotations

from typing import Any

from simcloud.golang import sprint
from simcloud.kubernetes.api.errors import Invalid
from simcloud.kubernetes.api.field_errors import invalid
from simcloud.kubernetes.api.objects import Object
from simcloud.kubernetes.api.patch.errors import go_kind, go_type
from simcloud.kubernetes.api.schema import Schema

_NUMBERS = (int, float)
_GO_TYPES = {"boolean": "bool", "string": "string"}


def check_types(merged: Object, patch: Object, schema: Schema) -> None:
    """Refuse an object that a strategic merge patch put values of wrong types into."""
    complaint = _complaint(merged, schema)
    if complaint:
        raise Invalid("", "", "", [invalid("patch", sprint(patch), complaint)])


def _complaint(value: Any, schema: Schema) -> str:
    if value is None:
        return ""
    match schema.shape:
        case "object":
            if not isinstance(value, dict):
                return f"cannot restore struct from: {go_kind(value)}"
            known = schema.fields
            return _first(_complaint(value[key], known[key]) for key in known if key in value)
        case "map":
            if not isinstance(value, dict):
                return f"cannot restore map from {go_kind(value)}"
            return _first(_complaint(item, schema.items) for item in value.values())
        case "list":
            if not isinstance(value, list):
                return f"cannot restore slice from {go_kind(value)}"
            return _first(_complaint(item, schema.items) for item in value)
        case "integer" | "number" | "boolean" | "string":
            return _scalar_complaint(value, schema)
    return ""


def _first(complaints: Any) -> str:
    return next(filter(None, complaints), "")


def _scalar_complaint(value: Any, schema: Schema) -> str:
    """Check a scalar as Go does: numbers are converted, integers never become text."""
    found = type(value)
    wanted = _GO_TYPES.get(schema.shape) or _number_type(schema)
    match schema.shape:
        case "integer":
            if found is int or (found is float and value.is_integer()):
                return ""
            return f"cannot convert float64 to {wanted}" if found is float else f"unrecognized type: {wanted}"
        case "number":
            return "" if found in _NUMBERS else f"unrecognized type: {wanted}"
        case "boolean":
            return "" if found is bool else f"unrecognized type: {wanted}"
    if found is str:
        return ""
    return f"cannot convert {go_type(value)} to string" if found is int else "unrecognized type: string"


def _number_type(schema: Schema) -> str:
    if schema.shape == "number":
        return "float32" if schema.format == "float" else "float64"
    return schema.format or "int64"
