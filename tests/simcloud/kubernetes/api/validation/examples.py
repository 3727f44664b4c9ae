"""One sound object of each kind outside the workloads, as it looks with its defaults set, and how to edit it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from simcloud.kubernetes.api.objects import Object, copy
from simcloud.kubernetes.api.resources import Catalogue, Resource
from simcloud.kubernetes.api.validation import (
    validate_create,
    validate_update,
    warnings_for,
)

CATALOGUE = Catalogue()
GONE = object()
"""The value of an edit that takes a field away."""


def _made(
    api_version: str, kind: str, name: str = "sound", namespace: str = "default", **rest: Any
) -> Object:
    resource = CATALOGUE.of_kind(api_version, kind)
    assert resource is not None
    metadata = {"name": name, **({"namespace": namespace} if resource.namespaced else {})}
    return {"apiVersion": api_version, "kind": kind, "metadata": metadata, **rest}


_RBAC = "rbac.authorization.k8s.io"
_NODE_TERM = {"matchExpressions": [{"key": "kubernetes.io/hostname", "operator": "In", "values": ["a"]}]}
_RULE = {
    "operations": ["CREATE"],
    "apiGroups": ["apps"],
    "apiVersions": ["v1"],
    "resources": ["deployments"],
    "scope": "*",
}
_MATCHED = {
    "matchPolicy": "Equivalent",
    "namespaceSelector": {},
    "objectSelector": {},
    "resourceRules": [_RULE],
}
_HOOK = {
    "name": "check.example.com",
    "rules": [_RULE],
    "failurePolicy": "Fail",
    "matchPolicy": "Equivalent",
    "sideEffects": "None",
    "timeoutSeconds": 10,
    "namespaceSelector": {},
    "objectSelector": {},
    "admissionReviewVersions": ["v1"],
    "clientConfig": {"service": {"name": "hook", "namespace": "default", "port": 443}},
}
_CRD_SCHEMA = {
    "type": "object",
    "properties": {"spec": {"type": "object", "properties": {"size": {"type": "integer"}}}},
}
_DEVICE = {"name": "gpu", "exactly": {"deviceClassName": "gpu", "allocationMode": "ExactCount", "count": 1}}

_ALL = [
    _made(
        "v1",
        "Service",
        spec={
            "type": "ClusterIP",
            "clusterIP": "10.96.0.20",
            "clusterIPs": ["10.96.0.20"],
            "ipFamilies": ["IPv4"],
            "ipFamilyPolicy": "SingleStack",
            "internalTrafficPolicy": "Cluster",
            "sessionAffinity": "None",
            "selector": {"app": "web"},
            "ports": [{"name": "http", "port": 80, "targetPort": 8080, "protocol": "TCP"}],
        },
        status={"loadBalancer": {}},
    ),
    _made(
        "v1",
        "Endpoints",
        subsets=[
            {"addresses": [{"ip": "10.244.0.5"}], "ports": [{"name": "http", "port": 80, "protocol": "TCP"}]}
        ],
    ),
    _made(
        "discovery.k8s.io/v1",
        "EndpointSlice",
        addressType="IPv4",
        endpoints=[{"addresses": ["10.244.0.5"], "nodeName": "worker"}],
        ports=[{"name": "http", "port": 80, "protocol": "TCP"}],
    ),
    _made("v1", "ConfigMap", data={"app.conf": "x=1"}, binaryData={"logo": "AAEC"}),
    _made("v1", "Secret", type="Opaque", data={"password": "aHVudGVyMg=="}),
    _made("v1", "Namespace", spec={"finalizers": ["kubernetes"]}, status={"phase": "Active"}),
    _made("v1", "ServiceAccount"),
    _made("v1", "Binding", target={"kind": "Node", "name": "worker"}),
    _made(
        "v1",
        "Node",
        spec={
            "podCIDR": "10.244.0.0/24",
            "podCIDRs": ["10.244.0.0/24"],
            "providerID": "kind://worker",
            "taints": [{"key": "dedicated", "value": "db", "effect": "NoSchedule"}],
        },
        status={
            "capacity": {"cpu": "4", "memory": "8Gi", "pods": "110"},
            "allocatable": {"cpu": "4", "memory": "8Gi", "pods": "110"},
            "addresses": [{"type": "InternalIP", "address": "172.18.0.2"}],
        },
    ),
    _made(
        "v1",
        "ResourceQuota",
        spec={"hard": {"pods": "10", "requests.cpu": "4"}, "scopes": ["NotTerminating"]},
    ),
    _made(
        "v1",
        "LimitRange",
        spec={
            "limits": [
                {
                    "type": "Container",
                    "min": {"cpu": "100m"},
                    "max": {"cpu": "2"},
                    "default": {"cpu": "1"},
                    "defaultRequest": {"cpu": "500m"},
                    "maxLimitRequestRatio": {"cpu": "4"},
                }
            ]
        },
    ),
    _made(
        "v1",
        "PersistentVolume",
        spec={
            "capacity": {"storage": "5Gi"},
            "accessModes": ["ReadWriteOnce"],
            "persistentVolumeReclaimPolicy": "Retain",
            "volumeMode": "Filesystem",
            "hostPath": {"path": "/data", "type": ""},
            "nodeAffinity": {"required": {"nodeSelectorTerms": [_NODE_TERM]}},
        },
    ),
    _made(
        "v1",
        "PersistentVolumeClaim",
        spec={
            "accessModes": ["ReadWriteOnce"],
            "resources": {"requests": {"storage": "5Gi"}},
            "storageClassName": "standard",
            "volumeMode": "Filesystem",
        },
        status={"phase": "Pending"},
    ),
    _made(
        "networking.k8s.io/v1",
        "Ingress",
        spec={
            "ingressClassName": "nginx",
            "tls": [{"hosts": ["shop.example.com"], "secretName": "shop-tls"}],
            "rules": [
                {
                    "host": "shop.example.com",
                    "http": {
                        "paths": [
                            {
                                "path": "/",
                                "pathType": "Prefix",
                                "backend": {"service": {"name": "web", "port": {"number": 80}}},
                            }
                        ]
                    },
                }
            ],
        },
    ),
    _made(
        "networking.k8s.io/v1",
        "IngressClass",
        spec={"controller": "k8s.io/ingress-nginx"},
    ),
    _made(
        "networking.k8s.io/v1",
        "NetworkPolicy",
        spec={
            "podSelector": {"matchLabels": {"app": "web"}},
            "policyTypes": ["Ingress", "Egress"],
            "ingress": [
                {
                    "from": [{"podSelector": {"matchLabels": {"app": "client"}}}],
                    "ports": [{"protocol": "TCP", "port": 80}],
                }
            ],
            "egress": [{"to": [{"ipBlock": {"cidr": "10.0.0.0/8", "except": ["10.1.0.0/16"]}}]}],
        },
    ),
    _made(f"{_RBAC}/v1", "Role", rules=[{"apiGroups": [""], "resources": ["pods"], "verbs": ["get"]}]),
    _made(
        f"{_RBAC}/v1",
        "ClusterRole",
        rules=[{"nonResourceURLs": ["/healthz"], "verbs": ["get"]}],
        aggregationRule={"clusterRoleSelectors": [{"matchLabels": {"to": "view"}}]},
    ),
    _made(
        f"{_RBAC}/v1",
        "RoleBinding",
        roleRef={"apiGroup": _RBAC, "kind": "Role", "name": "reader"},
        subjects=[{"kind": "ServiceAccount", "name": "app", "namespace": "default"}],
    ),
    _made(
        f"{_RBAC}/v1",
        "ClusterRoleBinding",
        roleRef={"apiGroup": _RBAC, "kind": "ClusterRole", "name": "view"},
        subjects=[{"apiGroup": _RBAC, "kind": "User", "name": "jane"}],
    ),
    _made(
        "autoscaling/v2",
        "HorizontalPodAutoscaler",
        spec={
            "minReplicas": 1,
            "maxReplicas": 5,
            "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"},
            "metrics": [
                {
                    "type": "Resource",
                    "resource": {"name": "cpu", "target": {"type": "Utilization", "averageUtilization": 80}},
                }
            ],
            "behavior": {
                "scaleUp": {
                    "stabilizationWindowSeconds": 0,
                    "selectPolicy": "Max",
                    "policies": [{"type": "Pods", "value": 4, "periodSeconds": 15}],
                }
            },
        },
        status={"currentReplicas": 1, "desiredReplicas": 1},
    ),
    _made(
        "policy/v1",
        "PodDisruptionBudget",
        spec={"minAvailable": 1, "selector": {"matchLabels": {"app": "web"}}},
    ),
    _made(
        "storage.k8s.io/v1",
        "StorageClass",
        provisioner="rancher.io/local-path",
        parameters={"type": "ssd"},
        reclaimPolicy="Delete",
        volumeBindingMode="WaitForFirstConsumer",
        allowedTopologies=[{"matchLabelExpressions": [{"key": "zone", "values": ["a", "b"]}]}],
    ),
    _made("scheduling.k8s.io/v1", "PriorityClass", value=1000, preemptionPolicy="Never"),
    _made("admissionregistration.k8s.io/v1", "ValidatingWebhookConfiguration", webhooks=[_HOOK]),
    _made(
        "admissionregistration.k8s.io/v1",
        "MutatingWebhookConfiguration",
        webhooks=[{**_HOOK, "reinvocationPolicy": "Never"}],
    ),
    _made(
        "admissionregistration.k8s.io/v1",
        "ValidatingAdmissionPolicy",
        spec={
            "failurePolicy": "Fail",
            "matchConstraints": _MATCHED,
            "validations": [{"expression": "object.spec.replicas <= 5"}],
        },
    ),
    _made(
        "admissionregistration.k8s.io/v1",
        "ValidatingAdmissionPolicyBinding",
        spec={"policyName": "limit", "validationActions": ["Deny"]},
    ),
    _made(
        "apiextensions.k8s.io/v1",
        "CustomResourceDefinition",
        "widgets.example.com",
        spec={
            "group": "example.com",
            "scope": "Namespaced",
            "names": {"plural": "widgets", "singular": "widget", "kind": "Widget", "listKind": "WidgetList"},
            "conversion": {"strategy": "None"},
            "versions": [
                {
                    "name": "v1",
                    "served": True,
                    "storage": True,
                    "schema": {"openAPIV3Schema": _CRD_SCHEMA},
                    "additionalPrinterColumns": [
                        {"name": "Size", "type": "integer", "jsonPath": ".spec.size"}
                    ],
                }
            ],
        },
        status={"storedVersions": ["v1"]},
    ),
    _made(
        "apiregistration.k8s.io/v1",
        "APIService",
        "v1.metrics.example.com",
        spec={
            "group": "metrics.example.com",
            "version": "v1",
            "groupPriorityMinimum": 100,
            "versionPriority": 100,
            "service": {"name": "metrics", "namespace": "kube-system", "port": 443},
        },
    ),
]
EXAMPLES: dict[str, Object] = {obj["kind"]: obj for obj in _ALL}


def example(kind: str, **edits: Any) -> Object:
    """A sound object, with edits by path: ``spec__ports__0__port=0``."""
    return edited(EXAMPLES[kind], {path.replace("__", "/"): value for path, value in edits.items()})


def edited(obj: Object, edits: dict[str, Any]) -> Object:
    """A copy of an object with values at paths: ``{"spec/ports/0/port": 0}``."""
    result: Object = copy(obj)
    for path, value in edits.items():
        *steps, last = [int(step) if step.isdigit() else step for step in path.split("/")]
        holder: Any = result
        for step in steps:
            if isinstance(holder, dict):
                holder = holder.setdefault(str(step), {})
            else:
                holder = holder[step]
        if isinstance(holder, dict):
            last = str(last)
        if value is GONE:
            holder.pop(last, None)
        else:
            holder[last] = value
    return result


def resource_of(obj: Object) -> Resource:
    """The resource an object belongs to."""
    resource = CATALOGUE.of_kind(obj["apiVersion"], obj["kind"])
    assert resource is not None
    return resource


def on_create(obj: Object) -> list[str]:
    """What is said against a new object."""
    return [str(error) for error in validate_create(resource_of(obj), obj)]


def on_update(new: Object, old: Object) -> list[str]:
    """What is said against a change."""
    return [str(error) for error in validate_update(resource_of(new), _stored(new), _stored(old))]


def warnings(new: Object, old: Object | None = None) -> list[str]:
    """What a write is warned of."""
    return warnings_for(resource_of(new), new, old)


def _stored(obj: Object) -> Object:
    return {**obj, "metadata": {"uid": "u", "resourceVersion": "1", **obj["metadata"]}}


def places(value: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """Every place in a value, deepest last."""
    steps = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for step, item in steps:
        yield (*path, str(step))
        yield from places(item, (*path, str(step)))
