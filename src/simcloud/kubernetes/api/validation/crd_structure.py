"""What makes the schema of a CustomResourceDefinition structural: every field has a type."""

from __future__ import annotations

from simcloud.golang import BadRegex, compile_regexp
from simcloud.kubernetes.api.field_errors import forbidden, invalid, required
from simcloud.kubernetes.api.validation.common import Errors, mapping, text
from simcloud.kubernetes.api.validation.crd_parts import (
    EMBEDDED,
    INT_OR_STRING,
    PRESERVE,
    Schema,
    item_part,
    list_properties,
    needs_type,
)

_UNTYPED = {
    "root": "must not be empty at the root",
    "item": "must not be empty for specified array items",
    "field": "must not be empty for specified object fields",
}


def check_structure(path: str, schema: Schema) -> Errors:
    """What keeps a schema from being structural."""
    errors: Errors = []
    waiting: list[tuple[str, Schema, str]] = [(path, schema, "root")]
    while waiting:
        place, node, level = waiting.pop()
        errors += _check_typed_node(place, node, level)
        errors += _pattern(place, node)
        for child_place, child in item_part(place, node):
            waiting.append((child_place, child, "item"))
        waiting += [(child_place, child, "field") for child_place, child in list_properties(place, node)]
        if isinstance(node.get("additionalProperties"), dict):
            waiting.append((f"{place}.additionalProperties", node["additionalProperties"], "field"))
    return errors


def _check_typed_node(path: str, node: Schema, level: str) -> Errors:
    kind = text(node, "type")
    embedded, either, preserve = (bool(node.get(field)) for field in (EMBEDDED, INT_OR_STRING, PRESERVE))
    errors: Errors = []
    if kind == "array" and not isinstance(node.get("items"), dict):
        errors.append(required(f"{path}.items", "must be specified"))
    if node.get("additionalProperties") is not None:
        if level == "root":
            errors.append(forbidden(f"{path}.additionalProperties", "must not be used at the root"))
        if embedded:
            message = f"must not be used if {EMBEDDED} is set"
            errors.append(forbidden(f"{path}.additionalProperties", message))
    for field, given in ((PRESERVE, preserve), (EMBEDDED, embedded)):
        if either and given:
            errors.append(invalid(f"{path}.{field}", True, f"must be false if {INT_OR_STRING} is true"))
    if embedded and kind != "object":
        errors.append(needs_type(path, kind, "object", f"{EMBEDDED} is true"))
    elif not kind and not either and not preserve:
        errors.append(required(f"{path}.type", _UNTYPED[level]))
    if level == "root" and kind and kind != "object":
        errors.append(invalid(f"{path}.type", kind, "must be object at the root"))
    errors += _own_fields(path, node, level, level == "root" or embedded)
    if embedded and not preserve and not node.get("properties"):
        message = f"must not be empty if {EMBEDDED} is true without {PRESERVE}"
        errors.append(required(f"{path}.properties", message))
    return errors


def _own_fields(path: str, node: Schema, level: str, whole_object: bool) -> Errors:
    """What a schema of a whole object may say of kind, apiVersion and metadata."""
    properties = mapping(node, "properties")
    errors: Errors = []
    for field in ("kind", "apiVersion"):
        kind = text(mapping(properties, field), "type")
        if whole_object and field in properties and kind != "string":
            errors.append(invalid(f"{path}.properties[{field}].type", kind, "must be string"))
    if "metadata" not in properties:
        return errors
    metadata, place = mapping(properties, "metadata"), f"{path}.properties[metadata]"
    if whole_object and text(metadata, "type") != "object":
        errors.append(invalid(f"{place}.type", text(metadata, "type"), "must be object"))
    fields_set = {field for field, value in metadata.items() if value} - {"type", "default"}
    if set(mapping(metadata, "properties")) <= {"name", "generateName"}:
        fields_set -= {"properties"}
    if level == "root" and fields_set:
        sentence = (
            "must not specify anything other than name and generateName, but metadata is implicitly specified"
        )
        errors.append(forbidden(place, sentence))
    return errors


def _pattern(path: str, node: Schema) -> Errors:
    pattern = text(node, "pattern")
    if not pattern:
        return []
    try:
        compile_regexp(pattern)
    except BadRegex as fault:
        message = f"must be a valid regular expression, but isn't: {fault}"
        return [invalid(f"{path}.pattern", pattern, message)]
    return []
