"""What makes the schema of a CustomResourceDefinition structural.

Every field has a type, and what restricts values (allOf, anyOf, oneOf, not) is kept apart from what gives structure.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from simcloud.golang.regexps import BadRegex, compiled
from simcloud.kubernetes.api.field_errors import forbidden, invalid, required
from simcloud.kubernetes.api.validation.common import Errors, items, mapping, text
from simcloud.kubernetes.api.validation.crd_parts import (
    EMBEDDED,
    INT_OR_STRING,
    LIST_KEYS,
    LIST_TYPE,
    MAP_TYPE,
    PRESERVE,
    RULES,
    Place,
    Schema,
    alternatives,
    item_part,
    named_parts,
    needs_type,
)

_INT_OR_STRING_FORM = [{"type": "integer"}, {"type": "string"}]


_NOT_STRUCTURAL = {
    "type": "must be empty to be structural",
    "additionalProperties": "must be undefined to be structural",
    "default": "must be undefined to be structural",
    "title": "must be empty to be structural",
    "description": "must be empty to be structural",
    "nullable": "must be false to be structural",
    PRESERVE: "must be false to be structural",
    EMBEDDED: "must be false to be structural",
    INT_OR_STRING: "must be false to be structural",
    LIST_KEYS: "must be empty to be structural",
    LIST_TYPE: "must be undefined to be structural",
    MAP_TYPE: "must be undefined to be structural",
    RULES: "must be empty to be structural",
}
"""What may not stand where only values are restricted."""


_UNTYPED = {
    "root": "must not be empty at the root",
    "item": "must not be empty for specified array items",
    "field": "must not be empty for specified object fields",
}


def check_structure(path: str, schema: Schema) -> Errors:
    """What keeps a schema from being structural."""
    return _structure(path, schema) + _completeness(path, schema)


def _structure(path: str, schema: Schema) -> Errors:
    """The rules of types, and of what may stand where."""
    errors: Errors = []
    waiting: list[tuple[str, Schema, str]] = [(path, schema, "root")]
    while waiting:
        place, node, level = waiting.pop()
        errors += _typed(place, node, level)
        errors += _restrictions(place, node)
        for child_place, child in item_part(place, node):
            waiting.append((child_place, child, "item"))
        waiting += [(child_place, child, "field") for child_place, child in named_parts(place, node)]
        if isinstance(node.get("additionalProperties"), dict):
            waiting.append((f"{place}.additionalProperties", node["additionalProperties"], "field"))
    return errors


def _typed(path: str, node: Schema, level: str) -> Errors:
    kind = text(node, "type")
    embedded, either, preserve = (bool(node.get(field)) for field in (EMBEDDED, INT_OR_STRING, PRESERVE))
    errors: Errors = []
    if kind == "array" and not isinstance(node.get("items"), dict):
        errors.append(required(f"{path}.items", "must be specified"))
    if node.get("additionalProperties") is not None:
        if level == "root":
            errors.append(forbidden(f"{path}.additionalProperties", "must not be used at the root"))
        if embedded:
            told = f"must not be used if {EMBEDDED} is set"
            errors.append(forbidden(f"{path}.additionalProperties", told))
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
        told = f"must not be empty if {EMBEDDED} is true without {PRESERVE}"
        errors.append(required(f"{path}.properties", told))
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
    told = {field for field, value in metadata.items() if value} - {"type", "default"}
    if set(mapping(metadata, "properties")) <= {"name", "generateName"}:
        told -= {"properties"}
    if level == "root" and told:
        sentence = (
            "must not specify anything other than name and generateName, but metadata is implicitly specified"
        )
        errors.append(forbidden(place, sentence))
    return errors


def _restrictions(path: str, node: Schema) -> Errors:
    """The rules of what restricts values, below one schema that gives structure."""
    errors = _pattern(path, node)
    waiting = list(_restricting(path, node, free=True))
    while waiting:
        place, nested = waiting.pop()
        errors += [
            forbidden(f"{place}.{field}", told)
            for field, told in _NOT_STRUCTURAL.items()
            if nested.get(field) not in (None, False, "", [], {})
        ]
        if "metadata" in mapping(nested, "properties"):
            told = "must not be specified in a nested context"
            errors.append(forbidden(f"{place}.properties[metadata]", told))
        errors += _pattern(place, nested)
        waiting += _restricting(place, nested, free=False)
        waiting += item_part(place, nested)
        waiting += named_parts(place, nested)
    return errors


def _restricting(path: str, node: Schema, free: bool) -> Iterator[Place]:
    """The alternatives of a schema, but for the one form that may name types: int or string."""
    for place, child in alternatives(path, node):
        plain = free and items(node, "anyOf") == _INT_OR_STRING_FORM and place.startswith(f"{path}.anyOf[")
        if plain:
            continue
        first = place == f"{path}.allOf[0]"
        if free and first and items(child, "anyOf") == _INT_OR_STRING_FORM:
            child = {field: value for field, value in child.items() if field != "anyOf"}
        yield place, child
    if isinstance(node.get("not"), dict):
        yield f"{path}.not", node["not"]


def _pattern(path: str, node: Schema) -> Errors:
    pattern = text(node, "pattern")
    if not pattern:
        return []
    try:
        compiled(pattern)
    except BadRegex as fault:
        told = f"must be a valid regular expression, but isn't: {fault}"
        return [invalid(f"{path}.pattern", pattern, told)]
    return []


def _completeness(path: str, schema: Schema) -> Errors:
    """What the root restricts must also be part of the structure; deeper, nothing is compared."""
    errors: Errors = []
    waiting: list[tuple[str, Schema, str, Any]] = [
        (where, nested, path, schema) for where, nested in _restricting(path, schema, free=False)
    ]
    while waiting:
        where, nested, target, given = waiting.pop()
        if not isinstance(given, dict):
            errors.append(required(target, f"because it is defined in {where}"))
            continue
        waiting += [(deeper, one, target, given) for deeper, one in _restricting(where, nested, free=False)]
        for deeper, one in item_part(where, nested):
            waiting.append((deeper, one, f"{target}.items", given.get("items")))
        for name, child in sorted(mapping(nested, "properties").items()):
            if isinstance(child, dict):
                known, field = mapping(given, "properties").get(name), f"properties[{name}]"
                waiting.append((f"{where}.{field}", child, f"{target}.{field}", known))
    return errors
