"""How Go declares the fields of the built-in types, which OpenAPI does not describe.

The table ``data/go_fields.txt`` comes from the types that kubectl v1.36.4 was built with
(``scripts/make_go_fields.py``). Each line is a field, in Go's order: its name, ``?`` if it is omitted when empty,
``!`` if it is omitted when zero, and its type.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any

from msgspec import Struct

from simcloud.kubernetes.api.schema.types import Schema


class GoField(Struct, frozen=True):
    """One field of a struct."""

    type: str
    """The type without its star: ``int32``, ``v1.PodSpec``, ``[]v1.Container``."""
    pointer: bool
    omit_empty: bool
    omit_zero: bool = False


@cache
def table() -> Mapping[str, Mapping[str, GoField]]:
    """Every struct's fields by definition name."""
    structs: dict[str, dict[str, GoField]] = {}
    fields: dict[str, GoField] = {}
    for line in (files("simcloud.kubernetes.api") / "data" / "go_fields.txt").read_text().splitlines():
        if not line.startswith(" "):
            fields = structs.setdefault(line, {})
            continue
        name, written = line.split()
        fields[name.rstrip("?!")] = GoField(
            written.lstrip("*"),
            pointer=written.startswith("*"),
            omit_empty=name.endswith(("?", "!")),
            omit_zero=name.endswith("!"),
        )
    return structs


def fields_of(schema: Schema) -> Mapping[str, GoField]:
    """The Go fields of a struct. A field the table lacks is taken to be as most are: left out when empty."""
    known = table().get(schema.name, {})
    more = {name: _guess(field) for name, field in schema.fields.items() if name not in known}
    return {**known, **more} if more else known


def _guess(field: Schema) -> GoField:
    return GoField(type_of(field), pointer=field.shape == "object", omit_empty=True)


_SCALARS = {"string": "string", "number": "float64", "boolean": "bool", "bytes": "[]uint8"}


def type_of(schema: Schema) -> str:
    """The Go type that most likely stands behind a schema."""
    if schema.name:
        package, _, name = schema.name.rpartition(".")
        return f"{package.rpartition('.')[2]}.{name}"
    if schema.shape == "list":
        return f"[]{type_of(schema.items)}"
    if schema.shape == "map":
        return f"map[string]{type_of(schema.items)}"
    if schema.shape == "integer":
        return schema.format or "int64"
    return _SCALARS.get(schema.shape, "interface {}")


def item_type(written: str, items: Schema) -> str:
    """The type of what a list or map type holds: ``v1.Container`` of ``[]v1.Container``."""
    for opening in ("[]", "map["):
        if written.startswith(opening):
            return written.partition("]")[2].lstrip("*")
    return type_of(items)


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
