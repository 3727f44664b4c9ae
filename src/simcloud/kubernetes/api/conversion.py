"""Conversion of objects between the versions of a kind.

Objects are stored in one version (``STORAGE``) and converted when they are read or written. The versions of a custom
resource differ in apiVersion only. Fields that an older version lacks are kept in annotations, as in Kubernetes.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from simcloud.kubernetes.api.conversion_autoscaling import to_v1, to_v2
from simcloud.kubernetes.api.objects import Object, copy
from simcloud.kubernetes.api.resources import Resource

Conversion: TypeAlias = Callable[[Object], Object]

STORAGE: dict[tuple[str, str], tuple[str, str, str]] = {
    ("autoscaling", "horizontalpodautoscalers"): ("autoscaling", "v2", "horizontalpodautoscalers"),
    ("events.k8s.io", "events"): ("", "v1", "events"),
}
"""The stored form (group, version, plural) of the resources that are not stored as they are served."""

_EVENT_FIELDS = {
    # In core, and in events.k8s.io.
    "involvedObject": "regarding",
    "message": "note",
    "reportingComponent": "reportingController",
    "source": "deprecatedSource",
    "firstTimestamp": "deprecatedFirstTimestamp",
    "lastTimestamp": "deprecatedLastTimestamp",
    "count": "deprecatedCount",
}
_CORE_EVENT_FIELDS = {new: old for old, new in _EVENT_FIELDS.items()}


def convert(obj: Object, resource_to: Resource) -> Object:
    """The object as this resource serves it: a new object, or the same one if it is in that form already."""
    if obj["apiVersion"] == resource_to.api_version:
        return obj
    conversion = _CONVERSIONS.get((obj["apiVersion"], resource_to.api_version, resource_to.kind))
    converted: Object = copy(obj) if conversion is None else conversion(obj)
    converted["apiVersion"] = resource_to.api_version
    return converted


def _to_events_group(event: Object) -> Object:
    renamed = {_EVENT_FIELDS.get(field, field): value for field, value in copy(event).items()}
    # Core always prints these two, the younger group only if there is something to print.
    return {
        field: value
        for field, value in renamed.items()
        if value != "" or field not in ("reportingController", "reportingInstance")
    }


def _to_core_event(event: Object) -> Object:
    renamed = {_CORE_EVENT_FIELDS.get(field, field): value for field, value in copy(event).items()}
    renamed.setdefault("reportingComponent", "")
    renamed.setdefault("reportingInstance", "")
    return renamed


_CONVERSIONS: dict[tuple[str, str, str], Conversion] = {
    ("autoscaling/v1", "autoscaling/v2", "HorizontalPodAutoscaler"): to_v2,
    ("autoscaling/v2", "autoscaling/v1", "HorizontalPodAutoscaler"): to_v1,
    ("v1", "events.k8s.io/v1", "Event"): _to_events_group,
    ("events.k8s.io/v1", "v1", "Event"): _to_core_event,
}
