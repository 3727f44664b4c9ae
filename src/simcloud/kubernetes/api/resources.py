"""The catalogue of served resources with their verbs, names and subresources.

Built-in resources come from ``data/resources.json``; custom ones are added and removed with their definitions. A
resource is one group, version and plural: a kind that is served in two versions is two resources with the same
storage version.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from importlib.resources import files
from typing import Any

import msgspec
from msgspec import Struct, field

from simcloud.kubernetes.api.schema.builtin import schema_of
from simcloud.kubernetes.api.schema.types import ANYTHING, Schema


class Subresource(Struct, frozen=True):
    """A part or an action of an object with a path of its own: ``status``, ``scale``, ``exec`` …"""

    name: str
    group: str
    version: str
    kind: str
    verbs: tuple[str, ...]


class Resource(Struct, frozen=True, eq=False):
    """One kind as served in one version."""

    group: str
    version: str
    plural: str
    singular: str
    kind: str
    namespaced: bool
    verbs: tuple[str, ...]
    short_names: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()
    subresources: dict[str, Subresource] = field(default_factory=dict)
    schema: Schema = field(default_factory=lambda: ANYTHING)
    custom: Any = None
    """The CustomResourceDefinition this resource comes from, None for a built-in one."""

    @property
    def api_version(self) -> str:
        """``apps/v1``, or ``v1`` for the core group."""
        return f"{self.group}/{self.version}" if self.group else self.version

    @property
    def list_kind(self) -> str:
        """The kind of a list of these."""
        return f"{self.kind}List"

    @property
    def key(self) -> tuple[str, str]:
        """Group and plural: what RBAC and storage call this resource, whatever its version."""
        return self.group, self.plural

    def __repr__(self) -> str:
        return f"<{self.plural} {self.api_version}>"


class Group(Struct):
    """A group of the API and its versions, the preferred one first."""

    name: str
    versions: list[str]


class Catalogue:
    """Every resource served, by path and by kind. Custom resources are added and removed."""

    def __init__(self) -> None:
        self.groups: dict[str, Group] = {}
        self.stale: dict[tuple[str, str], None] = {}
        """The groups and versions whose own server cannot be reached at present."""
        self._by_path: dict[tuple[str, str, str], Resource] = {}
        self._by_kind: dict[tuple[str, str, str], Resource] = {}
        for resource in _builtin():
            self.add(resource)

    def add(self, resource: Resource) -> None:
        """Serve a resource."""
        group = self.groups.setdefault(resource.group, Group(resource.group, []))
        if resource.version not in group.versions:
            group.versions.append(resource.version)
        self._by_path[resource.group, resource.version, resource.plural] = resource
        self._by_kind[resource.group, resource.version, resource.kind] = resource

    def remove(self, resource: Resource) -> None:
        """Serve it no longer."""
        del self._by_path[resource.group, resource.version, resource.plural]
        del self._by_kind[resource.group, resource.version, resource.kind]
        group = self.groups[resource.group]
        if not any(True for _ in self.of(resource.group, resource.version)):
            group.versions.remove(resource.version)
        if not group.versions:
            del self.groups[resource.group]

    def at(self, group: str, version: str, plural: str) -> Resource | None:
        """The resource of a URL path."""
        return self._by_path.get((group, version, plural))

    def of_kind(self, api_version: str, kind: str) -> Resource | None:
        """The resource of an object's apiVersion and kind."""
        group, _, version = api_version.rpartition("/")
        return self._by_kind.get((group, version, kind))

    def of(self, group: str, version: str) -> Iterator[Resource]:
        """The resources of one group and version, in the order of discovery."""
        for resource in self._by_path.values():
            if resource.group == group and resource.version == version:
                yield resource

    def find(self, plural: str, group: str = "") -> Resource:
        """The resource of a group by its plural, in the group's preferred version. For code inside the cluster."""
        versions = self.groups[group].versions
        return next(
            found
            for version in versions
            if (found := self._by_path.get((group, version, plural))) is not None
        )

    def __iter__(self) -> Iterator[Resource]:
        return iter(self._by_path.values())


@cache
def _builtin() -> tuple[Resource, ...]:
    packed = (files("simcloud.kubernetes.api") / "data" / "resources.json").read_bytes()
    return tuple(
        _read(group["group"], version["version"], entry)
        for group in msgspec.json.decode(packed)
        for version in group["versions"]
        for entry in version["resources"]
    )


def _read(group: str, version: str, entry: Any) -> Resource:
    """A resource from an entry of a discovery document."""
    kind = entry["responseKind"]["kind"]
    return Resource(
        group=group,
        version=version,
        plural=entry["resource"],
        singular=entry["singularResource"],
        kind=kind,
        namespaced=entry["scope"] == "Namespaced",
        verbs=tuple(entry["verbs"]),
        short_names=tuple(entry.get("shortNames", ())),
        categories=tuple(entry.get("categories", ())),
        subresources={
            part["subresource"]: Subresource(
                part["subresource"],
                part["responseKind"]["group"] or group,
                part["responseKind"]["version"] or version,
                part["responseKind"]["kind"],
                tuple(part["verbs"]),
            )
            for part in entry.get("subresources", ())
        },
        schema=schema_of(group, version, kind) or ANYTHING,
    )
