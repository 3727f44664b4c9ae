"""How nodes that will do are compared, with the genuine weights: the emptier, the better.

LeastAllocated and BalancedAllocation of cpu and memory (weight 1 each), taints that are only
preferred (3), preferred node affinity (2), and spreading the pods of one owner over nodes (2).
"""

from __future__ import annotations

from collections.abc import Sequence
from math import log

from aiopslab.cluster.api.objects import at
from aiopslab.cluster.scheduler.filters.affinity import matches_term
from aiopslab.cluster.scheduler.filters.taints import tolerated
from aiopslab.cluster.scheduler.node_info import NodeInfo
from aiopslab.cluster.scheduler.pod_info import PodInfo

BEST = 100


def totals(pod: PodInfo, nodes: Sequence[NodeInfo]) -> list[int]:
    """The score of every node, in their order."""
    scores = [_least_allocated(pod, node) + _balanced(pod, node) for node in nodes]
    for weight, part in (
        (3, _normal(_soft_taints(pod, nodes), reverse=True)),
        (2, _normal(_preferred(pod, nodes), reverse=False)),
        (2, _spread(pod, nodes)),
    ):
        if part is not None:
            scores = [score + weight * more for score, more in zip(scores, part, strict=True)]
    return scores


def _least_allocated(pod: PodInfo, node: NodeInfo) -> int:
    cpu = _left(node.score_cpu_m + pod.score_cpu_m, node.allocatable.get("cpu", 0))
    memory = _left(node.score_memory_bytes + pod.score_memory_bytes, node.allocatable.get("memory", 0))
    return (cpu + memory) // 2


def _left(requested: int, capacity: int) -> int:
    return (capacity - requested) * BEST // capacity if 0 < capacity >= requested else 0


def _balanced(pod: PodInfo, node: NodeInfo) -> int:
    if not pod.requests.get("cpu") and not pod.requests.get("memory"):
        return 0
    cpu, memory = (_share(pod, node, name) for name in ("cpu", "memory"))
    return int((1 - abs(cpu - memory) / 2) * BEST)


def _share(pod: PodInfo, node: NodeInfo, name: str) -> float:
    most = node.allocatable.get(name, 0)
    wanted = node.requested.get(name, 0) + pod.requests.get(name, 0)
    return min(1.0, wanted / most) if most else 0.0


def _soft_taints(pod: PodInfo, nodes: Sequence[NodeInfo]) -> list[int]:
    tolerations = [
        one
        for one in pod.spec.get("tolerations") or ()
        if one.get("effect") in (None, "", "PreferNoSchedule")
    ]
    return [sum(not tolerated(taint, tolerations) for taint in node.soft_taints) for node in nodes]


def _preferred(pod: PodInfo, nodes: Sequence[NodeInfo]) -> list[int] | None:
    terms = at(pod.spec, "affinity", "nodeAffinity", "preferredDuringSchedulingIgnoredDuringExecution")
    if not terms:
        return None
    return [sum(one["weight"] for one in terms if matches_term(one["preference"], node)) for node in nodes]


def _normal(counts: list[int] | None, reverse: bool) -> list[int] | None:
    if counts is None:
        return None
    most = max(counts)
    if most == 0:
        return [BEST] * len(counts) if reverse else None
    return [BEST - BEST * one // most if reverse else BEST * one // most for one in counts]


def _spread(pod: PodInfo, nodes: Sequence[NodeInfo]) -> list[int] | None:
    """The default constraints: pods of one owner apart by node (skew 3) and by zone (skew 5)."""
    if not pod.owner:
        return None
    here = [_owned(node, pod.owner) for node in nodes]
    zones: dict[str, int] = {}
    for node, count in zip(nodes, here, strict=True):
        zone = node.labels.get("topology.kubernetes.io/zone", "")
        zones[zone] = zones.get(zone, 0) + count
    by_node, by_zone = log(len(nodes) + 2), log(len(zones) + 2)

    def raw(node: NodeInfo, count: int) -> int:
        score = count * by_node + 2 if "kubernetes.io/hostname" in node.labels else 0.0
        zone = node.labels.get("topology.kubernetes.io/zone")
        return round(score + (zones[zone] * by_zone + 4 if zone is not None else 0.0))

    return _inverse([raw(node, count) for node, count in zip(nodes, here, strict=True)])


def _inverse(raws: list[int]) -> list[int]:
    most, least = max(raws), min(raws)
    return [BEST * (most + least - one) // most if most else BEST for one in raws]


def _owned(node: NodeInfo, owner_uid: str) -> int:
    return sum(1 for one in node.pods.values() if one.owner == owner_uid and not one.leaving)
