"""The OpenAPI documents that clients read, for example kubectl for ``explain`` and validation.

Version 3 has one document per group version and an index with a hash of each; version 2 is a single document for old
clients. A document is created on first use and cached until the served resources or the schemas of custom kinds
change.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from functools import lru_cache
from typing import Any

import msgspec

from simcloud.kubernetes.api.objects import Object, at
from simcloud.kubernetes.api.resources import Catalogue, Resource
from simcloud.kubernetes.api.schema.builtin import kinds
from simcloud.kubernetes.api.schema.openapi_paths import paths_for
from simcloud.kubernetes.api.schema.openapi_schemas import META, Edition, custom_schemas, schemas_for

_VERSION = "v1.36.4"
_SHARED = ("APIResourceList", "DeleteOptions", "ObjectMeta", "Patch", "Status", "WatchEvent")


def index(catalogue: Catalogue) -> Object:
    """What ``/openapi/v3`` answers: every document's address, with a hash that changes when the document does."""
    addresses = {
        path: {"serverRelativeURL": f"/openapi/v3/{path}?hash={_digest(_facts(catalogue, path))}"}
        for path in sorted(_list_documents(catalogue))
    }
    return {"paths": addresses}


def document(catalogue: Catalogue, path: str) -> bytes | None:
    """The document of a group version (``apis/apps/v1``) as JSON; None if nothing is served there."""
    if path not in _list_documents(catalogue):
        return None
    return _render(_facts(catalogue, path), "v3")


def v2(catalogue: Catalogue) -> bytes:
    """The one document of edition 2, ``/openapi/v2``, as JSON."""
    return _render(b"\n".join(_facts(catalogue, path) for path in sorted(_list_documents(catalogue))), "v2")


@lru_cache(maxsize=256)
def _digest(facts: bytes) -> str:
    """The hash of the document made from facts: clients keep a document for ever under this hash."""
    return _hash(_render(facts, "v3"))


def _hash(content: bytes) -> str:
    return hashlib.sha512(content).hexdigest().upper()


def _list_documents(catalogue: Catalogue) -> dict[str, tuple[str, str]]:
    """Paths of documents with the group and version each describes."""
    return {
        f"apis/{group.name}/{version}" if group.name else f"api/{version}": (group.name, version)
        for group in catalogue.groups.values()
        for version in group.versions
    }


def _facts(catalogue: Catalogue, path: str) -> bytes:
    """All that a document depends on, one resource a line."""
    group, version = _list_documents(catalogue)[path]
    lines = (msgspec.json.encode(_resource_facts(resource)) for resource in catalogue.of(group, version))
    return b"\n".join(lines)


def _resource_facts(resource: Resource) -> Object:
    facts: Object = {
        "group": resource.group,
        "version": resource.version,
        "plural": resource.plural,
        "kind": resource.kind,
        "namespaced": resource.namespaced,
        "verbs": resource.verbs,
        "subresources": {
            name: {
                "group": subresource.group,
                "version": subresource.version,
                "kind": subresource.kind,
                "verbs": subresource.verbs,
            }
            for name, subresource in resource.subresources.items()
        },
    }
    if resource.custom is not None:
        facts["openapi"] = _find_declared_schema(resource.custom, resource.version)
    return facts


def _find_declared_schema(definition: Any, version: str) -> Object:
    """The schema that a CustomResourceDefinition declares for a version."""
    for declaration in at(definition, "spec", "versions", default=()):
        if declaration.get("name") == version:
            declared: Object = at(declaration, "schema", "openAPIV3Schema", default={"type": "object"})
            return declared
    return {"type": "object"}


@lru_cache(maxsize=48)
def _render(facts: bytes, edition: Edition) -> bytes:
    resources = [msgspec.json.decode(line) for line in facts.split(b"\n") if line]
    schemas = schemas_for(_roots(resources), edition)
    for resource in resources:
        if "openapi" in resource:
            schemas |= custom_schemas(resource, edition)
    paths = paths_for(resources, edition)
    if edition == "v2":
        info = {"title": "Kubernetes", "version": _VERSION}
        return msgspec.json.encode({"swagger": "2.0", "info": info, "paths": paths, "definitions": schemas})
    info = {"title": "Kubernetes", "version": _VERSION}
    return msgspec.json.encode(
        {"openapi": "3.0.0", "info": info, "paths": paths, "components": {"schemas": schemas}}
    )


def _roots(resources: list[Object]) -> Iterator[str]:
    """The definitions that operations speak of."""
    for resource in resources:
        entries = [resource, *resource["subresources"].values()]
        for entry in entries:
            for kind in (entry["kind"], f"{entry['kind']}List"):
                if name := kinds().get((entry["group"], entry["version"], kind)):
                    yield name
    for shared in _SHARED:
        yield META + shared
