"""The rules of a schema inside a CustomResourceDefinition: what it may say, and that it is structural.

Defaults are not compared with the schema here.
"""

from __future__ import annotations

from simcloud.kubernetes.api.field_errors import forbidden, invalid, not_supported, required
from simcloud.kubernetes.api.validation.common import Errors, items, text
from simcloud.kubernetes.api.validation.crd_parts import (
    PRESERVE,
    RULES,
    Schema,
    every_part,
)
from simcloud.kubernetes.api.validation.crd_structure import check_structure

_TYPES = ("array", "boolean", "integer", "number", "object", "string")
_UNSUPPORTED = ("id", "additionalItems", "patternProperties", "definitions", "dependencies", "$ref")


def check_schema(path: str, schema: Schema) -> Errors:
    """The rules of a version's schema."""
    errors: Errors = []
    if schema.get("nullable"):
        errors.append(forbidden(f"{path}.nullable", "nullable cannot be true at the root"))
    for place, node in every_part(path, schema):
        errors += _node(place, node)
    return errors + sorted(check_structure(path, schema), key=str)


def _node(path: str, node: Schema) -> Errors:
    """The rules of any schema, wherever it stands."""
    kind = text(node, "type")
    errors: Errors = [
        forbidden(f"{path}.{field}", f"{field} is not supported") for field in _UNSUPPORTED if node.get(field)
    ]
    if kind == "null":
        message = "type cannot be set to null, use nullable as an alternative"
        errors.append(forbidden(f"{path}.type", message))
    if isinstance(node.get("items"), list):
        errors.append(forbidden(f"{path}.items", "items must be a schema object and not an array"))
    if kind and kind not in _TYPES:
        errors.append(not_supported(f"{path}.type", kind, _TYPES))
    if node.get("uniqueItems"):
        message = "uniqueItems cannot be set to true since the runtime complexity becomes quadratic"
        errors.append(forbidden(f"{path}.uniqueItems", message))
    if node.get("properties") and node.get("additionalProperties") not in (None, True):
        message = "additionalProperties and properties are mutual exclusive"
        errors.append(forbidden(f"{path}.additionalProperties", message))
    if node.get(PRESERVE) is False:
        errors.append(invalid(f"{path}.{PRESERVE}", False, "must be true or undefined"))
    return errors + _rules(path, node)


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
            sentence = "message must be specified if rule contains line breaks"
            errors.append(required(f"{place}.message", sentence))
    return errors
