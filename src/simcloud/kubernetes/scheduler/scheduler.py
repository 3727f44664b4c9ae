"""The scheduling loop: assigns the best suitable node to one pod at a time, or reports why none is suitable.

A cycle happens at one instant of virtual time. An assigned pod counts on its node at once. Preempted pods end
gracefully; until they are gone, the node is nominated for the preempting pod.
"""

from __future__ import annotations

from typing import Final

from simcloud.kubernetes.api.api import Api
from simcloud.kubernetes.api.errors import ApiError
from simcloud.kubernetes.api.objects import Object
from simcloud.kubernetes.api.pod_conditions import set_condition
from simcloud.kubernetes.api.store import Revision
from simcloud.kubernetes.component_client import ComponentClient
from simcloud.kubernetes.scheduler import hints, messages
from simcloud.kubernetes.scheduler.binding import Binder
from simcloud.kubernetes.scheduler.cache import ENDED, Cache
from simcloud.kubernetes.scheduler.events import SeriesRecorder
from simcloud.kubernetes.scheduler.evictions import Preemptor
from simcloud.kubernetes.scheduler.framework import Refused
from simcloud.kubernetes.scheduler.hints import Change, node_of
from simcloud.kubernetes.scheduler.pod_info import PodInfo
from simcloud.kubernetes.scheduler.queue import SchedulingQueue, Waiting
from simcloud.kubernetes.scheduler.search import Nominations, Search

CYCLE_S: Final = 0.002
"""One pod's scheduling and binding."""


class Scheduler:
    """kube-scheduler for the pods that name it."""

    def __init__(self, api: Api, name: str = "default-scheduler") -> None:
        self.name = name
        self._kernel = api.kernel
        self._client = ComponentClient(api, "system:kube-scheduler", "kube-scheduler")
        self._recorder = SeriesRecorder(self._client, name, f"{name}-kind-control-plane")
        self.cache = Cache(self._client)
        self.queue = SchedulingQueue(api.kernel)
        self._nominations = Nominations()
        random = api.kernel.random("scheduler")
        self._search = Search(self.cache, self._nominations, random)
        self._preemptor = Preemptor(self._client, self.cache, self._nominations, self._recorder, name, random)
        self._binder = Binder(self._client, self.cache, self._recorder, self._unbound)

    def start(self) -> None:
        """Begin to watch and to schedule."""
        self._client.follow("nodes", self._node_changed)
        self._client.follow("pods", self._pod_changed)
        for name in hints.STORAGE:
            self._client.follow(name, self._storage_changed)
        self._kernel.spawn(self._work(), "kube-scheduler")
        self._kernel.spawn(self.queue.flush(), "kube-scheduler.flush")
        self._kernel.spawn(self._recorder.finish(), "kube-scheduler.events")

    def _node_changed(self, write: Revision) -> None:
        self.cache.node_changed(write)
        if write.change == "DELETED":
            self.queue.notify_change(Change(hints.NODE_GONE, self._client, node=node_of(write.object)))
        elif write.before is None or _differs(write.before, write.object):
            now, before = node_of(write.object), node_of(write.before)
            self.queue.notify_change(Change(hints.NODE, self._client, node=now, node_before=before))

    def _storage_changed(self, write: Revision) -> None:
        if write.change != "DELETED":
            kind = f"{write.key.plural}.{write.key.group}" if write.key.group else write.key.plural
            self.queue.notify_change(Change(kind, self._client, object=write.object, before=write.before))

    def _pod_changed(self, write: Revision) -> None:
        pod = write.object
        uid = pod["metadata"]["uid"]
        if write.change == "DELETED" or (pod.get("status") or {}).get("phase") in ENDED:
            self._forget(uid)
            known = self.cache.forget(uid)
            if known is not None:
                self.queue.notify_change(Change(hints.GONE, self._client, pod=known))
        elif pod["spec"].get("nodeName"):
            self._forget(uid)
            if not self.cache.refresh(write):
                self._on_placed(PodInfo(pod))
        elif pod["spec"].get("schedulerName") == self.name:
            status_only = write.before is not None and _schedules_alike(write.before, pod)
            if not (status_only and self.queue.refresh(PodInfo(pod))):
                self.queue.add(PodInfo(pod))

    def _forget(self, uid: str) -> None:
        self.queue.remove(uid)
        self._nominations.drop(uid)

    def _on_placed(self, pod: PodInfo) -> None:
        """A pod has its node, or has changed on it."""
        before = self.cache.forget(pod.uid)
        self.cache.place(pod, pod.spec["nodeName"])
        kind = hints.PLACED if before is None else hints.RELABELLED
        self.queue.notify_change(Change(kind, self._client, pod=pod, pod_before=before))

    async def _work(self) -> None:
        while True:
            await self._client.api.components.wait_for("kube-scheduler")
            waiting = self.queue.next()
            if waiting is None:
                await self.queue.arrival().wait()
                continue
            await self._kernel.sleep(CYCLE_S)
            self._try(waiting)

    def _try(self, waiting: Waiting) -> None:
        pod = waiting.pod
        if pod.leaving:
            message = f"skip schedule deleting pod: {pod.namespace}/{pod.name}"
            self._recorder.event(pod.pod, "Warning", "FailedScheduling", "Scheduling", message)
            return
        nodes = self.cache.nodes()
        if not nodes:
            self._refuse(waiting, messages.NO_NODES, (), None)
            return
        try:
            result = self._search.search(pod)
        except Refused as refusal:
            self._refuse(
                waiting, messages.format_refusal(len(nodes), refusal.reason), (refusal.plugin,), None
            )
            return
        if result.node is not None:
            self._nominations.drop(pod.uid)
            self._binder.bind(waiting, result.node)
            self.queue.notify_change(Change(hints.PLACED, self._client, pod=pod))
            return
        outcome = self._preemptor.make_room(pod, result)
        self._refuse(waiting, outcome.message, result.plugins(), outcome.nominate)
        if outcome.candidate is not None and not self._preemptor.evict(pod, outcome.candidate):
            self.queue.activate(pod.uid)

    def _refuse(
        self, waiting: Waiting, message: str, plugins: tuple[str, ...] | list[str], nominate: str | None
    ) -> None:
        """Tell why no node will do; ``nominate`` sets or clears the node that is kept, None leaves it."""
        if nominate:
            self._nominations.keep(waiting.pod, nominate)
        elif nominate == "":
            self._nominations.drop(waiting.pod.uid)
        self.queue.add_unschedulable(waiting, plugins)
        self._tell(waiting.pod, "Unschedulable", message, nominate)

    def _unbound(self, waiting: Waiting, message: str) -> None:
        """A binding failed: the pod's place is free again."""
        known = self.cache.forget(waiting.pod.uid)
        if known is not None:
            self.queue.notify_change(Change(hints.GONE, self._client, pod=known))
        self.queue.add_failed(waiting)
        self._tell(waiting.pod, "SchedulerError", message, "")

    def _tell(self, pod: PodInfo, reason: str, message: str, nominate: str | None) -> None:
        self._recorder.event(pod.pod, "Warning", "FailedScheduling", "Scheduling", message)
        condition = {"type": "PodScheduled", "status": "False", "reason": reason, "message": message}
        now = self._client.api.timestamp()

        def change(obj: Object) -> None:
            set_condition(obj, condition, now)
            if nominate:
                obj["status"]["nominatedNodeName"] = nominate
            elif nominate == "":
                obj["status"].pop("nominatedNodeName", None)

        try:
            self._client.edit(pod.pod, change, "status")
        except ApiError:
            return


def _differs(before: Object, now: Object) -> bool:
    """Whether a node changed in a way that may let a pod in; its heartbeats do not."""
    statuses = before.get("status") or {}, now.get("status") or {}
    return (
        before.get("spec") != now.get("spec")
        or statuses[0].get("allocatable") != statuses[1].get("allocatable")
        or before["metadata"].get("labels") != now["metadata"].get("labels")
    )


def _schedules_alike(before: Object, now: Object) -> bool:
    """Whether a waiting pod's change has nothing to do with where it may go."""
    return bool(
        before["spec"] == now["spec"] and before["metadata"].get("labels") == now["metadata"].get("labels")
    )
