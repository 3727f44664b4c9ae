"""NodeUnschedulable: cordoned nodes only accept pods that tolerate it."""

from __future__ import annotations

from typing import Final

from simcloud.kubernetes.scheduler.cache import Cache
from simcloud.kubernetes.scheduler.filters.taints import is_tolerated
from simcloud.kubernetes.scheduler.framework import Check, Rejection
from simcloud.kubernetes.scheduler.node_info import NodeInfo
from simcloud.kubernetes.scheduler.pod_info import PodInfo

NAME: Final = "NodeUnschedulable"
_TAINT: Final = {"key": "node.kubernetes.io/unschedulable", "effect": "NoSchedule"}
_CORDONED: Final = Rejection(NAME, ("node(s) were unschedulable",), final=True)


def prepare(pod: PodInfo, cache: Cache) -> Check | None:
    """None for pods that tolerate cordoned nodes."""
    if is_tolerated(_TAINT, pod.spec.get("tolerations") or ()):
        return None

    def check(node: NodeInfo) -> Rejection | None:
        return _CORDONED if node.unschedulable else None

    return check
