"""Builds the Table of objects of any kind."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from simcloud.kubernetes.api.errors import BadRequest
from simcloud.kubernetes.api.field_errors import invalid
from simcloud.kubernetes.api.objects import Object
from simcloud.kubernetes.api.tables import (  # noqa: F401  (each module registers its kinds)
    admission,
    batch,
    cluster,
    configuration,
    discovery,
    events,
    metrics,
    networking,
    nodes,
    pods,
    rbac,
    scaling,
    storage,
    workloads,
)
from simcloud.kubernetes.api.tables.cells import name, part
from simcloud.kubernetes.api.tables.custom import custom_kind
from simcloud.kubernetes.api.tables.registry import CREATED_AT, KINDS, NAME, Kind

if TYPE_CHECKING:
    from simcloud.kubernetes.api.resources import Resource

_VERSION = "meta.k8s.io/v1"


def make_table(
    resource: Resource,
    items: list[Object],
    *,
    now_s: float,
    include_object: str = "Metadata",
    list_metadata: Object | None = None,
    headers: bool = True,
) -> Object:
    """The Table of some objects of one resource, as of a time.

    ``list_metadata`` is the metadata of the list they are from; without it the table is of one object and
    has that one's resourceVersion. ``include_object`` is what each row carries: None, Metadata or Object.
    ``headers`` is off for the events of a watch after the first.
    """
    include = include_object or "Metadata"
    if include not in ("None", "Metadata", "Object"):
        fault = invalid("includeObject", include, "must be 'Metadata', 'Object', 'None', or empty")
        raise BadRequest(f"Unable to convert to Table as requested: {fault}")
    kind = _kind(resource, items)
    metadata = _version_of(items) if list_metadata is None else list_metadata
    return {
        "kind": "Table",
        "apiVersion": _VERSION,
        "metadata": metadata,
        "columnDefinitions": (kind.definitions() or None) if headers else None,
        "rows": [
            _row(kind, obj, now_s, include)
            for obj in (sorted(items, key=kind.order) if kind.order else items)
        ],
    }


def _kind(resource: Resource, items: Iterable[Object]) -> Kind:
    if resource.custom is not None:
        return custom_kind(resource)
    if resource.group == metrics.GROUP:
        return metrics.metrics_kind(resource.kind, items)
    return KINDS.get((resource.group, resource.kind), _PLAIN)


def _plain(obj: Object, now_s: float) -> list[Any]:
    return [name(obj), part(obj, "metadata").get("creationTimestamp") or "0001-01-01T00:00:00Z"]


_PLAIN = Kind((NAME, CREATED_AT), _plain)


def _row(kind: Kind, obj: Object, now_s: float, include: str) -> Object:
    row: Object = {"cells": kind.row(obj, now_s)}
    if kind.conditions and (conditions := kind.conditions(obj)):
        row["conditions"] = conditions
    row["object"] = _select_object(obj, include)
    return row


def _select_object(obj: Object, include: str) -> Object | None:
    if include == "Metadata":
        return {
            "kind": "PartialObjectMetadata",
            "apiVersion": _VERSION,
            "metadata": part(obj, "metadata"),
        }
    return obj if include == "Object" else None


def _version_of(items: list[Object]) -> Object:
    version = part(items[0], "metadata").get("resourceVersion") if len(items) == 1 else None
    return {"resourceVersion": version} if version else {}
