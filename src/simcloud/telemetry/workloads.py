"""How workloads fare, read from lists of objects, whoever listed them: how many pods are wanted, ready, restarted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from simcloud.kubernetes.api.objects import Object

Listed = Mapping[str, Sequence[Object]]
Workload = tuple[str, str, str]
"""Namespace, kind and name."""


def workloads(items: Listed) -> list[Object]:
    """Deployments, stateful and daemon sets, with the restarts of their pods. ``items`` are lists by plural name."""
    pods = pods_by_workload(items)
    out = []
    for kind, plural in (
        ("Deployment", "deployments"),
        ("StatefulSet", "statefulsets"),
        ("DaemonSet", "daemonsets"),
    ):
        for one in items[plural]:
            metadata, status = one["metadata"], one.get("status", {})
            is_daemon = kind == "DaemonSet"
            desired = status.get("desiredNumberScheduled", 0) if is_daemon else one["spec"].get("replicas", 1)
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
    """The pods of each workload, through the replica sets that stand between."""
    owners = {
        (one["metadata"]["namespace"], one["metadata"]["name"]): _owner(one) for one in items["replicasets"]
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
        one["restartCount"] for pod in pods for one in pod.get("status", {}).get("containerStatuses") or ()
    )


def _owner(obj: Object) -> tuple[str, str]:
    owners = obj["metadata"].get("ownerReferences") or ()
    return next(((one["kind"], one["name"]) for one in owners if one.get("controller")), ("", ""))
