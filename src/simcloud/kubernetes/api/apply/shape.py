"""The structure of a value for server-side apply: which parts are merged, and how list items are identified.

Objects and maps are merged by field and lists by item, unless their schema calls them atomic. Without a schema (some
custom resources) the structure is derived from the value: objects are merged, lists are atomic.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from simcloud.kubernetes.api.apply.fieldset import step_of_item, step_of_value
from simcloud.kubernetes.api.resources import Resource
from simcloud.kubernetes.api.schema import Schema
from simcloud.kubernetes.api.schema.builtin import find_schema

DEFAULT_KEYS = {"protocol": "TCP"}
"""Keys of list items that may be left out, and what they then are."""


_TEXT = Schema("string")


class Untyped(Exception):
    """A value cannot be seen as its schema says; the sentence says why."""


@lru_cache(maxsize=1024)
def schema_of_objects(resource: Resource) -> Schema:
    """The schema of whole objects. That of a custom resource may say nothing of what all objects have."""
    schema = resource.schema
    if resource.custom is None:
        return schema
    known = schema.fields if schema.shape == "object" else {}
    metadata = find_schema("io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta")
    return Schema(
        "object",
        name=schema.name,
        keep_unknown=schema.keep_unknown or schema.shape == "any",
        _fields={**known, "apiVersion": _TEXT, "kind": _TEXT, "metadata": metadata},
    )


def walks_fields(schema: Schema | None, value: Any) -> bool:
    """Whether a value is merged field by field."""
    if schema is None or (schema.shape == "any" and schema.keep_unknown):
        return isinstance(value, dict)
    return schema.shape in ("object", "map") and not schema.atomic


def walks_items(schema: Schema | None) -> bool:
    """Whether a value is merged item by item."""
    return schema is not None and schema.shape == "list" and schema.list_type != "atomic"


def field_schema(schema: Schema | None, name: str) -> Schema | None:
    """The schema of a field; None where it must be deduced."""
    return None if schema is None or schema.shape == "any" else schema.child(name)


def is_named(schema: Schema | None, name: str) -> bool:
    """Whether a field is one of a fixed set of names, not a key of a map."""
    return schema is not None and schema.shape == "object" and name in schema.fields


def step_of(schema: Schema, item: Any) -> str:
    """The step that leads to an item of a list that is merged item by item."""
    if schema.list_type == "set" or not schema.keys:
        return _value_step(item)
    if item is None:
        raise Untyped("associative list with keys may not have a null element")
    if not isinstance(item, dict):
        raise Untyped("associative list with keys may not have non-map elements")
    if len(schema.keys) == 1 and isinstance(item.get(schema.keys[0]), str):
        return _text_key_step(schema.keys[0], item[schema.keys[0]])
    values = {key: item.get(key, DEFAULT_KEYS.get(key)) for key in schema.keys}
    values = {key: value for key, value in values.items() if value is not None or key in item}
    if not values:
        key_names = " ".join(f'"{key}"' for key in schema.keys)
        raise Untyped(
            f"associative list with keys has an element that omits all key fields [{key_names}] "
            "(and doesn't have default values for any key fields)"
        )
    return step_of_item(values)


def _value_step(item: Any) -> str:
    if isinstance(item, dict):
        raise Untyped("associative list without keys has an element that's a map type")
    if isinstance(item, list):
        raise Untyped("not supported: associative list with lists as elements")
    if item is None:
        raise Untyped("associative list without keys has an element that's an explicit null")
    return step_of_value(item)


@lru_cache(maxsize=65536)
def _text_key_step(key: str, value: str) -> str:
    return step_of_item({key: value})


def items_by_step(schema: Schema, items: Any) -> dict[str, list[Any]]:
    """The items of a list by their steps; more than one under a step where the list has duplicates."""
    found: dict[str, list[Any]] = {}
    for index, item in enumerate(items if isinstance(items, list) else ()):
        try:
            found.setdefault(step_of(schema, item), []).append(item)
        except Untyped as why:
            raise Untyped(f"element {index}: {why}") from None
    return found
