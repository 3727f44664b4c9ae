"""The loop: one pod at a time gets the best of the nodes that will do, or a sentence why none does.

A cycle happens at one instant of virtual time. A pod that was given a node counts there at once. What
makes room for a more important pod goes gracefully; until it is gone, the node is kept for that pod.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from aiopslab.cluster.api.api import Api
from aiopslab.cluster.api.errors import ApiError
from aiopslab.cluster.api.objects import Object
from aiopslab.cluster.api.store import Revision
from aiopslab.cluster.client import Client
from aiopslab.cluster.scheduler import messages, preemption, scores
from aiopslab.cluster.scheduler.cache import ENDED, Cache
from aiopslab.cluster.scheduler.events import SeriesRecorder
from aiopslab.cluster.scheduler.filters import FILTERS, claims
from aiopslab.cluster.scheduler.framework import Check, Refused, Rejection
from aiopslab.cluster.scheduler.node_info import NodeInfo
from aiopslab.cluster.scheduler.pod_info import PodInfo
from aiopslab.cluster.scheduler.queue import SchedulingQueue, Waiting

CYCLE_S: Final = 0.002
"""One pod's scheduling and binding."""

VOLUME_WAIT_S: Final = 600.0
VOLUME_POLL_S: Final = 1.0
HELPFUL: Final = ("persistentvolumeclaims", "persistentvolumes", "storageclasses.storage.k8s.io")


class Scheduler:
    """kube-scheduler for the pods that name it."""

    def __init__(self, api: Api, name: str = "default-scheduler") -> None:
        self.name = name
        self._kernel = api.kernel
        self._client = Client(api, "system:kube-scheduler", "kube-scheduler")
        self._recorder = SeriesRecorder(self._client, name, f"{name}-kind-control-plane")
        self._random = api.kernel.random("scheduler")
        self._pods = self._client.resource("pods")
        self.cache = Cache(self._client)
        self.queue = SchedulingQueue(api.kernel)
        self._nominated: dict[str, tuple[str, PodInfo]] = {}

    def start(self) -> None:
        """Begin to watch and to schedule."""
        self._client.follow("nodes", self._node_changed)
        self._client.follow("pods", self._pod_changed)
        for name in HELPFUL:
            self._client.follow(name, lambda write: self.queue.wake())
        self._kernel.spawn(self._work(), "kube-scheduler")
        self._kernel.spawn(self.queue.flush(), "kube-scheduler.flush")
        self._kernel.spawn(self._recorder.finish(), "kube-scheduler.events")

    def _node_changed(self, write: Revision) -> None:
        self.cache.node_changed(write)
        if write.before is None or _differs(write.before, write.object):
            self.queue.wake()

    def _pod_changed(self, write: Revision) -> None:
        pod = write.object
        uid = pod["metadata"]["uid"]
        if write.change == "DELETED" or (pod.get("status") or {}).get("phase") in ENDED:
            self.queue.remove(uid)
            self._nominated.pop(uid, None)
            if self.cache.forget(uid):
                self.queue.wake()
        elif pod["spec"].get("nodeName"):
            self.queue.remove(uid)
            self._nominated.pop(uid, None)
            if not self.cache.refreshed(write):
                self.cache.place(PodInfo(pod), pod["spec"]["nodeName"])
                self.queue.wake(company=True)
        elif pod["spec"].get("schedulerName") == self.name:
            status_only = write.before is not None and write.before["spec"] == pod["spec"]
            if not (status_only and self.queue.refresh(PodInfo(pod))):
                self.queue.add(PodInfo(pod))

    async def _work(self) -> None:
        while True:
            waiting = await self.queue.next()
            await self._kernel.sleep(CYCLE_S)
            if "deletionTimestamp" not in waiting.pod.pod["metadata"]:
                self._try(waiting)

    def _try(self, waiting: Waiting) -> None:
        pod, nodes = waiting.pod, self.cache.nodes()
        if not nodes:
            self._failed(waiting, messages.NO_NODES, None)
            return
        try:
            checks = [check for prepare in FILTERS if (check := prepare(pod, self.cache)) is not None]
        except Refused as refusal:
            self._failed(waiting, messages.refused(len(nodes), refusal.reason), None)
            return
        fits = self._keeping_nominated(pod, preemption.together(checks))
        chosen, rejections = self._choose(pod, nodes, fits)
        if chosen is not None:
            self._bind(waiting, chosen.name)
        else:
            self._make_room(waiting, nodes, fits, rejections)

    def _keeping_nominated(self, pod: PodInfo, fits: Check) -> Check:
        """Also with the pods, no less important, for whom the node is kept."""

        def check(node: NodeInfo) -> Rejection | None:
            kept = [
                other
                for name, other in self._nominated.values()
                if name == node.name and other.uid != pod.uid and other.priority >= pod.priority
            ]
            if kept:
                fuller = node.copy()
                for other in kept:
                    fuller.add(other)
                rejection = fits(fuller)
                if rejection is not None:
                    return rejection
            return fits(node)

        return check if self._nominated else fits

    def _choose(
        self, pod: PodInfo, nodes: Sequence[NodeInfo], fits: Check
    ) -> tuple[NodeInfo | None, list[tuple[NodeInfo, Rejection]]]:
        kept = self.cache.node((pod.pod.get("status") or {}).get("nominatedNodeName") or "")
        if kept is not None and fits(kept) is None:
            return kept, []
        rejections: list[tuple[NodeInfo, Rejection]] = []
        feasible: list[NodeInfo] = []
        for node in nodes:
            rejection = fits(node)
            if rejection is None:
                feasible.append(node)
            else:
                rejections.append((node, rejection))
        if len(feasible) < 2:
            return (feasible[0] if feasible else None), rejections
        totals = scores.totals(pod, feasible)
        most = max(totals)
        best = [node for node, total in zip(feasible, totals, strict=True) if total == most]
        return (best[0] if len(best) == 1 else self._random.choice(best)), rejections

    def _make_room(
        self,
        waiting: Waiting,
        nodes: Sequence[NodeInfo],
        fits: Check,
        rejections: Sequence[tuple[NodeInfo, Rejection]],
    ) -> None:
        pod = waiting.pod
        sentence = messages.unavailable(len(nodes), (one for _, one in rejections))
        if pod.spec.get("preemptionPolicy") == "Never":
            self._failed(waiting, messages.with_preemption(sentence, messages.NEVER), None)
            return
        if self._room_is_coming(pod, rejections):
            self._failed(waiting, messages.with_preemption(sentence, messages.WAITING), None)
            return
        hopeful = [node for node, one in rejections if not one.final]
        candidates, hopeless = preemption.find(
            pod, hopeful, fits, self._client.list("poddisruptionbudgets.policy") if hopeful else ()
        )
        if not candidates:
            hopeless += [Rejection("", (messages.NOT_HELPFUL,))] * (len(nodes) - len(hopeful))
            why = messages.unavailable(len(nodes), hopeless)
            self._failed(waiting, messages.with_preemption(sentence, why), "")
            return
        best = preemption.best(candidates)
        self._failed(waiting, sentence, best.node)
        for victim in reversed(best.victims):
            self._preempt(waiting.pod, victim, best.node)

    def _room_is_coming(self, pod: PodInfo, rejections: Sequence[tuple[NodeInfo, Rejection]]) -> bool:
        kept = (pod.pod.get("status") or {}).get("nominatedNodeName")
        for node, rejection in rejections:
            if node.name == kept and not rejection.final:
                return any(
                    other.priority < pod.priority and _leaving(other.pod) for other in node.pods.values()
                )
        return False

    def _preempt(self, pod: PodInfo, victim: PodInfo, node: str) -> None:
        if "deletionTimestamp" in victim.pod["metadata"]:
            return
        message = f"{self.name}: preempting to accommodate a higher priority pod"
        condition = _condition(victim.pod, "DisruptionTarget", "True", "PreemptionByScheduler", message)
        try:
            self._client.edit(victim.pod, lambda obj: self._set_condition(obj, condition), "status")
            self._client.delete(victim.pod)
        except ApiError:
            self.queue.wake()
            return
        told = f"Preempted by pod {pod.uid} on node {node}"
        self._recorder.event(victim.pod, "Normal", "Preempted", "Preempting", told, pod.pod)

    def _failed(self, waiting: Waiting, message: str, nominate: str | None) -> None:
        """Tell why; ``nominate`` sets or clears the node that is kept, None leaves it."""
        pod = waiting.pod
        if nominate:
            self._nominated[pod.uid] = (nominate, pod)
        elif nominate == "":
            self._nominated.pop(pod.uid, None)
        self.queue.failed(waiting, again=False)
        self._recorder.event(pod.pod, "Warning", "FailedScheduling", "Scheduling", message)
        condition = _condition(pod.pod, "PodScheduled", "False", "Unschedulable", message)

        def change(obj: Object) -> None:
            self._set_condition(obj, condition)
            if nominate:
                obj["status"]["nominatedNodeName"] = nominate
            elif nominate == "":
                obj["status"].pop("nominatedNodeName", None)

        try:
            self._client.edit(pod.pod, change, "status")
        except ApiError:
            return

    def _set_condition(self, obj: Object, condition: Object) -> None:
        """Put a condition in its place; its time changes only with its status."""
        conditions: list[Any] = obj.setdefault("status", {}).setdefault("conditions", [])
        made = {**condition, "lastTransitionTime": self._client.api.timestamp()}
        for number, one in enumerate(conditions):
            if one["type"] == made["type"]:
                if one["status"] == made["status"]:
                    made["lastTransitionTime"] = one.get("lastTransitionTime")
                conditions[number] = made
                return
        conditions.append(made)

    def _bind(self, waiting: Waiting, node: str) -> None:
        pod = waiting.pod
        self.cache.place(pod, node)
        self._nominated.pop(pod.uid, None)
        unbound = claims.unbound(pod, self.cache)
        if unbound:
            self._kernel.spawn(self._bind_later(waiting, node, unbound), f"kube-scheduler.bind.{pod.uid}")
        else:
            self._bind_now(waiting, node)

    async def _bind_later(self, waiting: Waiting, node: str, unbound: Sequence[Object]) -> None:
        """Tell the claims their node, and wait for their volumes."""
        pod = waiting.pod
        try:
            for claim in unbound:
                self._client.patch(claim, {"metadata": {"annotations": {claims.SELECTED_NODE: node}}})
            deadline = self._kernel.now + VOLUME_WAIT_S
            while claims.unbound(pod, self.cache):
                if self._kernel.now >= deadline:
                    self._unbind(waiting, "binding volumes: context deadline exceeded")
                    return
                await self._kernel.sleep(VOLUME_POLL_S)
        except (ApiError, Refused) as error:
            self._unbind(waiting, f"binding volumes: {error}")
            return
        self._bind_now(waiting, node)

    def _bind_now(self, waiting: Waiting, node: str) -> None:
        pod = waiting.pod
        binding = {
            "apiVersion": "v1",
            "kind": "Binding",
            "metadata": {"name": pod.name, "namespace": pod.namespace, "uid": pod.uid},
            "target": {"kind": "Node", "name": node},
        }
        try:
            self._client.api.subresource(
                "create", self._pods, pod.namespace, pod.name, "binding", binding, self._client.caller
            )
        except ApiError as error:
            self._unbind(waiting, f"binding rejected: {error}")
            return
        told = f"Successfully assigned {pod.namespace}/{pod.name} to {node}"
        self._recorder.event(pod.pod, "Normal", "Scheduled", "Binding", told)

    def _unbind(self, waiting: Waiting, message: str) -> None:
        self.cache.forget(waiting.pod.uid)
        self.queue.failed(waiting, again=True)
        self._recorder.event(waiting.pod.pod, "Warning", "FailedScheduling", "Scheduling", message)


def _condition(pod: Object, kind: str, status: str, reason: str, message: str) -> Object:
    return {
        "type": kind,
        "observedGeneration": pod["metadata"].get("generation", 1),
        "status": status,
        "lastProbeTime": None,
        "reason": reason,
        "message": message,
    }


def _leaving(pod: Object) -> bool:
    return "deletionTimestamp" in pod["metadata"] and any(
        one["type"] == "DisruptionTarget" and one.get("reason") == "PreemptionByScheduler"
        for one in (pod.get("status") or {}).get("conditions") or ()
    )


def _differs(before: Object, now: Object) -> bool:
    """Whether a node changed in a way that may let a pod in; its heartbeats do not."""
    statuses = before.get("status") or {}, now.get("status") or {}
    return (
        before.get("spec") != now.get("spec")
        or statuses[0].get("allocatable") != statuses[1].get("allocatable")
        or before["metadata"].get("labels") != now["metadata"].get("labels")
    )
