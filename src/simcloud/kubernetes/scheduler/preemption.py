"""Preemption: which pods of lower priority must be evicted, on which node, so that a pod fits.

All pods of lower priority are removed from a copy of the node; then they are put back where possible, by priority,
and those protected by a disruption budget first.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from msgspec import Struct

from simcloud.kubernetes.api.objects import Object
from simcloud.kubernetes.api.selectors import from_label_selector
from simcloud.kubernetes.scheduler.framework import Check, Rejection
from simcloud.kubernetes.scheduler.messages import NO_VICTIMS
from simcloud.kubernetes.scheduler.node_info import NodeInfo
from simcloud.kubernetes.scheduler.pod_info import PodInfo

_NOT_YET: Final = "9999"


class Candidate(Struct):
    """A node, and the pods that would have to go, the most important first."""

    node: str
    victims: list[PodInfo]
    violations: int


def find(
    pod: PodInfo, nodes: Iterable[NodeInfo], fits: Check, budgets: Sequence[Object]
) -> tuple[list[Candidate], list[Rejection]]:
    """The candidates among nodes, and why the others are none."""
    candidates: list[Candidate] = []
    rejections: list[Rejection] = []
    for node in nodes:
        outcome = _victims(pod, node.copy(), fits, budgets)
        if isinstance(outcome, Candidate):
            candidates.append(outcome)
        else:
            rejections.append(outcome)
    return candidates, rejections


def best(candidates: Sequence[Candidate]) -> Candidate:
    """The one that hurts least: budgets, then priorities, then how many, then the youngest of the highest."""
    least = min(_harm(candidate) for candidate in candidates)
    equal = [candidate for candidate in candidates if _harm(candidate) == least]
    return max(equal, key=_earliest)


def _harm(one: Candidate) -> tuple[int, int, int, int]:
    priorities = [victim.priority for victim in one.victims]
    return one.violations, priorities[0], sum(priority + 2**31 for priority in priorities), len(priorities)


def _earliest(one: Candidate) -> str:
    highest = one.victims[0].priority
    return min(_start_time(victim) for victim in one.victims if victim.priority == highest)


def _victims(pod: PodInfo, node: NodeInfo, fits: Check, budgets: Sequence[Object]) -> Candidate | Rejection:
    lower = [other for other in node.pods.values() if other.priority < pod.priority]
    if not lower:
        return Rejection("DefaultPreemption", (NO_VICTIMS,), final=True)
    for victim in lower:
        node.remove(victim.uid)
    rejection = fits(node)
    if rejection is not None:
        return rejection
    lower.sort(key=lambda victim: (-victim.priority, _start_time(victim)))
    guarded, free = _by_budget(lower, budgets)
    victims: list[PodInfo] = []
    violations = 0
    for victim in (*guarded, *free):
        node.add(victim)
        if fits(node) is not None:
            node.remove(victim.uid)
            victims.append(victim)
            violations += any(victim is other for other in guarded)
    victims.sort(key=lambda victim: (-victim.priority, _start_time(victim)))
    return Candidate(node.name, victims, violations)


def _by_budget(pods: Sequence[PodInfo], budgets: Sequence[Object]) -> tuple[list[PodInfo], list[PodInfo]]:
    allowed = [(budget.get("status") or {}).get("disruptionsAllowed", 0) for budget in budgets]
    guarded: list[PodInfo] = []
    free: list[PodInfo] = []
    for pod in pods:
        violated = False
        for number, budget in enumerate(budgets):
            if _guards(budget, pod):
                allowed[number] -= 1
                violated = violated or allowed[number] < 0
        (guarded if violated else free).append(pod)
    return guarded, free


def _guards(budget: Object, pod: PodInfo) -> bool:
    selector = from_label_selector(budget["spec"].get("selector"))
    disrupted = (budget.get("status") or {}).get("disruptedPods") or {}
    return (
        budget["metadata"]["namespace"] == pod.namespace
        and bool(selector)
        and bool(pod.labels)
        and selector.matches(pod.labels)
        and pod.name not in disrupted
    )


def _start_time(pod: PodInfo) -> str:
    """When a pod started; one that has not is as young as can be."""
    started: str | None = (pod.pod.get("status") or {}).get("startTime")
    return started or _NOT_YET
