"""APIServices: one for each served group and version, with their priorities."""

from __future__ import annotations

from simcloud.kubernetes.api.objects import Object
from simcloud.kubernetes.api.resources import Catalogue

_GROUP = "apiregistration.k8s.io"
_PRIORITIES = {
    "": 18000,
    "apps": 17800,
    "events.k8s.io": 17750,
    "authentication.k8s.io": 17700,
    "authorization.k8s.io": 17600,
    "autoscaling": 17500,
    "batch": 17400,
    "certificates.k8s.io": 17300,
    "networking.k8s.io": 17200,
    "policy": 17100,
    "rbac.authorization.k8s.io": 17000,
    "storage.k8s.io": 16800,
    "apiextensions.k8s.io": 16700,
    "admissionregistration.k8s.io": 16700,
    "scheduling.k8s.io": 16600,
    "coordination.k8s.io": 16500,
    "node.k8s.io": 16300,
    "discovery.k8s.io": 16200,
    "resource.k8s.io": 16200,
    "flowcontrol.apiserver.k8s.io": 16100,
}
_VERSION_PRIORITIES = {
    ("", "v1"): 1,
    ("autoscaling", "v2"): 30,
    ("resource.k8s.io", "v1"): 21,
    ("flowcontrol.apiserver.k8s.io", "v1"): 21,
}


def api_services(catalogue: Catalogue, time: str) -> list[Object]:
    """The APIServices of everything served, available since the given time."""
    served = sorted(
        (group.name, version) for group in catalogue.groups.values() for version in group.versions
    )
    return [api_service(group, version, time) for group, version in served if group != _GROUP]


def api_service(group: str, version: str, time: str) -> Object:
    """The APIService of a group and version that this server serves itself; custom ones come last."""
    built_in = group in _PRIORITIES
    spec: Object = {"group": group} if group else {}
    spec["version"] = version
    spec["groupPriorityMinimum"] = _PRIORITIES.get(group, 1000)
    spec["versionPriority"] = _VERSION_PRIORITIES.get((group, version), 15 if built_in else 100)
    automanaged = "onstart" if built_in else "true"
    return {
        "kind": "APIService",
        "apiVersion": f"{_GROUP}/v1",
        "metadata": {
            "name": f"{version}.{group}",
            "labels": {"kube-aggregator.kubernetes.io/automanaged": automanaged},
        },
        "spec": spec,
        "status": {
            "conditions": [
                {
                    "type": "Available",
                    "status": "True",
                    "lastTransitionTime": time,
                    "reason": "Local",
                    "message": "Local APIServices are always available",
                }
            ]
        },
    }
