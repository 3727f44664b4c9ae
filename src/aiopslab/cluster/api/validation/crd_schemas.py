"""The rules of a schema inside a CustomResourceDefinition: what it may say, and that it is structural.

A structural schema gives every field a type, and keeps what restricts values (allOf, anyOf, oneOf, not)
apart from what gives structure. Schemas are walked with a list of places still to see, never by
recursion, so that no depth of nesting is too deep. Defaults are not compared with the schema here.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, TypeAlias

from aiopslab.cluster.api.field_errors import FieldError, forbidden, invalid, not_supported, required
from aiopslab.cluster.api.validation.common import Errors, items, mapping, text
from aiopslab.cluster.golang.regexps import BadRegex, compiled

Schema: TypeAlias = dict[str, Any]
Place: TypeAlias = tuple[str, Schema]

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
_EMBEDDED, _INT_OR_STRING = "x-kubernetes-embedded-resource", "x-kubernetes-int-or-string"
_PRESERVE, _RULES = "x-kubernetes-preserve-unknown-fields", "x-kubernetes-validations"
_LIST_TYPE, _MAP_TYPE, _LIST_KEYS = (
    *("x-kubernetes-list-type", "x-kubernetes-map-type", "x-kubernetes-list-map-keys"),
)
_INT_OR_STRING_FORM = [{"type": "integer"}, {"type": "string"}]
_NOT_STRUCTURAL = {
    "type": "must be empty to be structural",
    "additionalProperties": "must be undefined to be structural",
    "default": "must be undefined to be structural",
    "title": "must be empty to be structural",
    "description": "must be empty to be structural",
    "nullable": "must be false to be structural",
    _PRESERVE: "must be false to be structural",
    _EMBEDDED: "must be false to be structural",
    _INT_OR_STRING: "must be false to be structural",
    _LIST_KEYS: "must be empty to be structural",
    _LIST_TYPE: "must be undefined to be structural",
    _MAP_TYPE: "must be undefined to be structural",
    _RULES: "must be empty to be structural",
}
"""What may not stand where only values are restricted."""

_UNTYPED = {
    "root": "must not be empty at the root",
    "item": "must not be empty for specified array items",
    "field": "must not be empty for specified object fields",
}


def check_schema(path: str, schema: Schema, with_status: bool) -> Errors:
    """The rules of a version's schema; ``with_status`` if its status is a subresource."""
    errors = _root(path, schema) if with_status else []
    if schema.get("nullable"):
        errors.append(forbidden(f"{path}.nullable", "nullable cannot be true at the root"))
    for place, node in _every(path, schema):
        errors += _node(place, node)
    structural = _structure(path, schema) + _completeness(path, schema)
    return errors + sorted(structural, key=str)


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


def _every(path: str, schema: Schema) -> Iterator[Place]:
    """Every schema within a schema, itself first."""
    waiting: list[Place] = [(path, schema)]
    while waiting:
        place, node = waiting.pop()
        yield place, node
        waiting += reversed(list(_children(place, node)))


def _children(path: str, node: Schema) -> Iterator[Place]:
    for field in ("additionalProperties", "additionalItems", "not"):
        if isinstance(node.get(field), dict):
            yield f"{path}.{field}", node[field]
    for field in ("properties", "patternProperties", "definitions"):
        for name, child in sorted(mapping(node, field).items()):
            if isinstance(child, dict):
                yield f"{path}.{field}[{name}]", child
    yield from _alternatives(path, node)
    yield from _item(path, node)


def _alternatives(path: str, node: Schema) -> Iterator[Place]:
    for field in ("allOf", "oneOf", "anyOf"):
        for index, child in enumerate(items(node, field)):
            if isinstance(child, dict):
                yield f"{path}.{field}[{index}]", child


def _item(path: str, node: Schema) -> Iterator[Place]:
    if isinstance(node.get("items"), dict):
        yield f"{path}.items", node["items"]


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
    if node.get(_PRESERVE) is False:
        errors.append(invalid(f"{path}.{_PRESERVE}", False, "must be true or undefined"))
    errors += _map_type(path, node, kind)
    errors += _list_type(path, node, kind)
    return errors + _rules(path, node)


def _needs_type(path: str, kind: str, wanted: str, because: str) -> FieldError:
    told = f"must be {wanted} if {because}"
    return invalid(f"{path}.type", kind, told) if kind else required(f"{path}.type", told)


def _map_type(path: str, node: Schema, kind: str) -> Errors:
    given = node.get(_MAP_TYPE)
    if given is None:
        return []
    errors: Errors = []
    if kind != "object":
        errors.append(_needs_type(path, kind, "object", f"{_MAP_TYPE} is specified"))
    if given not in ("atomic", "granular"):
        errors.append(not_supported(f"{path}.{_MAP_TYPE}", given, ["atomic", "granular"]))
    return errors


def _list_type(path: str, node: Schema, kind: str) -> Errors:
    given, keys = node.get(_LIST_TYPE), items(node, _LIST_KEYS)
    errors: Errors = []
    if given is not None and kind != "array":
        errors.append(_needs_type(path, kind, "array", f"{_LIST_TYPE} is specified"))
    elif given is not None and given not in ("atomic", "set", "map"):
        errors.append(not_supported(f"{path}.{_LIST_TYPE}", given, ["atomic", "set", "map"]))
    if keys and given != "map":
        told = f"must be map if {_LIST_KEYS} is non-empty"
        place = f"{path}.{_LIST_TYPE}"
        errors.append(required(place, told) if given is None else invalid(place, given, told))
    if given == "map":
        errors += _map_list(path, node, keys)
    if given in ("set", "map") and mapping(node, "items").get("nullable"):
        told = f"cannot be nullable when {_LIST_TYPE} is {given}"
        errors.append(forbidden(f"{path}.items.nullable", told))
    return errors


def _map_list(path: str, node: Schema, keys: list[str]) -> Errors:
    item, place = node.get("items"), f"{path}.{_LIST_KEYS}"
    errors: Errors = [] if keys else [required(place, f"must not be empty if {_LIST_TYPE} is map")]
    if item is None:
        return [*errors, required(f"{path}.items", f"must have a schema if {_LIST_TYPE} is map")]
    if not isinstance(item, dict):
        return errors
    if item.get("type") != "object":
        told = f"must be object if parent array's {_LIST_TYPE} is map"
        return [*errors, invalid(f"{path}.items.type", text(item, "type"), told)]
    for index, key in enumerate(keys):
        errors += _list_key(path, item, keys, index, key)
    return errors


def _list_key(path: str, item: Schema, keys: list[str], index: int, key: str) -> Errors:
    place, field = f"{path}.{_LIST_KEYS}", f"{path}.items.properties[{key}]"
    errors: Errors = []
    child = mapping(item, "properties").get(key)
    because = f"this property is in {_LIST_KEYS}, so it"
    if not isinstance(child, dict):
        errors.append(invalid(place, keys, "entries must all be names of item properties"))
    else:
        if child.get("type") in ("array", "object"):
            told = f"must be a scalar type if parent array's {_LIST_TYPE} is map"
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
    for index, rule in enumerate(items(node, _RULES)):
        place, written, message = f"{path}.{_RULES}[{index}]", text(rule, "rule"), text(rule, "message")
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


def _structure(path: str, schema: Schema) -> Errors:
    """The rules that make a schema structural."""
    errors: Errors = []
    waiting: list[tuple[str, Schema, str]] = [(path, schema, "root")]
    while waiting:
        place, node, level = waiting.pop()
        errors += _typed(place, node, level)
        errors += _restrictions(place, node)
        for child_place, child in _item(place, node):
            waiting.append((child_place, child, "item"))
        for name, child in sorted(mapping(node, "properties").items()):
            if isinstance(child, dict):
                waiting.append((f"{place}.properties[{name}]", child, "field"))
        if isinstance(node.get("additionalProperties"), dict):
            waiting.append((f"{place}.additionalProperties", node["additionalProperties"], "field"))
    return errors


def _typed(path: str, node: Schema, level: str) -> Errors:
    kind = text(node, "type")
    embedded, either, preserve = (bool(node.get(field)) for field in (_EMBEDDED, _INT_OR_STRING, _PRESERVE))
    errors: Errors = []
    if kind == "array" and not isinstance(node.get("items"), dict):
        errors.append(required(f"{path}.items", "must be specified"))
    if node.get("additionalProperties") is not None:
        if level == "root":
            errors.append(forbidden(f"{path}.additionalProperties", "must not be used at the root"))
        if embedded:
            told = f"must not be used if {_EMBEDDED} is set"
            errors.append(forbidden(f"{path}.additionalProperties", told))
    for field, given in ((_PRESERVE, preserve), (_EMBEDDED, embedded)):
        if either and given:
            errors.append(invalid(f"{path}.{field}", True, f"must be false if {_INT_OR_STRING} is true"))
    if embedded and kind != "object":
        errors.append(_needs_type(path, kind, "object", f"{_EMBEDDED} is true"))
    elif not kind and not either and not preserve:
        errors.append(required(f"{path}.type", _UNTYPED[level]))
    if level == "root" and kind and kind != "object":
        errors.append(invalid(f"{path}.type", kind, "must be object at the root"))
    errors += _own_fields(path, node, level, level == "root" or embedded)
    if embedded and not preserve and not node.get("properties"):
        told = f"must not be empty if {_EMBEDDED} is true without {_PRESERVE}"
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
        waiting += _item(place, nested)
        for name, child in sorted(mapping(nested, "properties").items()):
            if isinstance(child, dict):
                waiting.append((f"{place}.properties[{name}]", child))
    return errors


def _restricting(path: str, node: Schema, free: bool) -> Iterator[Place]:
    """The alternatives of a schema, but for the one form that may name types: int or string."""
    for place, child in _alternatives(path, node):
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
        for deeper, one in _item(where, nested):
            waiting.append((deeper, one, f"{target}.items", given.get("items")))
        for name, child in sorted(mapping(nested, "properties").items()):
            if isinstance(child, dict):
                known, field = mapping(given, "properties").get(name), f"properties[{name}]"
                waiting.append((f"{where}.{field}", child, f"{target}.{field}", known))
    return errors
