"""The OpenAPI documents as kubectl reads them: definitions and references."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import msgspec
from msgspec import Struct

from simcloud.kubernetes.api import Catalogue, Object, Resource
from simcloud.kubernetes.api.schema import openapi

KINDS = "x-kubernetes-group-version-kind"


class Document(Struct, frozen=True):
    """The definitions of one document, by name."""

    schemas: dict[str, Object]

    def resolve(self, schema: Object) -> Object:
        """What a schema says itself, or what it refers to says."""
        name = reference(schema)
        return self.schemas.get(name, schema) if name else schema

    def of(self, resource: Resource) -> Object | None:
        """The definition of a resource's kind."""
        kind = {"group": resource.group, "version": resource.version, "kind": resource.kind}
        return next((schema for schema in self.schemas.values() if kind in (schema.get(KINDS) or ())), None)


def reference(schema: Object) -> str:
    """The name of the definition that a schema refers to, if it does."""
    return str(schema.get("$ref") or "").rpartition("/")[2]


def map_value_schema(schema: Object) -> Object | None:
    """Return the schema of a map's values, if it is known."""
    within: Any = schema.get("additionalProperties")
    return within if isinstance(within, dict) and within else None


def new_edition(catalogue: Catalogue, group: str, version: str) -> Document | None:
    """The document of a group version, of edition 3; None if it is not served."""
    packed = openapi.document(catalogue, f"apis/{group}/{version}" if group else f"api/{version}")
    return None if packed is None else _read(packed)


@lru_cache(maxsize=32)
def _read(packed: bytes) -> Document:
    document: Object = msgspec.json.decode(packed)
    schemas: dict[str, Object] = document.get("definitions") or (document.get("components") or {}).get(
        "schemas", {}
    )
    return Document({name: schemas[name] for name in sorted(schemas)})
