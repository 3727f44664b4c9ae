"""The schemas of the built-in kinds, read from the packed definitions on first use."""

from __future__ import annotations

import gzip
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any

import msgspec

from simcloud.kubernetes.api.schema.types import Schema, Shape

_META = "io.k8s.apimachinery.pkg.apis.meta.v1."
_SPECIAL: dict[str, Shape] = {
    "io.k8s.apimachinery.pkg.api.resource.Quantity": "quantity",
    "io.k8s.apimachinery.pkg.util.intstr.IntOrString": "int_or_string",
    _META + "Time": "time",
    _META + "MicroTime": "micro_time",
    _META + "FieldsV1": "any",
    "io.k8s.apimachinery.pkg.runtime.RawExtension": "any",
    "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSON": "any",
    "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSONSchemaPropsOrArray": "any",
    "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSONSchemaPropsOrBool": "any",
    "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSONSchemaPropsOrStringArray": "any",
}
_SCALARS: dict[str, Shape] = {
    "string": "string",
    "integer": "integer",
    "number": "number",
    "boolean": "boolean",
}


@cache
def definitions() -> Mapping[str, Any]:
    """Every definition as published: fields, descriptions, extensions."""
    packed = (files("simcloud.kubernetes.api") / "data" / "definitions.json.gz").read_bytes()
    loaded: dict[str, Any] = msgspec.json.decode(gzip.decompress(packed))
    return loaded


@cache
def kinds() -> Mapping[tuple[str, str, str], str]:
    """Definition names by (group, version, kind)."""
    return {
        (kind["group"], kind["version"], kind["kind"]): name
        for name, definition in definitions().items()
        for kind in definition.get("x-kubernetes-group-version-kind", ())
    }


def schema_of(group: str, version: str, kind: str) -> Schema | None:
    """The schema of a built-in kind, None if there is no such kind."""
    name = kinds().get((group, version, kind))
    return find_schema(name) if name else None


@cache
def find_schema(name: str) -> Schema:
    """The schema of a definition by its full name."""
    return _node(definitions()[name], name)


def _node(definition: Mapping[str, Any], name: str = "") -> Schema:
    if "$ref" in definition:
        return _resolve_reference(definition)
    shape = _shape(definition, name)
    return Schema(
        shape,
        name=name,
        description=definition.get("description", ""),
        format=definition.get("format", ""),
        required=tuple(definition.get("required", ())),
        list_type=definition.get("x-kubernetes-list-type", "atomic"),
        keys=tuple(definition.get("x-kubernetes-list-map-keys", ())),
        atomic=definition.get("x-kubernetes-map-type") == "atomic",
        patch_strategy=_strategies(definition),
        merge_key=definition.get("x-kubernetes-patch-merge-key", ""),
        embedded=name.endswith("runtime.RawExtension"),
        _fields=lambda: {key: _node(field) for key, field in definition.get("properties", {}).items()},
        _items=lambda: _node(definition.get("items") or definition.get("additionalProperties") or {}),
    )


def _resolve_reference(definition: Mapping[str, Any]) -> Schema:
    """The node that a field refers to; what the field itself says (its own words, its strategy) goes first."""
    target = find_schema(definition["$ref"])
    strategies = _strategies(definition)
    atomic = target.atomic or definition.get("x-kubernetes-map-type") == "atomic"
    said = definition.get("description", "")
    if not said and not strategies and atomic == target.atomic:
        return target
    return Schema(
        target.shape,
        name=target.name,
        description=said or target.description,
        format=target.format,
        required=target.required,
        list_type=target.list_type,
        keys=target.keys,
        atomic=atomic,
        patch_strategy=strategies or target.patch_strategy,
        merge_key=definition.get("x-kubernetes-patch-merge-key", "") or target.merge_key,
        embedded=target.embedded,
        _fields=lambda: target.fields,
        _items=lambda: target.items,
    )


def _strategies(definition: Mapping[str, Any]) -> tuple[str, ...]:
    said: str = definition.get("x-kubernetes-patch-strategy", "")
    return tuple(said.split(",")) if said else ()


def _shape(definition: Mapping[str, Any], name: str) -> Shape:
    if name in _SPECIAL:
        return _SPECIAL[name]
    kind = definition.get("type")
    if kind == "array":
        return "list"
    if kind == "string" and definition.get("format") == "byte":
        return "bytes"
    if kind in _SCALARS:
        return _SCALARS[kind]
    if "properties" in definition:
        return "object"
    if "additionalProperties" in definition:
        return "map"
    return "object" if name else "any"
