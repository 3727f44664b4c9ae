"""The zero value of a kind: its empty Go struct as JSON.

The first manager of an object owns what differs from this. Fields that Go always writes (struct values, required
fields) exist before, so the manager owns their content, not the fields themselves.
"""

from __future__ import annotations

from typing import Any

from simcloud.kubernetes.api.objects import Object
from simcloud.kubernetes.api.resources import Resource
from simcloud.kubernetes.api.schema import Schema

_ROOT_STRUCTS = ("metadata", "spec", "status")
_STRUCTS: dict[str, tuple[str, ...]] = {
    "ClusterRoleBinding": ("roleRef",),
    "CronJobSpec": ("jobTemplate",),
    "CustomResourceDefinitionSpec": ("names",),
    "CustomResourceDefinitionStatus": ("acceptedNames",),
    "DaemonSetSpec": ("template", "updateStrategy"),
    "DeploymentSpec": ("strategy", "template"),
    "Event": ("deprecatedSource", "involvedObject", "regarding", "source"),
    "HorizontalPodAutoscalerSpec": ("scaleTargetRef",),
    "IngressStatus": ("loadBalancer",),
    "JobSpec": ("template",),
    "JobTemplateSpec": ("metadata", "spec"),
    "NetworkPolicySpec": ("podSelector",),
    "NodeDaemonEndpoints": ("kubeletEndpoint",),
    "NodeStatus": ("daemonEndpoints", "nodeInfo"),
    "PersistentVolumeClaimSpec": ("resources",),
    "PodTemplate": ("template",),
    "PodTemplateSpec": ("metadata", "spec"),
    "ReplicaSetSpec": ("template",),
    "RoleBinding": ("roleRef",),
    "ServiceStatus": ("loadBalancer",),
    "StatefulSetSpec": ("template", "updateStrategy"),
}
"""Fields that hold a struct by value and so are never absent in Go. A field of a required name that
is not listed holds a pointer, a list or a map, and is null."""

_EMPTY: dict[str, Any] = {
    "string": "",
    "integer": 0,
    "number": 0,
    "boolean": False,
    "quantity": "0",
    "int_or_string": 0,
}
_known: dict[str, Object] = {}


def zero_object(resource: Resource) -> Object:
    """The empty object of a kind; not to be changed. Custom resources have no struct, so theirs has no fields."""
    if resource.custom is not None:
        return {}
    name = resource.schema.name
    if name not in _known:
        _known[name] = _zero(resource.schema, _ROOT_STRUCTS)
    return _known[name]


def zero_beside(resource: Resource, new: Object) -> Object:
    """What a new object was before: empty, but for the nulls that it has in structs. Go wrote those before too."""
    return _beside(zero_object(resource), new)


def _beside(zero: Object, new: Object) -> Object:
    found = dict(zero)
    for name, value in new.items():
        if value is None:
            found.setdefault(name, None)
        elif isinstance(value, dict) and isinstance(zero.get(name), dict):
            found[name] = _beside(zero[name], value)
    return found


def with_structs(obj: Object, resource: Resource) -> Object:
    """The object with the structs at its root that Go never leaves out, such as an empty status."""
    missing = [
        name for name, value in zero_object(resource).items() if name not in obj and isinstance(value, dict)
    ]
    return {**obj, **{name: {} for name in missing}} if missing else obj


def _zero(schema: Schema, structs: tuple[str, ...] = ()) -> Object:
    structs += _STRUCTS.get(schema.name.rpartition(".")[2], ())
    found: Object = {}
    for name, field in schema.fields.items():
        if name in structs and field.shape == "object":
            found[name] = _zero(field)
        elif name in schema.required:
            found[name] = _EMPTY.get(field.shape)
    return found
