"""Type checks of an applied configuration, with the messages of server-side apply."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from simcloud.golang import sprint
from simcloud.kubernetes.api.apply.fieldset import format_path
from simcloud.kubernetes.api.apply.shape import Untyped, step_of
from simcloud.kubernetes.api.objects import Object
from simcloud.kubernetes.api.patch.errors import Unclassified, check_depth, go_type
from simcloud.kubernetes.api.schema import Schema

_SCALARS = {"time", "micro_time", "quantity", "int_or_string"}


def check_applied(applied: Object, schema: Schema, object_name: str) -> None:
    """Refuse a configuration with unknown fields, wrong types, or duplicate items.

    ``object_name`` names the object in the refusal: ``demo/web; apps/v1, Kind=Deployment``.
    """
    check_depth(applied)
    complaints = list(_complaints(applied, schema, ()))
    if complaints:
        listed = complaints[0] if len(complaints) == 1 else "\n  ".join(["errors:", *complaints])
        raise Unclassified(f"failed to create typed patch object ({object_name}): {listed}")


def _complaints(value: Any, schema: Schema, path: tuple[str, ...]) -> Iterator[str]:
    if value is None or schema.shape == "any":
        return
    if schema.shape in ("object", "map"):
        yield from _map_complaints(value, schema, path)
    elif schema.shape == "list":
        yield from _list_complaints(value, schema, path)
    elif complaint := _scalar_complaint(value, schema):
        yield f"{format_path(path)}: {complaint}"


def _map_complaints(value: Any, schema: Schema, path: tuple[str, ...]) -> Iterator[str]:
    if not isinstance(value, dict):
        yield f"{format_path(path)}: expected map, got &{{{sprint(value)}}}"
        return
    for name in sorted(value):
        child = schema.child(name)
        if child is not None:
            yield from _complaints(value[name], child, (*path, f"f:{name}"))
        elif not schema.keep_unknown:
            yield f"{format_path((*path, f'f:{name}'))}: field not declared in schema"
            return


def _list_complaints(value: Any, schema: Schema, path: tuple[str, ...]) -> Iterator[str]:
    if not isinstance(value, list):
        yield f"{format_path(path)}: expected list, got &{{{sprint(value)}}}"
        return
    seen: set[str] = set()
    for index, item in enumerate(value):
        step = f"i:{index}"
        if schema.list_type != "atomic":
            try:
                step = step_of(schema, item)
            except Untyped as why:
                yield f"{format_path(path)}: element {index}: {why}"
                return
            if step in seen:
                yield f"{format_path(path)}: duplicate entries for key {format_path((step,))}"
            seen.add(step)
        yield from _complaints(item, schema.items, (*path, step))


def _scalar_complaint(value: Any, schema: Schema) -> str:
    match schema.shape:
        case "integer" | "number":
            wrong = type(value) not in (int, float)
            return f"expected numeric (int or float), got {go_type(value)}" if wrong else ""
        case "boolean":
            return "" if isinstance(value, bool) else f"expected boolean, got {_inner(value)}"
        case "string" | "bytes":
            return "" if isinstance(value, str) else f"expected string, got {_inner(value)}"
    wrong = schema.shape in _SCALARS and isinstance(value, dict | list)
    return f"expected any scalar, got {_inner(value)}" if wrong else ""


def _inner(value: Any) -> str:
    """A value with the Go type that holds it, which the genuine server does not hide."""
    if isinstance(value, str):
        text = msgspec.json.encode(value).decode()
    elif isinstance(value, dict | list):
        text = go_type(value) + "{}" if not value else go_type(value) + sprint(value)
    else:
        text = sprint(value)
    return f"&value.valueUnstructured{{Value:{text}}}"
