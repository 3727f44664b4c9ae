"""Encoding of objects as Go writes them: fields in Go's order, including those that Go always writes.

Go omits empty values only where its types say so: a struct that is not a pointer is always written (``resources:
{}``, ``status: {}``), a time as ``null``, a quantity as ``"0"``, a list without ``omitempty`` as ``null``. Apply it
to decoded and defaulted objects; custom objects are written unchanged.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, TypeAlias

from simcloud.kubernetes.api.objects import Object
from simcloud.kubernetes.api.resources import Resource
from simcloud.kubernetes.api.schema import builtin
from simcloud.kubernetes.api.schema.go_fields import GoField, fields_of
from simcloud.kubernetes.api.schema.plans import MISSING, zero_of
from simcloud.kubernetes.api.schema.types import Schema

Writer: TypeAlias = Callable[[Any], Any]


def complete(obj: Object, resource: Resource) -> Object:
    """A new object with every field that a genuine server would write, in its order."""
    if resource.custom is not None or not resource.schema.name:
        return obj
    written: Object = _struct_writer(resource.schema.name)(obj)
    return written


def _writer(schema: Schema) -> Writer | None:
    """What writes a value of a type; None where the value is written as it is."""
    if schema.shape == "object":
        return _struct_writer(schema.name)
    if schema.shape == "list":
        inner = _writer(schema.items)
        return (lambda value: [inner(item) for item in value]) if inner else None
    if schema.shape == "map":
        inner_map = _writer(schema.items) or _as_it_is
        return lambda value: {key: inner_map(value[key]) for key in sorted(value)}
    return None


def _as_it_is(value: Any) -> Any:
    return value


@cache
def _struct_writer(name: str) -> Writer:
    """A struct's writer; what it needs of its fields is made when it is first used, as types may be recursive."""
    steps: list[tuple[str, Any, Writer | None]] = []

    def write(value: Any) -> Any:
        if not isinstance(value, dict):
            return value
        if not steps:
            schema = builtin.find_schema(name)
            steps.extend(
                (key, _unset(field_schema, field), _writer(field_schema))
                for key, field in fields_of(schema).items()
                if (field_schema := schema.fields.get(key)) is not None
            )
        result = {}
        for key, unset, writer in steps:
            item = value.get(key, unset)
            if item is MISSING:
                continue
            result[key] = item if writer is None or item is None else writer(item)
        return result

    return write


def _unset(schema: Schema, field: GoField) -> Any:
    """What Go writes for a field that nobody set; ``MISSING`` where it writes nothing."""
    is_struct = schema.shape in ("object", "time", "micro_time", "quantity", "int_or_string", "any")
    if field.omit_zero or (field.omit_empty and (field.pointer or not is_struct)):
        return MISSING
    return None if field.pointer else zero_of(schema)
