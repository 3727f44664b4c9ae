"""What Go's types make of empty values: some are always printed, others never.

A genuine server reads JSON into Go structs, stores those and prints them. A plain (not pointer) field that
is empty vanishes, as does an empty list; a nested struct is printed as ``{}`` even if nothing is in it.
``drop_empty`` does the first, ``print_always`` the second, both along the schema of the object.
"""

from __future__ import annotations

from fractions import Fraction
from functools import cache, cached_property, lru_cache
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
    waiting: list[tuple[_Visit, Any]] = [(_make_visit(schema), obj)]
    while waiting:
        visit, value = waiting.pop()
        if not visit.is_object:
            if visit.rounds:
                _round(value)
            _add_items(waiting, visit, value)
        elif type(value) is dict:
            parts, droppable, dropped = visit.parts, visit.droppable, []
            for key, inner in value.items():
                if not inner:
                    if key in droppable:
                        dropped.append(key)
                elif type(inner) in _NESTED and key in parts:
                    waiting.append((parts[key], inner))
            for key in dropped:
                del value[key]


def round_amounts(schema: Schema, obj: Object) -> None:
    """Round amounts of resources, in an object that has nothing to drop."""
    waiting: list[tuple[_Visit, Any]] = [(_make_visit(schema), obj)] if _has_amounts(schema) else []
    while waiting:
        visit, value = waiting.pop()
        if visit.rounds:
            _round(value)
        elif not visit.is_object:
            _add_items(waiting, visit, value)
        elif type(value) is dict:
            for key, part in visit.parts_with_amounts:
                inner = value.get(key)
                if inner:
                    waiting.append((part, inner))


def print_always(schema: Schema, obj: Object) -> None:
    """Add the empty parts that a genuine server always prints.

    A list that must be there is left out all the same: its absence is for validation to refuse.
    """
    waiting: list[tuple[_Visit, Any]] = [(_make_visit(schema), obj)]
    while waiting:
        visit, value = waiting.pop()
        if not visit.is_object:
            _add_items(waiting, visit, value)
        elif type(value) is dict:
            for field, empty in visit.printed:
                if field not in value:
                    value[field] = {} if empty == {} else empty
            parts = visit.parts
            for key, inner in value.items():
                if type(inner) in _NESTED and key in parts:
                    waiting.append((parts[key], inner))


class _Visit:
    """What is done with the values of one schema, and which of their parts are visited then."""

    def __init__(self, schema: Schema) -> None:
        self.schema = schema
        self.is_object = schema.shape == "object"
        self.rounds = schema.shape == "map" and schema.items.shape == "quantity"
        self.droppable = _droppable(schema) if self.is_object else frozenset()
        self.printed = _list_printed_fields(schema) if self.is_object else ()

    @cached_property
    def parts(self) -> dict[str, _Visit]:
        """The fields in which there is something to do. Made at first use: schemas may be recursive."""
        fields = {name: _make_visit(node) for name, node in self.schema.fields.items() if _nests(node)}
        return {name: visit for name, visit in fields.items() if not visit.idle}

    @cached_property
    def parts_with_amounts(self) -> tuple[tuple[str, _Visit], ...]:
        """The fields below which amounts of resources can be."""
        return tuple((name, visit) for name, visit in self.parts.items() if _has_amounts(visit.schema))

    @cached_property
    def items(self) -> _Visit | None:
        """What is done with the items of a list or a map, if anything can be in them."""
        return _make_visit(self.schema.items) if _nests(self.schema.items) else None

    @property
    def idle(self) -> bool:
        """Whether there is nothing to do: a list or a map whose items hold nothing more."""
        return not self.is_object and not self.rounds and not _nests(self.schema.items)


_make_visit = cache(_Visit)


@cache
def _has_amounts(schema: Schema) -> bool:
    """Whether amounts of resources can be somewhere in a value of a schema."""
    seen, waiting = {schema: None}, [schema]
    while waiting:
        node = waiting.pop()
        if node.shape == "map" and node.items.shape == "quantity":
            return True
        inners = node.fields.values() if node.shape == "object" else [node.items] if _nests(node) else []
        new = dict.fromkeys(inner for inner in inners if inner not in seen)
        seen.update(new)
        waiting.extend(new)
    return False


def _nests(schema: Schema) -> bool:
    return schema.shape == "object" or schema.shape in _NESTING


def _add_items(waiting: list[tuple[_Visit, Any]], visit: _Visit, value: Any) -> None:
    items = visit.items
    if items is not None:
        inners = value.values() if type(value) is dict else value
        waiting.extend([(items, inner) for inner in inners if type(inner) in _NESTED])


def _round(amounts: Object) -> None:
    """Amounts of resources are counted in thousandths; a finer one is rounded up."""
    for name, text in amounts.items():
        try:
            amounts[name] = _round_amount(text)
        except ValueError:
            continue


@lru_cache(maxsize=1024)
def _round_amount(text: str) -> str:
    exact = quantity.parse(text)
    thousandths = quantity.milli(text)
    if exact * 1000 == thousandths:
        return quantity.canonical(text)
    return quantity.render(Fraction(thousandths, 1000))


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
