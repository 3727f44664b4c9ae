"""Scores: each plugin gives points to the suitable nodes, multiplied by its weight."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from simcloud.kubernetes.scheduler.cache import Cache
from simcloud.kubernetes.scheduler.node_info import NodeInfo
from simcloud.kubernetes.scheduler.pod_info import PodInfo
from simcloud.kubernetes.scheduler.scores import images, pod_affinity, preferences, resources, spread

Part = Callable[[PodInfo, Sequence[NodeInfo], Cache], list[int] | None]
"""The scores of nodes, in their order; None where the part has nothing to say about a pod."""

PARTS: Final[tuple[tuple[int, Part], ...]] = (
    (3, preferences.taints),
    (2, preferences.affinity),
    (1, resources.allocation),
    (2, spread.spread),
    (2, pod_affinity.company),
    (1, images.locality),
)


def totals(pod: PodInfo, nodes: Sequence[NodeInfo], cache: Cache) -> list[int]:
    """The score of every node, in their order."""
    total = [0] * len(nodes)
    for weight, part in PARTS:
        scores = part(pod, nodes, cache)
        if scores is not None:
            total = [before + weight * score for before, score in zip(total, scores, strict=True)]
    return total
