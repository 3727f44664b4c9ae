"""The parts of an object's metadata that only the server writes: identity, deletion and generation."""

from __future__ import annotations

from typing import Any

from simcloud.kubernetes.api.objects import Object
from simcloud.kubernetes.api.resources import Resource
from simcloud.kubernetes.api.strategies.registry import keep, take

USER_METADATA = ("labels", "annotations", "finalizers", "ownerReferences")
"""What a user may write in metadata after the creation."""

_ADMISSION = "admissionregistration.k8s.io"
_FLOW = "flowcontrol.apiserver.k8s.io"

_COUNTED: dict[tuple[str, str], tuple[str, ...]] = {
    # The fields whose change counts. PriorityClass has a generation that never changes.
    ("", "Pod"): ("spec",),
    ("", "PodTemplate"): ("template",),
    ("", "ReplicationController"): ("spec",),
    ("apps", "DaemonSet"): ("spec",),
    ("apps", "Deployment"): ("spec", "metadata.annotations"),
    ("apps", "ReplicaSet"): ("spec",),
    ("apps", "StatefulSet"): ("spec",),
    ("batch", "CronJob"): ("spec",),
    ("batch", "Job"): ("spec",),
    ("networking.k8s.io", "Ingress"): ("spec",),
    ("networking.k8s.io", "IngressClass"): ("spec",),
    ("networking.k8s.io", "NetworkPolicy"): ("spec",),
    ("policy", "PodDisruptionBudget"): ("spec",),
    ("discovery.k8s.io", "EndpointSlice"): ("addressType", "endpoints", "ports", "metadata.labels"),
    ("scheduling.k8s.io", "PriorityClass"): (),
    ("apiextensions.k8s.io", "CustomResourceDefinition"): ("spec",),
    (_ADMISSION, "MutatingWebhookConfiguration"): ("webhooks",),
    (_ADMISSION, "ValidatingAdmissionPolicy"): ("spec",),
    (_ADMISSION, "ValidatingAdmissionPolicyBinding"): ("spec",),
    (_ADMISSION, "ValidatingWebhookConfiguration"): ("webhooks",),
    (_FLOW, "FlowSchema"): ("spec",),
    (_FLOW, "PriorityLevelConfiguration"): ("spec",),
}


def clear_system_metadata(obj: Object) -> None:
    """Drop the deletion fields of a new object."""
    metadata = obj.setdefault("metadata", {})
    for field in ("deletionTimestamp", "deletionGracePeriodSeconds", "selfLink"):
        metadata.pop(field, None)


def keep_system_metadata(new: Object, old: Object) -> None:
    """Identity and deletion stay; a writer may leave them out."""
    metadata, before = new.setdefault("metadata", {}), old["metadata"]
    metadata.pop("selfLink", None)
    take(metadata, before, "generation")
    keep(metadata, before, "uid", "creationTimestamp", "deletionGracePeriodSeconds")
    if "deletionTimestamp" in before:
        take(metadata, before, "deletionTimestamp")


def keep_user_metadata(new: Object, old: Object) -> None:
    """A write of a subresource that may not touch labels and the like."""
    take(new["metadata"], old["metadata"], *USER_METADATA)


def start_generation(resource: Resource, obj: Object) -> None:
    """The first generation, for kinds that have one."""
    if resource.custom is not None or (resource.group, resource.kind) in _COUNTED:
        obj["metadata"]["generation"] = 1


def count_generation(resource: Resource, new: Object, old: Object) -> None:
    """One more if something that counts has changed. The new object has the old generation already."""
    if resource.custom is not None:
        changed = _without_metadata(new) != _without_metadata(old)
    else:
        fields = _COUNTED.get((resource.group, resource.kind), ())
        changed = any(_at(new, field) != _at(old, field) for field in fields)
    if changed:
        new["metadata"]["generation"] = old["metadata"].get("generation", 0) + 1


def _without_metadata(obj: Object) -> Object:
    """All of a custom resource but its metadata. A status that is written apart is the old one by now."""
    return {field: value for field, value in obj.items() if field != "metadata"}


def _at(obj: Object, path: str) -> Any:
    value: Any = obj
    for step in path.split("."):
        value = value.get(step) or {}
    return value
