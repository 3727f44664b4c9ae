"""What Go's types make of empty values: some are always printed, others never.

A genuine server reads JSON into Go structs, stores those and prints them. A plain (not pointer) field that
is empty vanishes, as does an empty list; a nested struct is printed as ``{}`` even if nothing is in it.
``drop_empty`` does the first, ``print_always`` the second, both along the schema of the object.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import cache, cached_property
from typing import Any

from simcloud.kubernetes.api import quantity
from simcloud.kubernetes.api.objects import Object
from simcloud.kubernetes.api.schema import Schema
from simcloud.kubernetes.api.schema.go_fields import GoField, fields_of
from simcloud.kubernetes.api.schema.plans import MISSING, zero_of

_NESTED = (dict, list)
_NESTING = ("list", "map")
_MAY_BE_NULL = {("io.k8s.api.discovery.v1.EndpointSlice", "endpoints")}
"""Lists that must be there, and that may hold nothing."""
_SCALARS = ("string", "bytes", "boolean", "integer", "number")


def drop_empty(schema: Schema, obj: Object) -> None:
    """Drop what is empty where storage cannot tell it from nothing; round amounts of resources."""
    _visit(_dropping(schema), obj)


def print_always(schema: Schema, obj: Object) -> None:
    """Add the empty parts that a genuine server always prints.

    A list that must be there is left out all the same: its absence is for validation to refuse.
    """
    _visit(_printing(schema), obj)


class _Visit:
    """What is done with the values of one schema, and which of their parts are visited then."""

    def __init__(
        self, schema: Schema, change: Callable[[Object], None] | None, make: Callable[[Schema], _Visit]
    ) -> None:
        self.schema = schema
        self.is_object = schema.shape == "object"
        self.change = change
        self.make = make

    @cached_property
    def parts(self) -> dict[str, _Visit]:
        """The fields in which there is something to do. Made at first use: schemas may be recursive."""
        fields = {name: self.make(node) for name, node in self.schema.fields.items() if _nests(node)}
        return {name: visit for name, visit in fields.items() if not visit.idle}

    @cached_property
    def items(self) -> _Visit | None:
        """What is done with the items of a list or a map, if anything can be in them."""
        return self.make(self.schema.items) if _nests(self.schema.items) else None

    @property
    def idle(self) -> bool:
        """Whether there is nothing to do: a list or a map whose items hold nothing more."""
        return self.change is None and not self.is_object and not _nests(self.schema.items)


def _nests(schema: Schema) -> bool:
    return schema.shape == "object" or schema.shape in _NESTING


def _visit(first: _Visit, root: Object) -> None:
    """Change every object and map in the data, outer ones first, so that new parts are visited too."""
    waiting: list[tuple[_Visit, Any]] = [(first, root)]
    while waiting:
        visit, value = waiting.pop()
        if visit.is_object:
            if type(value) is not dict:
                continue
            if visit.change is not None:
                visit.change(value)
            parts = visit.parts
            for key, inner in value.items():
                if type(inner) in _NESTED and key in parts:
                    waiting.append((parts[key], inner))
            continue
        if visit.change is not None:
            visit.change(value)
        items = visit.items
        if items is not None:
            inners = value.values() if type(value) is dict else value
            waiting.extend([(items, inner) for inner in inners if type(inner) in _NESTED])


@cache
def _dropping(schema: Schema) -> _Visit:
    if schema.shape == "object":
        droppable = _droppable(schema)

        def drop(value: Object) -> None:
            for field in [field for field, item in value.items() if not item and field in droppable]:
                del value[field]

        return _Visit(schema, drop, _dropping)
    rounds = schema.shape == "map" and schema.items.shape == "quantity"
    return _Visit(schema, _round if rounds else None, _dropping)


@cache
def _printing(schema: Schema) -> _Visit:
    printed = _list_printed_fields(schema) if schema.shape == "object" else ()

    def add(value: Object) -> None:
        for field, empty in printed:
            if field not in value:
                value[field] = {} if empty == {} else empty

    return _Visit(schema, add if printed else None, _printing)


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
def _list_printed_fields(schema: Schema) -> tuple[tuple[str, Any], ...]:
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
