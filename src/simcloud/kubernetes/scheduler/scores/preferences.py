"""TaintToleration and NodeAffinity: PreferNoSchedule taints and preferred node affinity."""

from __future__ import annotations

from collections.abc import Sequence

from simcloud.kubernetes.api.objects import at
from simcloud.kubernetes.scheduler.cache import Cache
from simcloud.kubernetes.scheduler.filters.affinity import matches_term
from simcloud.kubernetes.scheduler.filters.taints import is_tolerated
from simcloud.kubernetes.scheduler.node_info import NodeInfo
from simcloud.kubernetes.scheduler.pod_info import PodInfo


def taints(pod: PodInfo, nodes: Sequence[NodeInfo], cache: Cache) -> list[int] | None:
    """The fewer taints that the pod does not tolerate, the better."""
    if not any(node.soft_taints for node in nodes):
        return None
    tolerations = [
        toleration
        for toleration in pod.spec.get("tolerations") or ()
        if toleration.get("effect") in (None, "", "PreferNoSchedule")
    ]
    counts = [sum(not is_tolerated(taint, tolerations) for taint in node.soft_taints) for node in nodes]
    most = max(counts)
    return [100 - 100 * count // most for count in counts] if most else None


def affinity(pod: PodInfo, nodes: Sequence[NodeInfo], cache: Cache) -> list[int] | None:
    """The more preferred terms a node meets, by their weights, the better."""
    terms = at(pod.spec, "affinity", "nodeAffinity", "preferredDuringSchedulingIgnoredDuringExecution")
    if not terms:
        return None
    met = [sum(term["weight"] for term in terms if matches_term(term["preference"], node)) for node in nodes]
    most = max(met)
    return [100 * weight // most for weight in met] if most else None
