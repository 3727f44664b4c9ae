"""TaintToleration: a node's taints keep away the pods that do not tolerate them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from aiopslab.cluster.api.objects import Object
from aiopslab.cluster.placement import tolerates
from aiopslab.cluster.scheduler.cache import Cache
from aiopslab.cluster.scheduler.framework import Check, Rejection
from aiopslab.cluster.scheduler.node_info import NodeInfo
from aiopslab.cluster.scheduler.pod_info import PodInfo

NAME: Final = "TaintToleration"
_TAINTED: Final = Rejection(NAME, ("node(s) had untolerated taint(s)",), final=True)


def prepare(pod: PodInfo, cache: Cache) -> Check | None:
    """Check the taints that keep pods away."""
    tolerations = pod.spec.get("tolerations") or ()

    def check(node: NodeInfo) -> Rejection | None:
        if node.blocking_taints and not all(tolerated(one, tolerations) for one in node.blocking_taints):
            return _TAINTED
        return None

    return check


def tolerated(taint: Object, tolerations: Iterable[Object]) -> bool:
    """Whether one of the tolerations covers a taint."""
    return any(tolerates(one, taint) for one in tolerations)
