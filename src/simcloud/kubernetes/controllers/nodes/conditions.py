"""A node's conditions, and the taints that follow from them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from simcloud.kubernetes.api.objects import Object, at

GRACE_S: Final = 50.0
STARTUP_GRACE_S: Final = 60.0

NOT_READY: Final = "node.kubernetes.io/not-ready"
UNREACHABLE: Final = "node.kubernetes.io/unreachable"
UNSCHEDULABLE: Final = "node.kubernetes.io/unschedulable"

_TAINTS: Final = {
    "Ready": {"False": NOT_READY, "Unknown": UNREACHABLE},
    "MemoryPressure": {"True": "node.kubernetes.io/memory-pressure"},
    "DiskPressure": {"True": "node.kubernetes.io/disk-pressure"},
    "NetworkUnavailable": {"True": "node.kubernetes.io/network-unavailable"},
    "PIDPressure": {"True": "node.kubernetes.io/pid-pressure"},
}
_KEYS: Final = (UNSCHEDULABLE, *(key for states in _TAINTS.values() for key in states.values()))
_OF_KUBELET: Final = ("Ready", "MemoryPressure", "DiskPressure", "PIDPressure")


def condition_of(node: Object, kind: str) -> Object | None:
    """One of an object's conditions."""
    for condition in at(node, "status", "conditions", default=None) or ():
        if condition["type"] == kind:
            found: Object = condition
            return found
    return None


def condition_taints(node: Object) -> list[str]:
    """The keys of the NoSchedule taints that a node should have."""
    keys = []
    for condition in at(node, "status", "conditions", default=None) or ():
        key = _TAINTS.get(condition["type"], {}).get(condition["status"])
        if key is not None:
            keys.append(key)
    if node["spec"].get("unschedulable"):
        keys.append(UNSCHEDULABLE)
    return keys


def is_condition_taint(taint: Object) -> bool:
    """Whether a taint is one that follows a condition."""
    return taint["effect"] == "NoSchedule" and taint["key"] in _KEYS


def make_unknown(node: Object, now: str) -> list[Object]:
    """The conditions of a node whose kubelet is silent: what it used to tell is unknown."""
    conditions = [
        {
            **condition,
            "status": "Unknown",
            "reason": "NodeStatusUnknown",
            "message": "Kubelet stopped posting node status.",
            "lastTransitionTime": now,
        }
        if condition["type"] in _OF_KUBELET and condition["status"] != "Unknown"
        else dict(condition)
        for condition in at(node, "status", "conditions", default=None) or ()
    ]
    present = [condition["type"] for condition in conditions]
    conditions += [
        {
            "type": kind,
            "status": "Unknown",
            "reason": "NodeStatusNeverUpdated",
            "message": "Kubelet never posted node status.",
            "lastHeartbeatTime": node["metadata"]["creationTimestamp"],
            "lastTransitionTime": now,
        }
        for kind in _OF_KUBELET
        if kind not in present
    ]
    return conditions


def replace_condition(obj: Object, replacement: Object) -> Iterator[Object]:
    """An object's conditions with one of them put in place of the present one of its type."""
    for condition in obj["status"].get("conditions") or ():
        yield replacement if condition["type"] == replacement["type"] else condition
