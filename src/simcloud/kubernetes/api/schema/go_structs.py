"""Objects in the order of Go's structs: how kubectl prints what it has read into types of its own."""

from __future__ import annotations

from typing import Any

from simcloud.kubernetes.api.schema.go_fields import fields_of
from simcloud.kubernetes.api.schema.types import Schema


def in_struct_order(value: Any, schema: Schema) -> Any:
    """The same data; fields stand as in the struct, keys of maps by name."""
    if isinstance(value, list):
        return [in_struct_order(item, schema.items) for item in value]
    if not isinstance(value, dict):
        return value
    if schema.shape == "map":
        return {key: in_struct_order(value[key], schema.items) for key in sorted(value)}
    if schema.shape != "object":
        return value
    known = [name for name in fields_of(schema) if name in value]
    ordered = known + sorted(key for key in value if key not in known)
    fields = schema.fields
    return {key: in_struct_order(value[key], fields[key]) if key in fields else value[key] for key in ordered}
