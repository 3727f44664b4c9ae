"""Garbage collection of pods that no other controller deletes.

Every 20 seconds it deletes: pods of nodes that have been gone for 40 seconds, pods that are being deleted but were
never scheduled or are on a node marked as out of service, and the oldest of more than 12,500 finished pods.
Candidates are indexed on each write, so that a round without any costs almost nothing.
"""

from __future__ import annotations

from typing import Final

from simcloud.kubernetes.api.api import Api
from simcloud.kubernetes.api.errors import ApiError
from simcloud.kubernetes.api.objects import Object
from simcloud.kubernetes.api.store import Revision
from simcloud.kubernetes.controller import Controller, NamespacedName, controller

PERIOD_S: Final = 20.0
QUARANTINE_S: Final = 40.0
TERMINATED_KEPT: Final = 12_500
OUT_OF_SERVICE: Final = "node.kubernetes.io/out-of-service"
FINISHED: Final = ("Succeeded", "Failed")


@controller("pod-garbage-collector")
class PodGarbageCollector(Controller):
    """Looks every so often. ``terminated_kept`` is how many finished pods may lie about."""

    def __init__(self, api: Api, terminated_kept: int = TERMINATED_KEPT) -> None:
        super().__init__(api)
        self._terminated_kept = terminated_kept
        self._finished: dict[NamespacedName, None] = {}
        self._terminating: dict[NamespacedName, None] = {}
        self._by_node: dict[str, dict[NamespacedName, None]] = {}
        self._missing_since: dict[str, float] = {}

    def watch(self) -> None:
        self.follow("pods", self._see)

    def start(self) -> None:
        self.watch()
        self.kernel.call_later(PERIOD_S, self._round)

    def _see(self, write: Revision) -> None:
        key = NamespacedName(write.key.namespace, write.key.name)
        node = write.object["spec"].get("nodeName")
        if write.change == "DELETED":
            self._finished.pop(key, None)
            self._terminating.pop(key, None)
            if node:
                self._leave(node, key)
            return
        if node:
            self._by_node.setdefault(node, {})[key] = None
        if write.object.get("status", {}).get("phase") in FINISHED:
            self._finished[key] = None
        if "deletionTimestamp" in write.object["metadata"]:
            self._terminating[key] = None

    def _leave(self, node: str, key: NamespacedName) -> None:
        pods = self._by_node.get(node, {})
        pods.pop(key, None)
        if not pods:
            self._by_node.pop(node, None)

    def _round(self, _: object = None) -> None:
        self.kernel.call_later(PERIOD_S, self._round)
        if len(self._finished) > self._terminated_kept:
            self._clear_finished()
        self._clear_terminating()
        self._clear_orphans()

    def _clear_finished(self) -> None:
        pods = [pod for pod in map(self._pod, self._finished) if pod is not None]
        # Evicted ones first, then the oldest.
        pods.sort(key=lambda pod: (not _is_evicted(pod), pod["metadata"]["creationTimestamp"], _name(pod)))
        for pod in pods[: len(pods) - self._terminated_kept]:
            self._delete(pod)

    def _clear_terminating(self) -> None:
        for pod in [pod for pod in map(self._pod, self._terminating) if pod is not None]:
            node = pod["spec"].get("nodeName")
            if not node or self._out_of_service(node):
                self._fail_and_delete(pod)

    def _out_of_service(self, name: str) -> bool:
        node = self.client.get("nodes", "", name)
        if node is None:
            return False
        conditions = node.get("status", {}).get("conditions") or ()
        ready = any(
            condition["type"] == "Ready" and condition["status"] == "True" for condition in conditions
        )
        taints = node.get("spec", {}).get("taints") or ()
        return not ready and any(taint["key"] == OUT_OF_SERVICE for taint in taints)

    def _clear_orphans(self) -> None:
        """A node that is missing twice, far enough apart, is gone."""
        now = self.kernel.now
        missing = [name for name in self._by_node if self.client.get("nodes", "", name) is None]
        self._missing_since = {name: self._missing_since.get(name, now) for name in missing}
        for name in missing:
            if now - self._missing_since[name] < QUARANTINE_S:
                continue
            for pod in [pod for pod in map(self._pod, self._by_node[name]) if pod is not None]:
                self._fail_and_delete(pod, "PodGC: node no longer exists")

    def _pod(self, key: NamespacedName) -> Object | None:
        return self.client.get("pods", *key)

    def _fail_and_delete(self, pod: Object, disrupted: str = "") -> None:
        """A pod without a kubelet fails here, so that those who count pods see its end."""
        try:
            if not _is_finished(pod):
                self.client.edit(pod, lambda changed: self._fail(changed, disrupted), "status")
        except ApiError:
            return
        self._delete(pod)

    def _fail(self, pod: Object, disrupted: str) -> None:
        status = pod.setdefault("status", {})
        status["phase"] = "Failed"
        if not disrupted:
            return
        condition = {
            "type": "DisruptionTarget",
            "status": "True",
            "reason": "DeletionByPodGC",
            "message": disrupted,
            "lastTransitionTime": self.api.timestamp(),
        }
        if "generation" in pod["metadata"]:
            condition["observedGeneration"] = pod["metadata"]["generation"]
        others = [other for other in status.get("conditions") or () if other["type"] != "DisruptionTarget"]
        status["conditions"] = [*others, condition]

    def _delete(self, pod: Object) -> None:
        try:
            self.client.delete(pod, grace_s=0)
        except ApiError:
            # The next round comes in any case.
            return


def _is_finished(pod: Object) -> bool:
    return pod.get("status", {}).get("phase") in FINISHED


def _is_evicted(pod: Object) -> bool:
    return bool(pod.get("status", {}).get("reason") == "Evicted")


def _name(pod: Object) -> tuple[str, str]:
    return pod["metadata"].get("namespace", ""), pod["metadata"]["name"]
