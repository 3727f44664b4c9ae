"""Custom resources, served like built-in ones.

A stored CustomResourceDefinition is served at once; its status is set by a second revision, as the genuine
controllers do a moment later. When a definition is deleted, its objects are deleted first.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, Final

from simcloud.kubernetes.api.field_errors import FieldError
from simcloud.kubernetes.api.objects import Object, at, copy
from simcloud.kubernetes.api.resources import Catalogue, Resource, Subresource
from simcloud.kubernetes.api.schema.crd_validation import validate_custom
from simcloud.kubernetes.api.schema.structural import apply_crd_defaults, schema_from
from simcloud.kubernetes.api.store import Key, Revision, RevisionLog

DEFINITIONS: Final = ("apiextensions.k8s.io", "customresourcedefinitions")
VERBS: Final = ("delete", "deletecollection", "get", "list", "patch", "create", "update", "watch")


class CustomResources:
    """Keeps the catalogue in step with the definitions in the log."""

    def __init__(self, log: RevisionLog, catalogue: Catalogue, timestamp: Callable[[], str]) -> None:
        self._log = log
        self._catalogue = catalogue
        self._timestamp = timestamp
        self._served: dict[str, list[Resource]] = {}
        log.listen(*DEFINITIONS, self._follow)

    def storage(self, resource: Resource) -> Resource:
        """The same kind in the version that objects are kept in."""
        served = self._served.get(resource.custom["metadata"]["name"], [])
        versions = resource.custom["spec"]["versions"]
        kept = next((version["name"] for version in versions if version.get("storage")), resource.version)
        return next((candidate for candidate in served if candidate.version == kept), resource)

    def default(self, resource: Resource, obj: Object) -> None:
        """Fill in what the definition's schema gives a default for."""
        if resource.custom is not None:
            apply_crd_defaults(obj, _openapi(resource))

    def validate(self, resource: Resource, obj: Object, old: Object | None) -> list[FieldError]:
        """What the definition's schema finds wrong. Built-in kinds have their own rules."""
        return validate_custom(obj, _openapi(resource), old) if resource.custom is not None else []

    def settle(self, key: Key) -> None:
        """After a write of a definition: set its status to accepted and established."""
        if key[:2] != DEFINITIONS:
            return
        definition = self._log.get(key)
        if definition is None:
            return
        settled: Object = copy(definition)
        settled["status"] = self._status(definition)
        if settled != definition:
            self._log.put(key, settled, "system:apiserver")

    def clear(self, key: Key) -> None:
        """Before a definition is removed: remove all its objects."""
        if key[:2] != DEFINITIONS:
            return
        for resource in self._served.get(key.name, [])[:1]:
            for obj in list(self._log.objects(resource.group, resource.plural)):
                metadata = obj["metadata"]
                place = Key(resource.group, resource.plural, metadata.get("namespace", ""), metadata["name"])
                self._log.remove(place, "system:apiserver")

    def _follow(self, write: Revision) -> None:
        name = write.key.name
        for resource in self._served.pop(name, []):
            self._catalogue.remove(resource)
        if write.change == "DELETED":
            return
        if self._find_conflict(write.object):
            return
        served = [_resource(write.object, version) for version in _by_priority(write.object)]
        for resource in served:
            self._catalogue.add(resource)
        self._served[name] = served

    def _find_conflict(self, definition: Object) -> str:
        """Return a message if another kind of the group already uses a name of the definition, else ""."""
        names = definition["spec"]["names"]
        mine = definition["metadata"]["name"]
        for other in self._catalogue:
            if other.group != definition["spec"]["group"]:
                continue
            if other.custom is not None and other.custom["metadata"]["name"] == mine:
                continue
            if names["plural"] == other.plural:
                return f'"{names["plural"]}" is already in use'
            if names["kind"] in (other.kind, other.list_kind):
                return f'"{names["kind"]}" is already in use'
        return ""

    def _status(self, definition: Object) -> Object:
        old = definition.get("status") or {}
        known = {condition["type"]: condition for condition in old.get("conditions") or []}
        taken = self._find_conflict(definition)
        accepted = (
            ("False", "PluralConflict", taken) if taken else ("True", "NoConflicts", "no conflicts found")
        )
        established = (
            ("False", "NotAccepted", "not all names are accepted")
            if taken
            else ("True", "InitialNamesAccepted", "the initial names have been accepted")
        )
        condition = partial(self._condition, known)
        stored = list(old.get("storedVersions") or [])
        for version in definition["spec"]["versions"]:
            if version.get("storage") and version["name"] not in stored:
                stored.append(version["name"])
        return {
            "acceptedNames": old.get("acceptedNames", {}) if taken else copy(definition["spec"]["names"]),
            "conditions": [condition("NamesAccepted", *accepted), condition("Established", *established)],
            "storedVersions": stored,
        }

    def _condition(
        self, known: dict[str, Object], kind: str, status: str, reason: str, message: str
    ) -> Object:
        before = known.get(kind)
        same = before is not None and before["status"] == status
        since = before["lastTransitionTime"] if before is not None and same else self._timestamp()
        return {
            "lastTransitionTime": since,
            "message": message,
            "reason": reason,
            "status": status,
            "type": kind,
        }


def version_of(resource: Resource) -> Object:
    """The entry of a custom resource's version in its definition."""
    versions = resource.custom["spec"]["versions"]
    found: Object = next(version for version in versions if version["name"] == resource.version)
    return found


def _openapi(resource: Resource) -> Object:
    schema: Object = at(version_of(resource), "schema", "openAPIV3Schema", default={})
    return schema


def _by_priority(definition: Object) -> list[Object]:
    """The served versions, the preferred first: stable ones before betas before alphas, newer first."""
    served = [version for version in definition["spec"]["versions"] if version.get("served")]
    return sorted(served, key=lambda version: _rank(version["name"]))


def _rank(version: str) -> tuple[Any, ...]:
    digits = version[1:].replace("alpha", " 0 ").replace("beta", " 1 ").split()
    if not version.startswith("v") or not digits or not all(part.isdigit() for part in digits):
        return (1, version)
    numbers = [int(part) for part in digits]
    if len(numbers) == 1:
        return (0, 0, -numbers[0], 0)
    major, stage, minor = (*numbers, 0)[:3]
    return (0, 2 - stage, -major, -minor)


def _resource(definition: Object, version: Object) -> Resource:
    spec = definition["spec"]
    names = spec["names"]
    group, kind = spec["group"], names["kind"]
    parts = version.get("subresources") or {}
    offered = {}
    if "status" in parts:
        verbs = ("get", "patch", "update")
        offered["status"] = Subresource("status", group, version["name"], kind, verbs)
    if "scale" in parts:
        offered["scale"] = Subresource("scale", "autoscaling", "v1", "Scale", ("get", "patch", "update"))
    return Resource(
        group=group,
        version=version["name"],
        plural=names["plural"],
        singular=names.get("singular") or kind.lower(),
        kind=kind,
        namespaced=spec["scope"] == "Namespaced",
        verbs=VERBS,
        short_names=tuple(names.get("shortNames") or ()),
        categories=tuple(names.get("categories") or ()),
        subresources=offered,
        schema=schema_from(at(version, "schema", "openAPIV3Schema", default={})),
        custom=definition,
    )
