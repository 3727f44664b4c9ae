"""PodTopologySpread: constraints that must hold; the looser ones are scores."""

from __future__ import annotations

from typing import Final

from aiopslab.cluster.api.objects import Object
from aiopslab.cluster.api.selectors import from_label_selector
from aiopslab.cluster.scheduler.filters import affinity, taints
from aiopslab.cluster.scheduler.framework import Check, Rejection, View
from aiopslab.cluster.scheduler.node_info import NodeInfo
from aiopslab.cluster.scheduler.pod_info import PodInfo

_NAME: Final = "PodTopologySpread"
_SENTENCE: Final = "node(s) didn't match pod topology spread constraints"
_SKEWED: Final = Rejection(_NAME, (_SENTENCE,))
_UNLABELLED: Final = Rejection(_NAME, (f"{_SENTENCE} (missing required label)",), final=True)


def prepare(pod: PodInfo, view: View) -> Check | None:
    """Nothing to check for pods without such constraints."""
    constraints = [
        one
        for one in pod.spec.get("topologySpreadConstraints") or ()
        if one["whenUnsatisfiable"] == "DoNotSchedule"
    ]
    if not constraints:
        return None
    keys = [one["topologyKey"] for one in constraints]
    labelled = [node for node in view.nodes() if all(key in node.labels for key in keys)]
    counts = [_counts(one, pod, labelled, view) for one in constraints]

    def check(node: NodeInfo) -> Rejection | None:
        for constraint, by_node in zip(constraints, counts, strict=True):
            domain = node.labels.get(constraint["topologyKey"])
            if domain is None:
                return _UNLABELLED
            if _skew(constraint, pod, node, domain, by_node) > constraint["maxSkew"]:
                return _SKEWED
        return None

    return check


def _counts(
    constraint: Object, pod: PodInfo, nodes: list[NodeInfo], view: View
) -> dict[str, tuple[str, int]]:
    """By node that counts: its domain and how many pods match there."""
    policies = []
    if (constraint.get("nodeAffinityPolicy") or "Honor") == "Honor":
        policies.append(affinity.prepare(pod, view))
    if constraint.get("nodeTaintsPolicy") == "Honor":
        policies.append(taints.prepare(pod, view))
    counting = [node for node in nodes if all(one is None or one(node) is None for one in policies)]
    key = constraint["topologyKey"]
    return {node.name: (node.labels[key], _matching(constraint, pod, node)) for node in counting}


def _skew(
    constraint: Object, pod: PodInfo, node: NodeInfo, domain: str, by_node: dict[str, tuple[str, int]]
) -> int:
    domains: dict[str, int] = {}
    for name, (value, count) in by_node.items():
        # The node may be a copy on which preemption tries what happens without some pods.
        here = _matching(constraint, pod, node) if name == node.name else count
        domains[value] = domains.get(value, 0) + here
    least = min(domains.values(), default=0)
    if len(domains) < (constraint.get("minDomains") or 1):
        least = 0
    own = from_label_selector(constraint.get("labelSelector")).matches(pod.labels)
    return domains.get(domain, 0) + own - least


def _matching(constraint: Object, pod: PodInfo, node: NodeInfo) -> int:
    selector = from_label_selector(constraint.get("labelSelector"))
    return sum(
        one.namespace == pod.namespace and not one.leaving and selector.matches(one.labels)
        for one in node.pods.values()
    )
