"""InterPodAffinity: required affinity and anti-affinity between pods."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from simcloud.kubernetes.scheduler.cache import Cache
from simcloud.kubernetes.scheduler.framework import Check, Rejection
from simcloud.kubernetes.scheduler.node_info import NodeInfo
from simcloud.kubernetes.scheduler.pod_info import PodInfo
from simcloud.kubernetes.scheduler.terms import ALONE, Term

NAME: Final = "InterPodAffinity"
_APART: Final = Rejection(NAME, ("node(s) didn't match pod affinity rules",), final=True)
_TOGETHER: Final = Rejection(NAME, ("node(s) didn't match pod anti-affinity rules",))
_UNWELCOME: Final = Rejection(NAME, ("node(s) didn't satisfy existing pods anti-affinity rules",))

Places = dict[tuple[str, str], int]
"""How many pods are in a place: a label of nodes and its value."""


class _Counts:
    """Where the pods are that a pod's rules speak of, and those whose rules speak of it."""

    def __init__(self, pod: PodInfo, cache: Cache) -> None:
        self.pod, self.client = pod, cache.client
        self.wanted: Places = {}
        self.unwanted: Places = {}
        self.unwelcoming: Places = {}
        if pod.company.near or pod.company.far:
            self._look_around(cache)
        for node, other in cache.choosy():
            self._ask(other, node, 1)

    def with_trial(self, node: NodeInfo) -> _Counts:
        """The counts, with what was tried on a copy of a node."""
        if not node.trial_pods():
            return self
        twin = _Counts.__new__(_Counts)
        twin.pod, twin.client = self.pod, self.client
        twin.wanted, twin.unwanted = dict(self.wanted), dict(self.unwanted)
        twin.unwelcoming = dict(self.unwelcoming)
        for sign, other in node.trial_pods():
            twin._meet(other.namespace, other.labels, [(node, sign)])
            twin._ask(other, node, sign)
        return twin

    def _look_around(self, cache: Cache) -> None:
        for namespace in cache.namespaces():
            for labels, counts in cache.groups(namespace):
                found = ((cache.node(name), count) for name, count in counts.items())
                self._meet(namespace, labels, ((node, count) for node, count in found if node is not None))

    def _meet(self, namespace: str, labels: Mapping[str, str], where: Iterable[tuple[NodeInfo, int]]) -> None:
        near, far = self.pod.company.near, self.pod.company.far
        is_wanted = bool(near) and all(term.matches(namespace, labels, self.client) for term in near)
        shunned = [term for term in far if term.matches(namespace, labels, self.client)]
        if is_wanted or shunned:
            for node, count in where:
                _count(self.wanted, near if is_wanted else (), node, count)
                _count(self.unwanted, shunned, node, count)

    def _ask(self, other: PodInfo, node: NodeInfo, sign: int) -> None:
        pod = self.pod
        about = [term for term in other.company.far if term.matches(pod.namespace, pod.labels, self.client)]
        _count(self.unwelcoming, about, node, sign)


def prepare(pod: PodInfo, cache: Cache) -> Check | None:
    """None when no pod affinity rule concerns this pod."""
    if pod.company is ALONE and not cache.has_choosy():
        return None
    counts = _Counts(pod, cache)
    near, far = pod.company.near, pod.company.far
    if not near and not far and not counts.unwelcoming:
        return None
    own_kind = all(term.matches(pod.namespace, pod.labels, cache.client) for term in near)

    def check(node: NodeInfo) -> Rejection | None:
        now, labels = counts.with_trial(node), node.labels
        if near and not _holds(near, labels, now.wanted, own_kind):
            return _APART
        if any(term.key in labels and now.unwanted.get((term.key, labels[term.key]), 0) > 0 for term in far):
            return _TOGETHER
        if any(count > 0 and labels.get(key) == value for (key, value), count in now.unwelcoming.items()):
            return _UNWELCOME
        return None

    return check


def _holds(near: Sequence[Term], labels: Mapping[str, str], wanted: Places, own_kind: bool) -> bool:
    """A pod that meets its own rules may come first, where no other meets them anywhere."""
    if any(term.key not in labels for term in near):
        return False
    if all(wanted.get((term.key, labels[term.key]), 0) > 0 for term in near):
        return True
    return own_kind and not any(wanted.values())


def _count(places: Places, terms: Iterable[Term], node: NodeInfo, count: int) -> None:
    for term in terms:
        value = node.labels.get(term.key)
        if value is not None:
            places[term.key, value] = places.get((term.key, value), 0) + count
