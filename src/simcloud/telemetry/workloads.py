"""The state of workloads from lists of objects: desired, ready and restarted pods."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from simcloud.kubernetes.api import Object

Listed = Mapping[str, Sequence[Object]]
Workload = tuple[str, str, str]
"""Namespace, kind and name."""


def list_workloads(items: Listed) -> list[Object]:
    """Deployments, stateful and daemon sets, with the restarts of their pods. ``items`` are lists by plural name."""
    pods = pods_by_workload(items)
    out = []
    for kind, plural in (
        ("Deployment", "deployments"),
        ("StatefulSet", "statefulsets"),
        ("DaemonSet", "daemonsets"),
    ):
        for workload in items[plural]:
            metadata, status = workload["metadata"], workload.get("status", {})
            is_daemon = kind == "DaemonSet"
            desired = (
                status.get("desiredNumberScheduled", 0) if is_daemon else workload["spec"].get("replicas", 1)
            )
            out.append(
                {
                    "namespace": metadata["namespace"],
                    "kind": kind,
                    "name": metadata["name"],
                    "ready": status.get("numberReady" if is_daemon else "readyReplicas", 0),
                    "desired": desired,
                    "restarts": _restarts(pods.get((metadata["namespace"], kind, metadata["name"]), ())),
                }
            )
    return sorted(out, key=lambda one: (one["namespace"], one["name"], one["kind"]))


def pods_by_workload(items: Listed) -> dict[Workload, list[Object]]:
    """Group pods by workload, resolving replica sets to their deployments."""
    owners = {
        (obj["metadata"]["namespace"], obj["metadata"]["name"]): _owner(obj) for obj in items["replicasets"]
    }
    found: dict[Workload, list[Object]] = {}
    for pod in items["pods"]:
        namespace, (kind, name) = pod["metadata"]["namespace"], _owner(pod)
        if kind == "ReplicaSet":
            kind, name = owners.get((namespace, name), (kind, name))
        found.setdefault((namespace, kind, name), []).append(pod)
    return found


def _restarts(pods: Sequence[Object]) -> int:
    return sum(
        status["restartCount"]
        for pod in pods
        for status in pod.get("status", {}).get("containerStatuses") or ()
    )


def _owner(obj: Object) -> tuple[str, str]:
    owners = obj["metadata"].get("ownerReferences") or ()
    return next(((owner["kind"], owner["name"]) for owner in owners if owner.get("controller")), ("", ""))
