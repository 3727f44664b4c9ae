"""NodeResourcesFit: the requested resources, and a slot for one more pod, must be free."""

from __future__ import annotations

from typing import Final

from simcloud.kubernetes.scheduler.cache import Cache
from simcloud.kubernetes.scheduler.framework import Check, Rejection
from simcloud.kubernetes.scheduler.node_info import NodeInfo
from simcloud.kubernetes.scheduler.pod_info import PodInfo

NAME: Final = "NodeResourcesFit"
_ORDER = {"cpu": 0, "memory": 1, "ephemeral-storage": 2}


def prepare(pod: PodInfo, cache: Cache) -> Check | None:
    """Check every resource the pod asks for."""
    wanted = sorted(
        ((name, amount) for name, amount in pod.requests.items() if amount > 0),
        key=lambda item: (_ORDER.get(item[0], 3), item[0]),
    )

    def check(node: NodeInfo) -> Rejection | None:
        requested, allocatable = node.requested, node.allocatable
        if len(node.pods) < node.most_pods:
            for name, amount in wanted:
                if amount > allocatable.get(name, 0) - requested.get(name, 0):
                    break
            else:
                return None
        return _explain(node)

    def _explain(node: NodeInfo) -> Rejection:
        reasons = [] if len(node.pods) < node.most_pods else ["Too many pods"]
        never = False
        for name, amount in wanted:
            most = node.allocatable.get(name, 0)
            if amount > most - node.requested.get(name, 0):
                reasons.append(f"Insufficient {name}")
                never = never or amount > most
        return Rejection(NAME, tuple(reasons), final=never)

    return check
