"""The rules of a schema inside a CustomResourceDefinition: what it may say, and that it is structural.

Defaults are not compared with the schema here.
"""

from __future__ import annotations

from simcloud.kubernetes.api.field_errors import forbidden, invalid, not_supported, required
from simcloud.kubernetes.api.validation.common import Errors, items, mapping, text
from simcloud.kubernetes.api.validation.crd_parts import (
    LIST_KEYS,
    LIST_TYPE,
    MAP_TYPE,
    PRESERVE,
    RULES,
    Schema,
    every_part,
    needs_type,
)
from simcloud.kubernetes.api.validation.crd_structure import check_structure

_TYPES = ("array", "boolean", "integer", "number", "object", "string")
_UNSUPPORTED = ("id", "additionalItems", "patternProperties", "definitions", "dependencies", "$ref")
_ROOT_FIELDS = {
    "description": "Description",
    "type": "Type",
    "format": "Format",
    "title": "Title",
    "maximum": "Maximum",
    "exclusiveMaximum": "ExclusiveMaximum",
    "minimum": "Minimum",
    "exclusiveMinimum": "ExclusiveMinimum",
    "maxLength": "MaxLength",
    "minLength": "MinLength",
    "pattern": "Pattern",
    "maxItems": "MaxItems",
    "minItems": "MinItems",
    "uniqueItems": "UniqueItems",
    "multipleOf": "MultipleOf",
    "required": "Required",
    "items": "Items",
    "properties": "Properties",
    "externalDocs": "ExternalDocs",
    "example": "Example",
    "x-kubernetes-preserve-unknown-fields": "XPreserveUnknownFields",
    "x-kubernetes-validations": "XValidations",
}


def check_schema(path: str, schema: Schema, with_status: bool) -> Errors:
    """The rules of a version's schema; ``with_status`` if its status is a subresource."""
    errors = _root(path, schema) if with_status else []
    if schema.get("nullable"):
        errors.append(forbidden(f"{path}.nullable", "nullable cannot be true at the root"))
    for place, node in every_part(path, schema):
        errors += _node(place, node)
    return errors + sorted(check_structure(path, schema), key=str)


def selectable_field(where: str, schema: Schema) -> list[str]:
    """What is wrong with a path to a field that lists can be filtered by."""
    steps, at = where.split("."), schema
    if "[" in where:
        return ["is an invalid path: array notation is not allowed"]
    if steps[0]:
        return [f"is an invalid path: expected [ or . but got: {steps[0]}"]
    for step in steps[1:]:
        known = at.get("properties")
        further = at.get("additionalProperties")
        following = known.get(step) if known is not None else further
        if not step or not isinstance(following, dict):
            return ["is an invalid path: does not refer to a valid field"]
        at = following
    told = ["must not point to fields in metadata"] if steps[1:2] == ["metadata"] else []
    if at.get("type") not in ("string", "boolean", "integer"):
        told.append(
            "must point to a field of type string, boolean or integer. "
            "Enum string fields and strings with formats are allowed."
        )
    return told


def _root(path: str, schema: Schema) -> Errors:
    if schema.get("type") and schema["type"] != "object":
        told = 'only "object" is allowed as the type at the root of the schema if the status subresource is enabled'
        return [invalid(f"{path}.type", schema["type"], told)]
    if all(field in _ROOT_FIELDS for field in schema):
        return []
    allowed = f"[{' '.join(_ROOT_FIELDS.values())}]"
    told = f"only {allowed} fields are allowed at the root of the schema if the status subresource is enabled"
    return [invalid(path, schema, told)]


def _node(path: str, node: Schema) -> Errors:
    """The rules of any schema, wherever it stands."""
    kind = text(node, "type")
    errors: Errors = [
        forbidden(f"{path}.{field}", f"{field} is not supported") for field in _UNSUPPORTED if node.get(field)
    ]
    if kind == "null":
        told = "type cannot be set to null, use nullable as an alternative"
        errors.append(forbidden(f"{path}.type", told))
    if isinstance(node.get("items"), list):
        errors.append(forbidden(f"{path}.items", "items must be a schema object and not an array"))
    if kind and kind not in _TYPES:
        errors.append(not_supported(f"{path}.type", kind, _TYPES))
    if node.get("uniqueItems"):
        told = "uniqueItems cannot be set to true since the runtime complexity becomes quadratic"
        errors.append(forbidden(f"{path}.uniqueItems", told))
    if node.get("properties") and node.get("additionalProperties") not in (None, True):
        told = "additionalProperties and properties are mutual exclusive"
        errors.append(forbidden(f"{path}.additionalProperties", told))
    if node.get(PRESERVE) is False:
        errors.append(invalid(f"{path}.{PRESERVE}", False, "must be true or undefined"))
    errors += _map_type(path, node, kind)
    errors += _list_type(path, node, kind)
    return errors + _rules(path, node)


def _map_type(path: str, node: Schema, kind: str) -> Errors:
    given = node.get(MAP_TYPE)
    if given is None:
        return []
    errors: Errors = []
    if kind != "object":
        errors.append(needs_type(path, kind, "object", f"{MAP_TYPE} is specified"))
    if given not in ("atomic", "granular"):
        errors.append(not_supported(f"{path}.{MAP_TYPE}", given, ["atomic", "granular"]))
    return errors


def _list_type(path: str, node: Schema, kind: str) -> Errors:
    given, keys = node.get(LIST_TYPE), items(node, LIST_KEYS)
    errors: Errors = []
    if given is not None and kind != "array":
        errors.append(needs_type(path, kind, "array", f"{LIST_TYPE} is specified"))
    elif given is not None and given not in ("atomic", "set", "map"):
        errors.append(not_supported(f"{path}.{LIST_TYPE}", given, ["atomic", "set", "map"]))
    if keys and given != "map":
        told = f"must be map if {LIST_KEYS} is non-empty"
        place = f"{path}.{LIST_TYPE}"
        errors.append(required(place, told) if given is None else invalid(place, given, told))
    if given == "map":
        errors += _map_list(path, node, keys)
    if given in ("set", "map") and mapping(node, "items").get("nullable"):
        told = f"cannot be nullable when {LIST_TYPE} is {given}"
        errors.append(forbidden(f"{path}.items.nullable", told))
    return errors


def _map_list(path: str, node: Schema, keys: list[str]) -> Errors:
    item, place = node.get("items"), f"{path}.{LIST_KEYS}"
    errors: Errors = [] if keys else [required(place, f"must not be empty if {LIST_TYPE} is map")]
    if item is None:
        return [*errors, required(f"{path}.items", f"must have a schema if {LIST_TYPE} is map")]
    if not isinstance(item, dict):
        return errors
    if item.get("type") != "object":
        told = f"must be object if parent array's {LIST_TYPE} is map"
        return [*errors, invalid(f"{path}.items.type", text(item, "type"), told)]
    for index, key in enumerate(keys):
        errors += _list_key(path, item, keys, index, key)
    return errors


def _list_key(path: str, item: Schema, keys: list[str], index: int, key: str) -> Errors:
    place, field = f"{path}.{LIST_KEYS}", f"{path}.items.properties[{key}]"
    errors: Errors = []
    child = mapping(item, "properties").get(key)
    because = f"this property is in {LIST_KEYS}, so it"
    if not isinstance(child, dict):
        errors.append(invalid(place, keys, "entries must all be names of item properties"))
    else:
        if child.get("type") in ("array", "object"):
            told = f"must be a scalar type if parent array's {LIST_TYPE} is map"
            errors.append(invalid(f"{field}.type", text(item, "type"), told))
        if key not in items(item, "required") and child.get("default") is None:
            told = f"{because} must have a default or be a required property"
            errors.append(required(f"{field}.default", told))
        if child.get("nullable"):
            errors.append(forbidden(f"{field}.nullable", f"{because} cannot be nullable"))
    if key in keys[:index]:
        errors.append(invalid(place, keys, "must not contain duplicate entries"))
    return errors


def _rules(path: str, node: Schema) -> Errors:
    errors: Errors = []
    for index, rule in enumerate(items(node, RULES)):
        place, written, message = f"{path}.{RULES}[{index}]", text(rule, "rule"), text(rule, "message")
        if not written.strip():
            errors.append(required(f"{place}.rule", "rule is not specified"))
        if message and not message.strip():
            errors.append(invalid(f"{place}.message", message, "message must be non-empty if specified"))
        elif "\n" in message.strip():
            errors.append(invalid(f"{place}.message", message, "message must not contain line breaks"))
        elif "\n" in written.strip() and not message.strip():
            told = "message must be specified if rule contains line breaks"
            errors.append(required(f"{place}.message", told))
    return errors
