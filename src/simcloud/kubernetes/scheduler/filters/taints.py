"""TaintToleration: pods must tolerate a node's taints."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from simcloud.kubernetes.api.objects import Object
from simcloud.kubernetes.placement import tolerates
from simcloud.kubernetes.scheduler.cache import Cache
from simcloud.kubernetes.scheduler.framework import Check, Rejection
from simcloud.kubernetes.scheduler.node_info import NodeInfo
from simcloud.kubernetes.scheduler.pod_info import PodInfo

NAME: Final = "TaintToleration"
_TAINTED: Final = Rejection(NAME, ("node(s) had untolerated taint(s)",), final=True)


def prepare(pod: PodInfo, cache: Cache) -> Check | None:
    """Check the taints that keep pods away."""
    tolerations = pod.spec.get("tolerations") or ()

    def check(node: NodeInfo) -> Rejection | None:
        if node.blocking_taints and not all(
            is_tolerated(taint, tolerations) for taint in node.blocking_taints
        ):
            return _TAINTED
        return None

    return check


def is_tolerated(taint: Object, tolerations: Iterable[Object]) -> bool:
    """Whether one of the tolerations covers a taint."""
    return any(tolerates(toleration, taint) for toleration in tolerations)
