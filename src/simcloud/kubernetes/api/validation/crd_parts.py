"""The parts of a schema inside a CustomResourceDefinition, and where each stands.

Schemas are walked with a list of places still to see, never by recursion, so that no depth of nesting is too deep.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, TypeAlias

from simcloud.kubernetes.api.field_errors import FieldError, invalid, required
from simcloud.kubernetes.api.validation.common import items, mapping

Schema: TypeAlias = dict[str, Any]
Place: TypeAlias = tuple[str, Schema]

EMBEDDED, INT_OR_STRING = "x-kubernetes-embedded-resource", "x-kubernetes-int-or-string"
PRESERVE, RULES = "x-kubernetes-preserve-unknown-fields", "x-kubernetes-validations"


def every_part(path: str, schema: Schema) -> Iterator[Place]:
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
        yield from list_properties(path, node, field)
    yield from alternatives(path, node)
    yield from item_part(path, node)


def list_properties(path: str, node: Schema, field: str = "properties") -> Iterator[Place]:
    """The schemas of an object's fields, by name."""
    for name, child in sorted(mapping(node, field).items()):
        if isinstance(child, dict):
            yield f"{path}.{field}[{name}]", child


def alternatives(path: str, node: Schema) -> Iterator[Place]:
    """What values are to satisfy all, one or any of."""
    for field in ("allOf", "oneOf", "anyOf"):
        for index, child in enumerate(items(node, field)):
            if isinstance(child, dict):
                yield f"{path}.{field}[{index}]", child


def item_part(path: str, node: Schema) -> Iterator[Place]:
    """The schema of an array's items, if there is one."""
    if isinstance(node.get("items"), dict):
        yield f"{path}.items", node["items"]


def needs_type(path: str, kind: str, wanted: str, because: str) -> FieldError:
    """The complaint that a type is missing, or another than something else in the schema wants."""
    message = f"must be {wanted} if {because}"
    return invalid(f"{path}.type", kind, message) if kind else required(f"{path}.type", message)
