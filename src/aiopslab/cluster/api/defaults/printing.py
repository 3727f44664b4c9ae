"""What Go's types make of empty values: some are always printed, others never.

A genuine server reads JSON into Go structs, stores those and prints them. A plain (not pointer) field that
is empty vanishes, as does an empty list; a nested struct is printed as ``{}`` even if nothing is in it.
``drop_empty`` does the first, ``print_always`` the second, both along the schema of the object.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import cache
from typing import Any

from aiopslab.cluster.api import quantity
from aiopslab.cluster.api.objects import Object
from aiopslab.cluster.api.schema import Schema
from aiopslab.cluster.api.schema.go_fields import GoField, fields_of
from aiopslab.cluster.api.schema.plans import MISSING, zero_of

_NESTED = (dict, list)
_NESTING = ("list", "map")
_MAY_BE_NULL = {
    ("io.k8s.api.discovery.v1.EndpointSlice", "endpoints"),
    ("io.k8s.api.storage.v1.CSINodeSpec", "drivers"),
}
"""Lists that must be there, and that may hold nothing."""
_LEAVES = frozenset({"string", "bytes", "boolean", "integer", "number", "quantity", "int_or_string", "any"})
"""Of maps and lists of these, nothing inside is looked at."""
_SCALARS = ("string", "bytes", "boolean", "integer", "number")


def drop_empty(schema: Schema, obj: Object) -> None:
    """Drop what is empty where storage cannot tell it from nothing; round amounts of resources."""
    _visit(schema, obj, _drop)


def print_always(schema: Schema, obj: Object) -> None:
    """Add the empty parts that a genuine server always prints.

    A list that must be there is left out all the same: its absence is for validation to refuse.
    """
    _visit(schema, obj, _print)


def _visit(schema: Schema, root: Object, change: Callable[[Schema, Object], None]) -> None:
    """Change every object and map in the data, outer ones first, so that new parts are visited too."""
    waiting: list[tuple[Schema, Any]] = [(schema, root)]
    while waiting:
        node, value = waiting.pop()
        shape = node.shape
        if shape == "object" and type(value) is dict:
            change(node, value)
            fields = node.fields
            for key, inner in value.items():
                if type(inner) in _NESTED and (child := fields.get(key)) is not None:
                    waiting.append((child, inner))
        elif shape in _NESTING:
            if shape == "map":
                change(node, value)
            if node.items.shape in _LEAVES:
                continue
            inners = value.values() if type(value) is dict else value
            waiting.extend([(node.items, inner) for inner in inners if type(inner) in _NESTED])


def _drop(schema: Schema, value: Object) -> None:
    if schema.shape == "map":
        if schema.items.shape == "quantity":
            _round(value)
        return
    empty = [field for field, item in value.items() if not item]
    if empty:
        droppable = _droppable(schema)
        for field in empty:
            if field in droppable:
                del value[field]


def _print(schema: Schema, value: Object) -> None:
    if schema.shape == "object":
        for field, empty in _printed(schema):
            if field not in value:
                value[field] = {} if empty == {} else empty


def _round(amounts: Object) -> None:
    """Amounts of resources are counted in thousandths; a finer one is rounded up."""
    for name, text in amounts.items():
        try:
            exact = quantity.parse(text)
            thousandths = quantity.milli(text)
        except ValueError:
            continue
        amounts[name] = (
            quantity.canonical(text)
            if exact * 1000 == thousandths
            else quantity.render(Fraction(thousandths, 1000))
        )


@cache
def _droppable(schema: Schema) -> frozenset[str]:
    """The fields of a struct that vanish when empty."""
    return frozenset(
        name
        for name, field in fields_of(schema).items()
        if (node := schema.fields.get(name)) is not None
        and (node.shape in _NESTING or (node.shape in _SCALARS and field.omit_empty and not field.pointer))
    )


@cache
def _printed(schema: Schema) -> tuple[tuple[str, Any], ...]:
    """The fields of a struct that are printed even if nobody set them, and as what."""
    empties = [
        (name, _empty(node, field))
        for name, field in fields_of(schema).items()
        if (node := schema.fields.get(name)) is not None
    ]
    return tuple(
        (name, empty)
        for name, empty in empties
        if empty is not MISSING
        and (empty is not None or name not in schema.required or (schema.name, name) in _MAY_BE_NULL)
    )


def _empty(schema: Schema, field: GoField) -> Any:
    nullable = field.pointer or schema.shape in (*_NESTING, "bytes")
    if field.omit_zero or (field.omit_empty and (nullable or schema.shape in _SCALARS)):
        return MISSING
    return None if nullable else zero_of(schema)
