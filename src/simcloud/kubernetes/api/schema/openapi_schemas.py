"""The types in OpenAPI documents: every type that the resources of a group version refer to."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Literal

from simcloud.kubernetes.api.objects import Object
from simcloud.kubernetes.api.schema.builtin import definitions, find_schema
from simcloud.kubernetes.api.schema.go_fields import GoField, fields_of
from simcloud.kubernetes.api.schema.openapi_enums import add_enum
from simcloud.kubernetes.api.schema.plans import zero_of

Edition = Literal["v2", "v3"]
HOME: Mapping[Edition, str] = {"v2": "#/definitions/", "v3": "#/components/schemas/"}
META = "io.k8s.apimachinery.pkg.apis.meta.v1."
_KEPT = ("description", "format", "required", "type", "oneOf")
_SPECIAL: Mapping[Edition, Mapping[str, Object]] = {
    "v2": {
        "io.k8s.apimachinery.pkg.api.resource.Quantity": {"type": "string"},
        "io.k8s.apimachinery.pkg.util.intstr.IntOrString": {"type": "string", "format": "int-or-string"},
    },
    "v3": {
        "io.k8s.apimachinery.pkg.api.resource.Quantity": {"oneOf": [{"type": "string"}, {"type": "number"}]},
        "io.k8s.apimachinery.pkg.util.intstr.IntOrString": {
            "format": "int-or-string",
            "oneOf": [{"type": "integer"}, {"type": "string"}],
        },
    },
}

_CORE = "io.k8s.api.core.v1."
_DEFAULTS: Mapping[tuple[str, str], object] = {
    # where Kubernetes declares another default than the empty value
    (_CORE + "AzureDiskVolumeSource", "cachingMode"): "ReadWrite",
    (_CORE + "AzureDiskVolumeSource", "fsType"): "ext4",
    (_CORE + "AzureDiskVolumeSource", "kind"): "Shared",
    (_CORE + "AzureDiskVolumeSource", "readOnly"): False,
    (_CORE + "ContainerPort", "protocol"): "TCP",
    (_CORE + "GRPCAction", "service"): "",
    (_CORE + "ServicePort", "protocol"): "TCP",
    **{
        (_CORE + kind + source, field): default
        for kind, field, default in (
            ("ISCSI", "iscsiInterface", "default"),
            ("RBD", "keyring", "/etc/ceph/keyring"),
            ("RBD", "pool", "rbd"),
            ("RBD", "user", "admin"),
            ("ScaleIO", "fsType", "xfs"),
            ("ScaleIO", "storageMode", "ThinProvisioned"),
        )
        for source in ("VolumeSource", "PersistentVolumeSource")
    },
}


def schemas_for(roots: Iterable[str], edition: Edition) -> Object:
    """Definitions by name, each with all that it leads to."""
    found: Object = {}
    waiting = list(roots)
    while waiting:
        name = waiting.pop()
        if name in found or name not in definitions():
            continue
        found[name] = _definition(name, edition)
        waiting += _find_references(definitions()[name])
    return {name: found[name] for name in sorted(found)}


def _find_references(node: Any) -> list[str]:
    if isinstance(node, dict):
        here = [node["$ref"]] if isinstance(node.get("$ref"), str) else []
        return here + [name for item in node.values() for name in _find_references(item)]
    return [name for item in node for name in _find_references(item)] if isinstance(node, list) else []


def _definition(name: str, edition: Edition) -> Object:
    definition = definitions()[name]
    special = _SPECIAL[edition].get(name)
    if special is not None:
        return {"description": definition.get("description", ""), **special}
    result = _plain(definition)
    if "properties" in definition:
        schema = find_schema(name)
        fields = fields_of(schema)
        result["properties"] = {
            key: _value(field, edition)
            if edition == "v2"
            else _property((name, key), field, fields[key], zero_of(schema.fields[key]))
            for key, field in sorted(definition["properties"].items())
        }
    return result


def _plain(definition: Mapping[str, Any]) -> Object:
    return {key: value for key, value in definition.items() if key in _KEPT or key.startswith("x-kubernetes")}


def _property(place: tuple[str, str], definition: Mapping[str, Any], field: GoField, zero: Any) -> Object:
    """A field of a struct in edition 3, which tells defaults and the values of enumerations."""
    result = _value(definition, "v3")
    if "$ref" in definition:
        return result if field.pointer else _add_default(definition, result)
    add_enum(result, field.type)
    if place in _DEFAULTS:
        result["default"] = _DEFAULTS[place]
    elif not field.pointer and not field.omit_empty and zero is not None and "items" not in result:
        result["default"] = zero
    return result


def _add_default(definition: Mapping[str, Any], reference: Object) -> Object:
    """A struct that is always there has a default, unless it is a value with a JSON form of its own."""
    if "properties" not in definitions().get(definition["$ref"], {}):
        return reference
    outside = reference if "allOf" in reference else {"allOf": [reference]}
    return {**outside, "default": {}}


def _value(definition: Mapping[str, Any], edition: Edition) -> Object:
    if "$ref" in definition:
        return _reference(definition, edition)
    result = _plain(definition)
    for key in ("items", "additionalProperties"):
        if isinstance(definition.get(key), dict):
            result[key] = _element_schema(definition[key], edition)
    return result


_ZEROS: Mapping[str, object] = {"string": "", "integer": 0, "number": 0, "boolean": False}


def _element_schema(definition: Mapping[str, Any], edition: Edition) -> Object:
    """What a list or a map holds, which is always there."""
    result = _value(definition, edition)
    if edition == "v2":
        return result
    if "$ref" in definition:
        return _add_default(definition, result)
    if definition.get("type") in _ZEROS and definition.get("format") != "byte":
        result["default"] = _ZEROS[definition["type"]]
    return result


def _reference(definition: Mapping[str, Any], edition: Edition) -> Object:
    """A reference; OpenAPI 3 wants what is said beside it to stand outside."""
    reference = {"$ref": HOME[edition] + definition["$ref"]}
    said = _plain(definition)
    if not said:
        return reference
    return {"allOf": [reference], **said} if edition == "v3" else {**reference, **said}


_ONLY_V3 = ("allOf", "anyOf", "oneOf", "not", "nullable")
_OPEN = "x-kubernetes-preserve-unknown-fields"
_CONVENTIONS = "https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md"


def custom_schemas(facts: Mapping[str, Any], edition: Edition) -> Object:
    """The schemas of a custom kind and of its lists; the fields that all objects have are worded as for a Pod."""
    name = custom_name(facts["group"], facts["version"], facts["kind"])
    kind = {"group": facts["group"], "kind": facts["kind"], "version": facts["version"]}
    common = _common(edition)
    return {
        name: {**_custom(facts["openapi"], edition), "x-kubernetes-group-version-kind": [kind]},
        f"{name}List": {
            "description": f"{facts['kind']}List is a list of {facts['kind']}",
            "type": "object",
            "required": ["items"],
            "properties": {
                **common,
                "metadata": _reference({"$ref": META + "ListMeta"}, edition),
                "items": {
                    "description": f"List of {facts['plural']}. More info: {_CONVENTIONS}",
                    "type": "array",
                    "items": {"$ref": HOME[edition] + name},
                },
            },
            "x-kubernetes-group-version-kind": [{**kind, "kind": f"{facts['kind']}List"}],
        },
    }


def _common(edition: Edition) -> Object:
    """The fields of every object."""
    properties = definitions()["io.k8s.api.core.v1.Pod"]["properties"]
    return {key: _value(properties[key], edition) for key in ("apiVersion", "kind", "metadata")}


def _custom(openapi: Object, edition: Edition) -> Object:
    if edition == "v2" and openapi.get(_OPEN):
        return {"type": "object"}
    rendered = _as_v2(openapi) if edition == "v2" else openapi
    rendered = _with_embedded(rendered, edition)
    return {
        **rendered,
        "type": "object",
        "properties": {**(rendered.get("properties") or {}), **_common(edition)},
    }


def _with_embedded(openapi: Object, edition: Edition) -> Object:
    """A declared schema whose embedded objects have the fields of every object."""
    result = _each_inside(openapi, lambda inner: _with_embedded(inner, edition))
    if openapi.get("x-kubernetes-embedded-resource") and not (edition == "v2" and openapi.get(_OPEN)):
        result["properties"] = {**(result.get("properties") or {}), **_common(edition)}
    return result


def _as_v2(openapi: Object) -> Object:
    """A declared schema without the words that edition 2 does not have, and without what old clients choke on.

    They check what has a type, and fail on a list without one for its items; so a value that may be null, and one
    with unknown fields, has none.
    """
    result = _each_inside(openapi, _as_v2)
    fields = openapi.get("properties") or {}
    if any(fields.get(name, {}).get("nullable") for name in openapi.get("required") or ()):
        required = [name for name in openapi["required"] if not fields.get(name, {}).get("nullable")]
        result["required"] = required
    dropped = set(_ONLY_V3)
    if openapi.get("nullable"):
        dropped |= {"type", "items", "properties"}
    if openapi.get(_OPEN):
        dropped |= {"items", "properties"}
        dropped |= {"type"} if openapi.get("type") in ("object", "array") else set()
    return {key: value for key, value in result.items() if key not in dropped}


def _each_inside(openapi: Object, change: Callable[[Object], Object]) -> Object:
    """A copy of a schema with its properties, items and other values changed."""
    result = dict(openapi)
    if isinstance(result.get("properties"), dict):
        result["properties"] = {key: change(field) for key, field in result["properties"].items()}
    for key in ("items", "additionalProperties"):
        if isinstance(result.get(key), dict):
            result[key] = change(result[key])
    return result


def custom_name(group: str, version: str, kind: str) -> str:
    """The name of a custom kind's schema: the group's parts from the end."""
    return ".".join([*reversed(group.split(".")), version, kind])
