"""Structural schemas of custom kinds, from the OpenAPI schema of a CustomResourceDefinition.

``schema_from`` creates the nodes that patches and server-side apply use; ``prune`` drops fields that the schema does
not name; ``apply_crd_defaults`` sets defaults. ``crd_validation`` validates the values.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from simcloud.kubernetes.api.objects import Object, copy
from simcloud.kubernetes.api.schema import builtin
from simcloud.kubernetes.api.schema.plans import Notes, Where, struct_reader
from simcloud.kubernetes.api.schema.types import ANYTHING, Schema, Shape

OpenApi = Mapping[str, Any]
"""A schema in the words of a CustomResourceDefinition's ``openAPIV3Schema``."""

_OBJECT_META = "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"
_SCALARS: Mapping[str, Shape] = {
    "string": "string",
    "integer": "integer",
    "number": "number",
    "boolean": "boolean",
}


def schema_from(openapi: OpenApi) -> Schema:
    """The schema of a custom kind: what is declared, and the fields that every object has."""
    return _node(openapi, whole_object=True)


def _node(openapi: OpenApi, whole_object: bool = False) -> Schema:
    embedded = bool(openapi.get("x-kubernetes-embedded-resource"))
    return Schema(
        _shape(openapi, whole_object),
        description=openapi.get("description", ""),
        format=openapi.get("format", ""),
        required=tuple(openapi.get("required") or ()),
        list_type=openapi.get("x-kubernetes-list-type") or "atomic",
        keys=tuple(openapi.get("x-kubernetes-list-map-keys") or ()),
        atomic=openapi.get("x-kubernetes-map-type") == "atomic",
        embedded=embedded,
        keep_unknown=bool(openapi.get("x-kubernetes-preserve-unknown-fields")),
        _fields=lambda: _fields(openapi, whole_object or embedded),
        _items=lambda: _items(openapi),
    )


def _shape(openapi: OpenApi, whole_object: bool) -> Shape:
    if openapi.get("x-kubernetes-int-or-string"):
        return "int_or_string"
    kind = openapi.get("type", "")
    if kind == "array":
        return "list"
    if kind in _SCALARS:
        return _SCALARS[kind]
    if whole_object or openapi.get("properties") or openapi.get("x-kubernetes-embedded-resource"):
        return "object"
    if openapi.get("additionalProperties"):
        return "map"
    return "object" if kind == "object" else "any"


def _fields(openapi: OpenApi, whole_object: bool) -> dict[str, Schema]:
    fields = {key: _node(field) for key, field in (openapi.get("properties") or {}).items()}
    if whole_object:
        fields |= {
            "apiVersion": Schema("string"),
            "kind": Schema("string"),
            "metadata": builtin.find_schema(_OBJECT_META),
        }
    return fields


def _items(openapi: OpenApi) -> Schema:
    inner = openapi.get("items") or openapi.get("additionalProperties")
    return _node(inner) if isinstance(inner, Mapping) else ANYTHING


def read_metadata(metadata: Any, notes: Notes) -> Object:
    """The metadata of a custom object, which is read as a built-in type. Raises ``Unreadable``."""
    if metadata is None:
        return {}
    read: Object = struct_reader(_OBJECT_META)(metadata, (None, "metadata", ""), notes)
    return read


def prune(obj: Object, schema: Schema, notes: Notes) -> Object:
    """A copy without the fields that the schema does not name; each is noted. Metadata stays as it is."""
    found = Notes()
    result: Object = _prune_value(obj, schema, None, found)
    if isinstance(obj.get("metadata"), dict):
        result["metadata"] = copy(obj["metadata"])
    for problem in sorted(found.problems):
        notes.problems[problem] = None
    return result


def _prune_value(value: Any, schema: Schema, where: Where, notes: Notes) -> Any:
    if isinstance(value, dict):
        if schema.shape == "map":
            items = schema.items
            return {key: _prune_value(item, items, (where, key, ""), notes) for key, item in value.items()}
        if schema.shape == "object" and schema.name != _OBJECT_META:
            return _prune_object(value, schema, where, notes)
    elif isinstance(value, list) and schema.shape == "list":
        items = schema.items
        return [_prune_value(item, items, (where, index, ""), notes) for index, item in enumerate(value)]
    return copy(value)


def _prune_object(value: Object, schema: Schema, where: Where, notes: Notes) -> Object:
    result = {}
    for key, item in value.items():
        field = schema.fields.get(key)
        if field is not None:
            result[key] = _prune_value(item, field, (where, key, ""), notes)
        elif schema.keep_unknown:
            result[key] = copy(item)
        else:
            notes.unknown(where, key)
    return result


def apply_crd_defaults(obj: Object, openapi: OpenApi) -> None:
    """Fill in defaults, in place; ``null`` where none is allowed counts as nothing said."""
    _fill(obj, openapi)


def _fill(value: Any, openapi: OpenApi) -> None:
    if isinstance(value, dict):
        _fill_object(value, openapi)
    elif isinstance(value, list) and isinstance(items := openapi.get("items"), Mapping):
        for index, item in enumerate(value):
            if item is None and "default" in items and not items.get("nullable"):
                value[index] = copy(items["default"])
            _fill(value[index], items)


def _fill_object(value: Object, openapi: OpenApi) -> None:
    properties: Mapping[str, OpenApi] = openapi.get("properties") or {}
    for key, field in properties.items():
        unsaid = key not in value or (value[key] is None and not field.get("nullable"))
        if unsaid and field.get("default") is not None:
            value[key] = copy(field["default"])
        elif unsaid:
            value.pop(key, None)
    others = openapi.get("additionalProperties")
    for key in value:
        inner = properties.get(key) or others
        if isinstance(inner, Mapping):
            if value[key] is None and inner.get("default") is not None and not inner.get("nullable"):
                value[key] = copy(inner["default"])
            _fill(value[key], inner)
