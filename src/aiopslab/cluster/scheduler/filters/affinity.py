"""NodeAffinity: a pod's nodeSelector and its required node affinity."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from aiopslab.cluster.api.objects import Object, at
from aiopslab.cluster.placement import meets_term
from aiopslab.cluster.scheduler.framework import Check, Rejection, View
from aiopslab.cluster.scheduler.node_info import NodeInfo
from aiopslab.cluster.scheduler.pod_info import PodInfo

_MISMATCH: Final = Rejection(
    "NodeAffinity", ("node(s) didn't match Pod's node affinity/selector",), final=True
)


def prepare(pod: PodInfo, view: View) -> Check | None:
    """Nothing to check for pods that go anywhere."""
    selector: Mapping[str, str] = pod.spec.get("nodeSelector") or {}
    required = at(
        pod.spec, "affinity", "nodeAffinity", "requiredDuringSchedulingIgnoredDuringExecution", default=None
    )
    if not selector and not required:
        return None
    terms = required["nodeSelectorTerms"] if required else None

    def check(node: NodeInfo) -> Rejection | None:
        if any(node.labels.get(key) != value for key, value in selector.items()):
            return _MISMATCH
        if terms is not None and not any(matches_term(term, node) for term in terms):
            return _MISMATCH
        return None

    return check


def matches_term(term: Object, node: NodeInfo) -> bool:
    """Whether a node meets all of a term."""
    return meets_term(term, node.name, node.labels)
