"""The fields of each kind that field selectors support, and the error for any other field."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from simcloud.kubernetes.api.objects import Object, at

if TYPE_CHECKING:
    from simcloud.kubernetes.api.resources import Resource

_NAME = ("metadata.name",)
_NAMES = ("metadata.name", "metadata.namespace")
_INVOLVED = ("kind", "namespace", "name", "uid", "apiVersion", "resourceVersion", "fieldPath")
_EVENT = (*(f"involvedObject.{part}" for part in _INVOLVED), "reason", "reportingComponent", "source", "type")
_REGARDING = (*(f"regarding.{part}" for part in _INVOLVED), "reason", "reportingController", "type")
_POD = (
    "spec.nodeName", "spec.restartPolicy", "spec.schedulerName", "spec.serviceAccountName", "spec.hostNetwork",
    "status.phase", "status.podIP", "status.podIPs", "status.nominatedNodeName", "spec.host",
)  # fmt: skip
_PLAIN = "field label not supported: {field}"
_SLICE = "field label not supported for {api_version}, Kind=ResourceSlice: {field}"

_FIELDS: Mapping[tuple[str, str], tuple[tuple[str, ...], str]] = {
    ("", "pods"): ((*_NAMES, *_POD), _PLAIN),
    ("", "nodes"): ((*_NAME, "spec.unschedulable"), _PLAIN),
    ("", "replicationcontrollers"): ((*_NAMES, "status.replicas"), _PLAIN),
    ("", "events"): ((*_NAMES, *_EVENT), _PLAIN),
    ("events.k8s.io", "events"): ((*_NAMES, *_REGARDING), _PLAIN),
    ("", "namespaces"): ((*_NAME, "status.phase"), _PLAIN),
    ("", "secrets"): ((*_NAMES, "type"), _PLAIN),
    ("", "services"): ((*_NAMES, "spec.clusterIP", "spec.type"), _PLAIN),
    ("batch", "jobs"): ((*_NAMES, "status.successful"), 'field label "{field}" not supported for Job'),
    ("resource.k8s.io", "resourceslices"): ((*_NAME, "spec.nodeName", "spec.driver"), _SLICE),
}
"""The fields of a resource and its refusal; every other one has ``_NAMES`` and ``_DEFAULT``."""
_DEFAULT = '"{field}" is not a known field selector: only "metadata.name", "metadata.namespace"'


def refusal(resource: Resource, field: str) -> str:
    """What the server says when asked to select by this field; empty if it may be."""
    if resource.custom is not None:
        own = _NAMES if resource.namespaced else _NAME
        fields, template = (*own, *_custom_fields(resource)), _PLAIN
    else:
        fields, template = _FIELDS.get(resource.key, (_NAMES, _DEFAULT))
    return "" if field in fields else template.format(field=field, api_version=resource.api_version)


def field_value(obj: Object, resource: Resource, field: str) -> str:
    """The text that a selector compares; empty for a field that is not set."""
    return field_reader(resource, field)(obj)


def field_reader(resource: Resource, field: str) -> Callable[[Object], str]:
    """What gives that text for any object of a resource."""
    special = _SPECIAL.get((*resource.key, field))
    if special is not None and resource.custom is None:
        return special
    return _plain_reader(field)


@lru_cache(maxsize=256)
def _plain_reader(field: str) -> Callable[[Object], str]:
    path = field.split(".")

    def read(obj: Object) -> str:
        value = at(obj, *path)
        if isinstance(value, str):
            return value
        if isinstance(value, bool):
            return "true" if value else "false"
        return str(value) if isinstance(value, int) else ""

    return read


def _custom_fields(resource: Resource) -> list[str]:
    """The fields that a custom resource's definition declares for this version."""
    for version in at(resource.custom, "spec", "versions", default=[]):
        if version.get("name") == resource.version:
            return [
                selectable.get("jsonPath", "").removeprefix(".")
                for selectable in version.get("selectableFields") or ()
            ]
    return []


def _flag(*path: str) -> Callable[[Object], str]:
    return lambda obj: "true" if at(obj, *path) else "false"


def _count(*path: str) -> Callable[[Object], str]:
    return lambda obj: str(at(obj, *path) or 0)


def _text(*path: str) -> Callable[[Object], str]:
    return lambda obj: str(at(obj, *path) or "")


def _source(obj: Object) -> str:
    found: Any = at(obj, "source", "component") or at(obj, "reportingComponent")
    return str(found or "")


def _regarding(part: str) -> Callable[[Object], str]:
    """A part of what an event is about, whether the event is in the form of the core group or in its own."""
    return lambda obj: str(at(obj, "involvedObject", part) or at(obj, "regarding", part) or "")


def _reporter(obj: Object) -> str:
    return str(obj.get("reportingComponent") or obj.get("reportingController") or "")


_SPECIAL: Mapping[tuple[str, str, str], Callable[[Object], str]] = {
    ("", "pods", "spec.hostNetwork"): _flag("spec", "hostNetwork"),
    ("", "pods", "spec.host"): _text("spec", "nodeName"),
    ("", "pods", "status.podIPs"): lambda obj: "",  # accepted and never set, as in the genuine server
    ("", "nodes", "spec.unschedulable"): _flag("spec", "unschedulable"),
    ("", "replicationcontrollers", "status.replicas"): _count("status", "replicas"),
    ("", "events", "source"): _source,
    ("batch", "jobs", "status.successful"): _count("status", "succeeded"),
    ("events.k8s.io", "events", "reportingController"): _reporter,
    **{("events.k8s.io", "events", f"regarding.{part}"): _regarding(part) for part in _INVOLVED},
}
