"""InterPodAffinity: preferred affinity and anti-affinity of the pod and of existing pods."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from simcloud.kubernetes.scheduler.cache import Cache
from simcloud.kubernetes.scheduler.node_info import NodeInfo
from simcloud.kubernetes.scheduler.pod_info import PodInfo
from simcloud.kubernetes.scheduler.terms import Term

Places = dict[str, dict[str, int]]
"""Of a label of nodes the points that each value has."""


def company(pod: PodInfo, nodes: Sequence[NodeInfo], cache: Cache) -> list[int] | None:
    """Points for every node, from the least to the most liked."""
    places: Places = {}
    _own_wishes(pod, cache, places)
    _wishes_of_others(pod, cache, places)
    if not places:
        return None
    points = [
        sum(values.get(node.labels.get(key, ""), 0) for key, values in places.items() if key in node.labels)
        for node in nodes
    ]
    least, most = min(points), max(points)
    if most == least:
        return None
    return [int(100 * ((point - least) / (most - least))) for point in points]


def _own_wishes(pod: PodInfo, cache: Cache, places: Places) -> None:
    wishes = pod.company
    if not wishes.preferred_near and not wishes.preferred_far:
        return
    for namespace in cache.namespaces():
        for labels, counts in cache.groups(namespace):
            for terms, sign in ((wishes.preferred_near, 1), (wishes.preferred_far, -1)):
                for term in terms:
                    if term.matches(namespace, labels, cache.client):
                        _give_all(places, term, sign, counts, cache)


def _wishes_of_others(pod: PodInfo, cache: Cache, places: Places) -> None:
    for node, other in cache.choosy():
        wishes = other.company
        _give(places, (*wishes.near, *wishes.preferred_near), 1, pod, node, cache)
        _give(places, wishes.preferred_far, -1, pod, node, cache)


def _give_all(places: Places, term: Term, sign: int, counts: Mapping[str, int], cache: Cache) -> None:
    for name, count in counts.items():
        node = cache.node(name)
        if node is not None and term.key in node.labels:
            _add(places, term.key, node.labels[term.key], sign * term.weight * count)


def _give(
    places: Places, terms: Iterable[Term], sign: int, pod: PodInfo, node: NodeInfo, cache: Cache
) -> None:
    for term in terms:
        if term.key in node.labels and term.matches(pod.namespace, pod.labels, cache.client):
            _add(places, term.key, node.labels[term.key], sign * term.weight)


def _add(places: Places, key: str, value: str, points: int) -> None:
    values = places.setdefault(key, {})
    values[value] = values.get(value, 0) + points
