"""NodeAffinity: a pod's nodeSelector and its required node affinity."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from simcloud.kubernetes.api.objects import Object, at
from simcloud.kubernetes.placement import meets_term
from simcloud.kubernetes.scheduler.cache import Cache
from simcloud.kubernetes.scheduler.framework import Check, Refused, Rejection
from simcloud.kubernetes.scheduler.node_info import NodeInfo
from simcloud.kubernetes.scheduler.pod_info import PodInfo

NAME: Final = "NodeAffinity"
_MISMATCH: Final = Rejection(NAME, ("node(s) didn't match Pod's node affinity/selector",), final=True)


def prepare(pod: PodInfo, cache: Cache) -> Check | None:
    """None for pods without node affinity."""
    return _check(pod)


def _check(pod: PodInfo) -> Check | None:
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


def suits(pod: PodInfo, node: NodeInfo) -> bool:
    """Whether a node meets what the pod requires of nodes."""
    check = _check(pod)
    return check is None or check(node) is None


def matches_term(term: Object, node: NodeInfo) -> bool:
    """Whether a node meets all of a term."""
    return meets_term(term, node.name, node.labels)


def find_named_nodes(pod: PodInfo) -> list[str] | None:
    """The only nodes that the pod's affinity lets it on by their names; None if it names none."""
    required = at(pod.spec, "affinity", "nodeAffinity", "requiredDuringSchedulingIgnoredDuringExecution")
    terms = (required or {}).get("nodeSelectorTerms") or ()
    names: list[str] = []
    for term in terms:
        lists = [
            field["values"]
            for field in term.get("matchFields") or ()
            if field["key"] == "metadata.name" and field["operator"] == "In"
        ]
        if not lists:
            return None
        names += [name for name in lists[0] if name not in names and all(name in values for values in lists)]
    if terms and not names:
        raise Refused(NAME, "pod affinity terms conflict")
    return names if terms else None
