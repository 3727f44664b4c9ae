"""NodeResourcesFit (LeastAllocated) and NodeResourcesBalancedAllocation, of cpu and memory."""

from __future__ import annotations

from collections.abc import Sequence

from simcloud.kubernetes.scheduler.cache import Cache
from simcloud.kubernetes.scheduler.node_info import NodeInfo
from simcloud.kubernetes.scheduler.pod_info import PodInfo


def allocation(pod: PodInfo, nodes: Sequence[NodeInfo], cache: Cache) -> list[int]:
    """The emptier, and the nearer the shares of cpu and memory, the better: up to 100 for each.

    A node remembers its scores until it changes: of many equal pods each has to judge one node.
    """
    cpu, memory = pod.requests.get("cpu", 0), pod.requests.get("memory", 0)
    key = (pod.score_cpu_m, pod.score_memory_bytes, cpu, memory)
    scores = []
    for node in nodes:
        score = node.remembered.get(key)
        if score is None:
            # Pods that ask for neither would all find the same node the best balanced.
            score = _score_free(pod, node) + (_balance(node, cpu, memory) if cpu or memory else 0)
            node.remembered[key] = score
        scores.append(score)
    return scores


def _score_free(pod: PodInfo, node: NodeInfo) -> int:
    """A container that asks for nothing counts for a little."""
    most, total, resources = node.allocatable, 0, 0
    for capacity, wanted in (
        (most.get("cpu", 0), node.score_cpu_m + pod.score_cpu_m),
        (most.get("memory", 0), node.score_memory_bytes + pod.score_memory_bytes),
    ):
        if capacity:
            resources += 1
            if wanted <= capacity:
                total += (capacity - wanted) * 100 // capacity
    return total // resources if resources else 0


def _balance(node: NodeInfo, cpu_m: int, memory_bytes: int) -> int:
    most, requested = node.allocatable, node.requested
    most_cpu_m, most_bytes = most.get("cpu", 0), most.get("memory", 0)
    if not most_cpu_m or not most_bytes:
        return 100
    cpu = min(1.0, (requested.get("cpu", 0) + cpu_m) / most_cpu_m)
    memory = min(1.0, (requested.get("memory", 0) + memory_bytes) / most_bytes)
    return int((1 - abs((cpu - memory) / 2)) * 100)
