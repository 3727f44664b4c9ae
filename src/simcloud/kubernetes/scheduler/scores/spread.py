"""PodTopologySpread: soft constraints, and the default constraints of workloads without their own.

The pods of a workload are those that its Services and its controller select.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import floor, log
from typing import Final

from simcloud.kubernetes.api.objects import Object
from simcloud.kubernetes.api.selectors import LabelSelector, Requirement, from_label_selector, from_set
from simcloud.kubernetes.scheduler.cache import Cache
from simcloud.kubernetes.scheduler.filters.spread import Constraint, constraints, select_labelled
from simcloud.kubernetes.scheduler.node_info import NodeInfo
from simcloud.kubernetes.scheduler.pod_info import PodInfo

_HOST: Final = "kubernetes.io/hostname"
_DEFAULTS: Final = ((_HOST, 3), ("topology.kubernetes.io/zone", 5))
_CONTROLLERS: Final = {
    "ReplicationController": "replicationcontrollers",
    "ReplicaSet": "replicasets.apps",
    "StatefulSet": "statefulsets.apps",
}


def spread(pod: PodInfo, nodes: Sequence[NodeInfo], cache: Cache) -> list[int] | None:
    """The fewer pods of the kind share a node's domains, the better."""
    own = bool(pod.spec.get("topologySpreadConstraints"))
    wanted = constraints(pod, "ScheduleAnyway") if own else _defaults(pod, cache)
    if not wanted:
        return None
    # Only a pod's own constraints leave out the nodes that lack a label.
    scored = select_labelled(list(nodes), wanted) if own else list(nodes)
    counting = select_labelled(list(cache.nodes()), wanted) if own else list(cache.nodes())
    points = {node.name: 0.0 for node in scored}
    for constraint in wanted:
        if any(constraint.key in node.labels for node in scored):
            _judge(constraint, pod, scored, counting, cache, points)
    return _normal([_round(points[node.name]) if node.name in points else None for node in nodes])


def _judge(
    constraint: Constraint,
    pod: PodInfo,
    scored: list[NodeInfo],
    counting: list[NodeInfo],
    cache: Cache,
    points: dict[str, float],
) -> None:
    """Add a constraint's points: the more pods in a domain, and the more domains there are, the more."""
    key = constraint.key
    counts = cache.count_pods(pod.namespace, constraint.selector)
    if key == _HOST:
        weight = log(len(scored) + 2)
        found = {node.name: counts.get(node.name, 0) for node in scored}
    else:
        domains = {node.labels.get(key, ""): 0 for node in scored}
        weight = log(len(domains) + 2)
        for node in constraint.nodes(pod, counting, cache):
            domain = node.labels.get(key, "")
            if domain in domains:
                domains[domain] += counts.get(node.name, 0)
        found = {node.name: domains[node.labels.get(key, "")] for node in scored}
    for node in scored:
        if key in node.labels:
            points[node.name] += found[node.name] * weight + (constraint.most - 1)


def _normal(points: list[int | None]) -> list[int]:
    known = [point for point in points if point is not None]
    most, least = max(known, default=0), min(known, default=0)
    if not most:
        return [0 if point is None else 100 for point in points]
    return [0 if point is None else 100 * (most + least - point) // most for point in points]


def _round(points: float) -> int:
    return floor(points + 0.5)


def _defaults(pod: PodInfo, cache: Cache) -> list[Constraint]:
    selector = _kind(pod, cache)
    return [Constraint(key, most, selector) for key, most in _DEFAULTS] if selector else []


def _kind(pod: PodInfo, cache: Cache) -> LabelSelector:
    """What selects the pod's workload; empty if nothing does."""
    merged: dict[str, str] = {}
    for service in cache.client.list("services", pod.namespace):
        selector = service["spec"].get("selector")
        if selector and all(pod.labels.get(key) == value for key, value in selector.items()):
            merged.update(selector)
    owner = next(
        (
            reference
            for reference in pod.pod["metadata"].get("ownerReferences") or ()
            if reference.get("controller")
        ),
        None,
    )
    return LabelSelector((*from_set(merged).requirements, *_owners(pod, owner, cache)))


def _owners(pod: PodInfo, owner: Object | None, cache: Cache) -> tuple[Requirement, ...]:
    resource = _CONTROLLERS.get(owner["kind"]) if owner is not None else None
    if owner is None or resource is None:
        return ()
    found = cache.client.get(resource, pod.namespace, owner["name"])
    selector = found["spec"].get("selector") if found is not None else None
    if selector is None:
        return ()
    chosen = from_set(selector) if owner["kind"] == "ReplicationController" else from_label_selector(selector)
    return chosen.requirements
