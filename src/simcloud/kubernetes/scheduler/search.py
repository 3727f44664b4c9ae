"""The search for a node: which nodes are suitable, which is best, and why the others are not.

Up to a hundred nodes are all checked; of more nodes only enough for a good choice, and the next search starts where
this one ended.
"""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import Final

from msgspec import Struct, field

from simcloud.kubernetes.scheduler import messages, scores
from simcloud.kubernetes.scheduler.cache import Cache
from simcloud.kubernetes.scheduler.filters import FILTERS, affinity
from simcloud.kubernetes.scheduler.framework import Check, Rejection
from simcloud.kubernetes.scheduler.node_info import NodeInfo
from simcloud.kubernetes.scheduler.pod_info import PodInfo

ENOUGH_NODES: Final = 100
_LEAST_PERCENT: Final = 5


class Nominations:
    """Nodes that are kept for pods that make room there."""

    def __init__(self) -> None:
        self._pods: dict[str, dict[str, PodInfo]] = {}
        self._nodes: dict[str, str] = {}

    def keep(self, pod: PodInfo, node: str) -> None:
        """Keep a node for a pod, and no other."""
        self.drop(pod.uid)
        self._nodes[pod.uid] = node
        self._pods.setdefault(node, {})[pod.uid] = pod

    def drop(self, uid: str) -> None:
        """Keep nothing for a pod."""
        node = self._nodes.pop(uid, None)
        if node is not None:
            del self._pods[node][uid]
            if not self._pods[node]:
                del self._pods[node]

    def on(self, node: str) -> Sequence[PodInfo]:
        """The pods that a node is kept for."""
        return list(self._pods.get(node, {}).values())

    def guarding(self, pod: PodInfo, fits: Check) -> Check:
        """The same check, also with the pods, no less important, for whom a node is kept."""

        def check(node: NodeInfo) -> Rejection | None:
            kept = [
                nominated
                for nominated in self.on(node.name)
                if nominated.uid != pod.uid and nominated.priority >= pod.priority
            ]
            if kept:
                fuller = node.copy()
                for other in kept:
                    fuller.add(other)
                rejection = fits(fuller)
                if rejection is not None:
                    return rejection
            return fits(node)

        return check if self._nodes else fits


class Result(Struct):
    """What a search found: a node, or why each node will not do."""

    fits: Check
    total: int
    node: NodeInfo | None = None
    rejections: list[tuple[NodeInfo, Rejection]] = field(default_factory=list)
    absent: int = 0
    """Number of nodes left out by their names."""

    def sentence(self) -> str:
        """Why no node will do."""
        left_out = [Rejection(affinity.NAME, (messages.absent(affinity.NAME),))] * self.absent
        return messages.unavailable(self.total, (*(rejection for _, rejection in self.rejections), *left_out))

    def plugins(self) -> list[str]:
        """The filters that refused nodes."""
        named = dict.fromkeys(rejection.plugin for _, rejection in self.rejections)
        return list(named | {affinity.NAME: None} if self.absent else named)


class Search:
    """Searches of one scheduler."""

    def __init__(self, cache: Cache, nominations: Nominations, random: Random) -> None:
        self._cache = cache
        self._nominations = nominations
        self._random = random
        self._start = 0

    def search(self, pod: PodInfo) -> Result:
        """Look for a node. Raises Refused where none can do."""
        nodes = self._cache.nodes()
        names = affinity.find_named_nodes(pod)
        checks = [check for prepare in FILTERS if (check := prepare(pod, self._cache)) is not None]
        result = Result(self._nominations.guarding(pod, together(checks)), len(nodes))
        kept = self._cache.node((pod.pod.get("status") or {}).get("nominatedNodeName") or "")
        if kept is not None and result.fits(kept) is None:
            result.node = kept
            return result
        if names is not None:
            found = [self._cache.node(name) for name in names]
            nodes = [node for node in found if node is not None]
            result.absent = result.total - len(nodes)
        feasible = self._feasible(nodes, result)
        if len(feasible) > 1:
            result.node = self._best(pod, feasible)
        elif feasible:
            result.node = feasible[0]
        return result

    def _feasible(self, nodes: Sequence[NodeInfo], result: Result) -> list[NodeInfo]:
        enough, start, fits = _enough(len(nodes)), self._start, result.fits
        feasible: list[NodeInfo] = []
        for number in range(len(nodes)):
            node = nodes[(start + number) % len(nodes)]
            rejection = fits(node)
            if rejection is None:
                feasible.append(node)
                if len(feasible) == enough:
                    break
            else:
                result.rejections.append((node, rejection))
        looked_at = len(feasible) + len(result.rejections)
        self._start = (start + looked_at) % result.total
        return feasible

    def _best(self, pod: PodInfo, nodes: Sequence[NodeInfo]) -> NodeInfo:
        totals = scores.totals(pod, nodes, self._cache)
        most = max(totals)
        best = [node for node, total in zip(nodes, totals, strict=True) if total == most]
        return best[0] if len(best) == 1 else self._random.choice(best)


def together(checks: Sequence[Check]) -> Check:
    """All checks as one."""

    def check(node: NodeInfo) -> Rejection | None:
        for check_filter in checks:
            rejection = check_filter(node)
            if rejection is not None:
                return rejection
        return None

    return check


def _enough(nodes: int) -> int:
    if nodes < ENOUGH_NODES:
        return nodes
    percent = max(_LEAST_PERCENT, 50 - nodes // 125)
    return max(ENOUGH_NODES, nodes * percent // 100)
