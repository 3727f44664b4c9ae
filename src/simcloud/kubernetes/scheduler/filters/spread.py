"""PodTopologySpread: required constraints; the soft ones are scores."""

from __future__ import annotations

from typing import Final

from msgspec import Struct

from simcloud.kubernetes.api.objects import Object
from simcloud.kubernetes.api.selectors import LabelSelector, from_label_selector
from simcloud.kubernetes.scheduler.cache import Cache
from simcloud.kubernetes.scheduler.filters import affinity, taints
from simcloud.kubernetes.scheduler.framework import Check, Rejection
from simcloud.kubernetes.scheduler.node_info import NodeInfo
from simcloud.kubernetes.scheduler.pod_info import PodInfo

NAME: Final = "PodTopologySpread"
_SENTENCE: Final = "node(s) didn't match pod topology spread constraints"
_SKEWED: Final = Rejection(NAME, (_SENTENCE,))
_UNLABELLED: Final = Rejection(NAME, (f"{_SENTENCE} (missing required label)",), final=True)


class Constraint(Struct, frozen=True):
    """One constraint of a pod: how evenly the pods of a selector stand over the values of a label."""

    key: str
    most: int
    selector: LabelSelector
    least_domains: int = 1
    honours_affinity: bool = True
    honours_taints: bool = False

    def nodes(self, pod: PodInfo, nodes: list[NodeInfo], cache: Cache) -> list[NodeInfo]:
        """The nodes that count, of some."""
        policies = []
        if self.honours_affinity:
            policies.append(affinity.prepare(pod, cache))
        if self.honours_taints:
            policies.append(taints.prepare(pod, cache))
        return [node for node in nodes if all(check is None or check(node) is None for check in policies)]


def constraints(pod: PodInfo, strictness: str) -> list[Constraint]:
    """The pod's constraints of one strictness: ``DoNotSchedule`` or ``ScheduleAnyway``."""
    declared = pod.spec.get("topologySpreadConstraints") or ()
    return [
        _constraint(constraint) for constraint in declared if constraint["whenUnsatisfiable"] == strictness
    ]


def select_labelled(nodes: list[NodeInfo], wanted: list[Constraint]) -> list[NodeInfo]:
    """The nodes that have the labels of all constraints."""
    return [node for node in nodes if all(constraint.key in node.labels for constraint in wanted)]


class _Domains:
    """How many pods that a constraint speaks of are in each domain."""

    def __init__(self, constraint: Constraint, pod: PodInfo, nodes: list[NodeInfo], cache: Cache) -> None:
        self._constraint, self._namespace = constraint, pod.namespace
        self._own = constraint.selector.matches(pod.labels)
        counts = cache.count_pods(pod.namespace, constraint.selector)
        self._counts: dict[str, int] = {}
        self._counting = {node.name: None for node in constraint.nodes(pod, nodes, cache)}
        for node in nodes:
            if node.name in self._counting:
                domain = node.labels[constraint.key]
                self._counts[domain] = self._counts.get(domain, 0) + counts.get(node.name, 0)

    def is_skewed(self, node: NodeInfo, domain: str) -> bool:
        """Whether one more pod on a node is one too many."""
        counts = self._counts
        if node.trial_pods() and node.name in self._counting:
            counts = {**counts, domain: counts[domain] + self._difference(node)}
        if len(counts) < self._constraint.least_domains:
            least = 0
        elif counts:
            least = min(counts.values())
        else:
            return False
        return counts.get(domain, 0) + self._own - least > self._constraint.most

    def _difference(self, node: NodeInfo) -> int:
        return sum(
            sign
            for sign, placed in node.trial_pods()
            if placed.namespace == self._namespace
            and not placed.leaving
            and self._constraint.selector.matches(placed.labels)
        )


def prepare(pod: PodInfo, cache: Cache) -> Check | None:
    """None for pods without such constraints."""
    wanted = constraints(pod, "DoNotSchedule")
    if not wanted:
        return None
    nodes = select_labelled(list(cache.nodes()), wanted)
    domains = [_Domains(rule, pod, nodes, cache) for rule in wanted]

    def check(node: NodeInfo) -> Rejection | None:
        for constraint, counted in zip(wanted, domains, strict=True):
            domain = node.labels.get(constraint.key)
            if domain is None:
                return _UNLABELLED
            if counted.is_skewed(node, domain):
                return _SKEWED
        return None

    return check


def _constraint(spec: Object) -> Constraint:
    return Constraint(
        spec["topologyKey"],
        spec["maxSkew"],
        from_label_selector(spec.get("labelSelector")),
        spec.get("minDomains") or 1,
        (spec.get("nodeAffinityPolicy") or "Honor") == "Honor",
        spec.get("nodeTaintsPolicy") == "Honor",
    )
