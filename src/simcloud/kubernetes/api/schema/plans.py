"""Readers of built-in types: what Go's JSON decoder makes of a value, as functions that are created once per type.

A reader takes a value, its path and the notes of the whole decoding, and returns the value as it would be encoded
again: without unknown fields, and without empty ones where Go omits them. The first value of a wrong type is noted
and decoding continues, as in Go; a type with its own reader (quantities, times) stops it at once with ``Unreadable``.
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any, TypeAlias

from simcloud.golang import quote
from simcloud.kubernetes.api import quantity
from simcloud.kubernetes.api.schema import builtin
from simcloud.kubernetes.api.schema.go_fields import GoField, fields_of, item_type, type_of
from simcloud.kubernetes.api.schema.scalars import (
    Unreadable,
    read_base64,
    read_micro_time,
    read_quantity,
    read_time,
)
from simcloud.kubernetes.api.schema.types import Schema

Where: TypeAlias = "tuple[Where, str | int, str] | None"
"""The way to a value, the last step first: the step, and the struct it is a field of (empty for keys and indices)."""

MAX_PROBLEMS = 100
MISSING: Any = object()


class Notes:
    """What was seen on the way: unknown fields, and the first value of a wrong type."""

    __slots__ = ("conversion_error", "error", "problems")

    def __init__(self) -> None:
        self.problems: dict[str, None] = {}
        self.error = ""
        self.conversion_error = ""
        """The same wrong value in the words of the converter that strategic merge patches go through."""

    def unknown(self, where: Where, key: str) -> None:
        """An unknown field."""
        if len(self.problems) < MAX_PROBLEMS:
            path = path_of(where)
            self.problems[f"unknown field {quote(f'{path}.{key}' if path else key)}"] = None

    def mismatch(self, value: Any, where: Where, go_type: str, kind: str, what: str = "") -> Any:
        """A value of the wrong type: ``kind`` is what Go's reflection calls the type that was wanted."""
        if not self.error:
            self.error = cannot_unmarshal(what or word_for(value), where, go_type)
            self.conversion_error = _cannot_convert(value, kind, go_type)
        return MISSING


Reader: TypeAlias = Callable[[Any, Where, Notes], Any]


def path_of(where: Where) -> str:
    """``spec.containers[0].env`` as the strict decoder prints it."""
    steps: list[str] = []
    while where is not None:
        where, step, _ = where
        steps.append(f"[{step}]" if isinstance(step, int) else f".{step}")
    return "".join(reversed(steps)).removeprefix(".")


def cannot_unmarshal(what: str, where: Where, go_type: str) -> str:
    """Go's sentence for a value of the wrong type: the path names fields only, no keys and no indices."""
    steps: list[str] = []
    struct = ""
    while where is not None:
        where, step, owner = where
        if owner:
            steps.append(str(step))
            struct = struct or owner
    if not steps:
        return f"json: cannot unmarshal {what} into Go value of type {go_type}"
    field = ".".join(reversed(steps))
    return f"json: cannot unmarshal {what} into Go struct field {struct}.{field} of type {go_type}"


def word_for(value: Any) -> str:
    """What Go calls a JSON value."""
    if isinstance(value, bool):
        return "bool"
    if isinstance(value, str):
        return "string"
    if isinstance(value, dict):
        return "object"
    return "array" if isinstance(value, list) else "number"


_KINDS = {bool: "bool", str: "string", int: "int64", float: "float64", list: "slice"}


def _cannot_convert(value: Any, kind: str, go_type: str) -> str:
    if (type(value) is int and kind == "string") or (type(value) is float and kind in ("int32", "int64")):
        return f"cannot convert {_KINDS[type(value)]} to {go_type}"
    if kind == "struct":
        return f"cannot restore struct from: {_KINDS.get(type(value), 'map')}"
    if kind in ("slice", "map"):
        return f"cannot restore {kind} from {_KINDS.get(type(value), 'map')}"
    return f"unrecognized type: {kind}"


def reader_for(schema: Schema, go_type: str) -> Reader:
    """The reader of a type."""
    if schema.name in _BY_NAME:
        return _BY_NAME[schema.name]
    shape = schema.shape
    if shape == "object":
        return struct_reader(schema.name)
    if shape == "list":
        return _list_reader(schema.items, go_type)
    if shape == "map":
        return _map_reader(schema.items, go_type)
    if shape == "integer":
        return _integer_reader(go_type, schema.format)
    if shape in _SCALARS:
        return _SCALARS[shape]
    exact, kind = (str, "string") if shape == "string" else (bool, "bool")
    return lambda value, where, notes: (
        value if type(value) is exact else notes.mismatch(value, where, go_type, kind)
    )


def zero_of(schema: Schema) -> Any:
    """What an empty value of a type is written as; ``null`` in a list or a map becomes this."""
    return {
        "object": {},
        "string": "",
        "bytes": "",
        "integer": 0,
        "number": 0,
        "boolean": False,
        "quantity": "0",
        "int_or_string": 0,
    }.get(schema.shape)


@cache
def struct_reader(name: str) -> Reader:
    """The reader of a struct. What it needs of its fields is made when it is first used: types may be recursive."""
    struct = name.rpartition(".")[2]
    go_type = type_of(builtin.find_schema(name))
    plans: dict[str, _Plan] = {}

    def read(value: Any, where: Where, notes: Notes) -> Any:
        if not isinstance(value, dict):
            return notes.mismatch(value, where, go_type, "struct")
        if not plans:
            plans.update(_plans(name))
        result = {}
        for key, item in value.items():
            plan = plans.get(key)
            if plan is None:
                notes.unknown(where, key)
                continue
            if item is None:
                continue
            exact, keep_empty, reader = plan
            if type(item) is not exact:
                item = reader(item, (where, key, struct), notes)
                if item is MISSING:
                    continue
            if item or keep_empty:
                result[key] = item
        return result

    return read


_Plan: TypeAlias = tuple[type | None, bool, Reader]
_EXACT: Mapping[str, type] = {"string": str, "boolean": bool}


def _plans(name: str) -> dict[str, _Plan]:
    schema = builtin.find_schema(name)
    return {
        key: _plan(schema.fields.get(key) or Schema("string"), field)
        for key, field in fields_of(schema).items()
    }


def _plan(schema: Schema, field: GoField) -> _Plan:
    """How to read a field: the type that needs no reader, whether an empty value is kept, the reader."""
    if schema.shape in ("list", "map"):
        keep_empty = False  # storage knows no difference between an empty list and none
    else:
        keep_empty = (
            field.pointer
            or not field.omit_empty
            or schema.shape not in ("string", "integer", "boolean", "number", "bytes")
        )
    return _EXACT.get(schema.shape), keep_empty, reader_for(schema, field.type)


def _list_reader(items: Schema, go_type: str) -> Reader:
    exact = _EXACT.get(items.shape)
    reader = reader_for(items, item_type(go_type, items))

    def read(value: Any, where: Where, notes: Notes) -> Any:
        if not isinstance(value, list):
            return notes.mismatch(value, where, go_type, "slice")
        result = []
        for index, item in enumerate(value):
            if item is None:
                item = zero_of(items)
            elif type(item) is not exact:
                item = reader(item, (where, index, ""), notes)
                if item is MISSING:
                    continue
            result.append(item)
        return result

    return read


def _map_reader(items: Schema, go_type: str) -> Reader:
    exact = _EXACT.get(items.shape)
    reader = reader_for(items, item_type(go_type, items))

    def read(value: Any, where: Where, notes: Notes) -> Any:
        if not isinstance(value, dict):
            return notes.mismatch(value, where, go_type, "map")
        result = {}
        for key, item in value.items():
            if item is None:
                item = zero_of(items)
            elif type(item) is not exact:
                item = reader(item, (where, key, ""), notes)
                if item is MISSING:
                    continue
            result[key] = item
        return result

    return read


def _integer_reader(go_type: str, format: str) -> Reader:
    limit = 2**31 if format == "int32" else 2**63

    def read(value: Any, where: Where, notes: Notes) -> Any:
        if type(value) is int and -limit <= value < limit:
            return value
        what = f"number {value}" if type(value) in (int, float) else ""
        return notes.mismatch(value, where, go_type, format or "int64", what)

    return read


def _read_number(value: Any, where: Where, notes: Notes) -> Any:
    if type(value) is int and abs(value) < 2**63:
        return value
    if type(value) in (int, float):
        try:
            return int(value) if abs(value) < 1e21 and value == int(value) else float(value)
        except OverflowError:  # more than a float64 can hold
            return notes.mismatch(value, where, "float64", "float64", f"number {value}")
    return notes.mismatch(value, where, "float64", "float64")


def _read_bytes(value: Any, where: Where, notes: Notes) -> Any:
    if isinstance(value, list) and all(type(item) is int and 0 <= item < 256 for item in value):
        return base64.b64encode(bytes(value)).decode()
    if not isinstance(value, str):
        return notes.mismatch(value, where, "[]uint8", "slice")
    try:
        return read_base64(value)
    except Unreadable as fault:
        if not notes.error:
            notes.error = str(fault)
            notes.conversion_error = f"error decoding from json: {fault}"
        return MISSING


def _read_quantity(value: Any, where: Where, notes: Notes) -> Any:
    if isinstance(value, str):
        return read_quantity(value)
    if type(value) is int or type(value) is float:
        return read_quantity(str(value))
    raise Unreadable(quantity.BAD_FORM)


def _read_time(value: Any, where: Where, notes: Notes) -> Any:
    if not isinstance(value, str):
        raise Unreadable(cannot_unmarshal(word_for(value), where, "string"))
    return read_time(value)


def _read_micro_time(value: Any, where: Where, notes: Notes) -> Any:
    if not isinstance(value, str):
        raise Unreadable(cannot_unmarshal(word_for(value), where, "string"))
    return read_micro_time(value)


def _read_int_or_string(value: Any, where: Where, notes: Notes) -> Any:
    if isinstance(value, str) or (type(value) is int and -(2**31) <= value < 2**31):
        return value
    word = f"number {value}" if type(value) in (int, float) else word_for(value)
    raise Unreadable(cannot_unmarshal(word, where, "int32"))


def _read_anything(value: Any, where: Where, notes: Notes) -> Any:
    return value


_SCALARS: Mapping[str, Reader] = {
    "number": _read_number,
    "bytes": _read_bytes,
    "quantity": _read_quantity,
    "time": _read_time,
    "micro_time": _read_micro_time,
    "int_or_string": _read_int_or_string,
    "any": _read_anything,
}

_EXTENSIONS = "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1."


def _read_schema_or(other: Callable[[Any], Any]) -> Reader:
    """A schema where something else may stand too: its own unknown fields go unreported."""

    def read(value: Any, where: Where, notes: Notes) -> Any:
        return _read_schema(value) if isinstance(value, dict) else other(value)

    return read


def _read_schema(value: Any) -> Any:
    inner = Notes()
    result = struct_reader(_EXTENSIONS + "JSONSchemaProps")(value, None, inner)
    if inner.error:
        raise Unreadable(inner.error)
    return result


def _schemas(value: Any) -> Any:
    """Go takes no notice of what is neither a schema nor a list: it reads an empty schema."""
    return [_read_schema(item) for item in value if item is not None] if isinstance(value, list) else {}


def _flag(value: Any) -> Any:
    if value is not None and not isinstance(value, bool):
        raise Unreadable("boolean or JSON schema expected")
    return value


def _texts(value: Any) -> Any:
    for item in value if isinstance(value, list) else ():
        if not isinstance(item, str):
            raise Unreadable(cannot_unmarshal(word_for(item), None, "string"))
    return value if isinstance(value, list) else {}


_BY_NAME: Mapping[str, Reader] = {
    _EXTENSIONS + "JSONSchemaPropsOrArray": _read_schema_or(_schemas),
    _EXTENSIONS + "JSONSchemaPropsOrBool": _read_schema_or(_flag),
    _EXTENSIONS + "JSONSchemaPropsOrStringArray": _read_schema_or(_texts),
}
