"""Preemption in practice: whether a pod may preempt, the eviction of its victims, and the message otherwise."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

from msgspec import Struct

from simcloud.kubernetes.api.errors import ApiError
from simcloud.kubernetes.api.objects import Object
from simcloud.kubernetes.api.pod_conditions import set_condition
from simcloud.kubernetes.component_client import ComponentClient
from simcloud.kubernetes.scheduler import messages, preemption
from simcloud.kubernetes.scheduler.cache import Cache
from simcloud.kubernetes.scheduler.events import SeriesRecorder
from simcloud.kubernetes.scheduler.framework import Rejection
from simcloud.kubernetes.scheduler.node_info import NodeInfo
from simcloud.kubernetes.scheduler.pod_info import PodInfo
from simcloud.kubernetes.scheduler.search import Nominations, Result

_REASON = "PreemptionByScheduler"


class Outcome(Struct, frozen=True):
    """What is said, which node is kept from now on (None: as before), and who must go."""

    message: str
    nominate: str | None = None
    candidate: preemption.Candidate | None = None


class Preemptor:
    """Makes room for the pods of one scheduler."""

    def __init__(
        self,
        client: ComponentClient,
        cache: Cache,
        nominations: Nominations,
        recorder: SeriesRecorder,
        name: str,
        random: Random,
    ) -> None:
        self._client = client
        self._cache = cache
        self._nominations = nominations
        self._recorder = recorder
        self._name = name
        self._random = random

    def make_room(self, pod: PodInfo, result: Result) -> Outcome:
        """Find who must go for a pod that found no node."""
        sentence = result.sentence()
        if pod.spec.get("preemptionPolicy") == "Never":
            return Outcome(messages.with_preemption(sentence, messages.NEVER))
        if self._room_is_coming(pod, result.rejections):
            return Outcome(messages.with_preemption(sentence, messages.WAITING))
        hopeful = [node for node, rejection in result.rejections if not rejection.final]
        if hopeful:
            first = self._random.randrange(len(hopeful))
            hopeful = [*hopeful[first:], *hopeful[:first]]
        budgets = self._client.list("poddisruptionbudgets.policy") if hopeful else ()
        candidates, hopeless = preemption.find(pod, hopeful, result.fits, budgets)
        if not candidates:
            hopeless += [Rejection("", (messages.NOT_HELPFUL,))] * (result.total - len(hopeful))
            why = messages.unavailable(result.total, hopeless)
            return Outcome(messages.with_preemption(sentence, why), "")
        best = preemption.best(candidates)
        return Outcome(sentence, best.node, best)

    def evict(self, pod: PodInfo, chosen: preemption.Candidate) -> bool:
        """Evict the victims; False if one of them could not be evicted."""
        for other in self._nominations.on(chosen.node):
            if other.priority < pod.priority:
                self._unkeep(other)
        # The most important one goes last.
        return all(self._evict(pod, victim, chosen.node) for victim in reversed(chosen.victims))

    def _room_is_coming(self, pod: PodInfo, rejections: Sequence[tuple[NodeInfo, Rejection]]) -> bool:
        node = self._cache.node((pod.pod.get("status") or {}).get("nominatedNodeName") or "")
        if node is None or any(candidate is node and rejection.final for candidate, rejection in rejections):
            return False
        return any(other.priority < pod.priority and _is_preempted(other.pod) for other in node.pods.values())

    def _unkeep(self, pod: PodInfo) -> None:
        """A less important pod's place is not kept any more: it looks for another."""
        self._nominations.drop(pod.uid)
        try:
            self._client.edit(pod.pod, lambda obj: obj["status"].pop("nominatedNodeName", None), "status")
        except ApiError:
            return

    def _evict(self, pod: PodInfo, victim: PodInfo, node: str) -> bool:
        if victim.leaving:
            return True
        condition = {
            "type": "DisruptionTarget",
            "status": "True",
            "reason": _REASON,
            "message": f"{self._name}: preempting to accommodate a higher priority pod",
        }
        now = self._client.api.timestamp()
        try:
            self._client.edit(victim.pod, lambda obj: set_condition(obj, condition, now), "status")
            self._client.delete(victim.pod)
        except ApiError:
            return False
        message = f"Preempted by pod {pod.uid} on node {node}"
        self._recorder.event(victim.pod, "Normal", "Preempted", "Preempting", message, pod.pod)
        return True


def _is_preempted(pod: Object) -> bool:
    return "deletionTimestamp" in pod["metadata"] and any(
        condition["type"] == "DisruptionTarget"
        and condition["status"] == "True"
        and condition.get("reason") == _REASON
        for condition in (pod.get("status") or {}).get("conditions") or ()
    )
