"""``metadata.generation``: which kinds count the changes of what is wanted, and what counts as one."""

from __future__ import annotations

from typing import Any

from simcloud.kubernetes.api.objects import Object
from simcloud.kubernetes.api.resources import Resource

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
