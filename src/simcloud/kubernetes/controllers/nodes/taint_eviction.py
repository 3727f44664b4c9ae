"""Taint-based eviction: deletes pods from nodes with a NoExecute taint that they do not tolerate.

A pod that tolerates a taint for a limited time is deleted after that time, unless the taint is removed first.
"""

from __future__ import annotations

from simcloud.kubernetes.api.errors import ApiError
from simcloud.kubernetes.api.objects import Object, at, copy
from simcloud.kubernetes.api.store import Revision
from simcloud.kubernetes.controller import Controller, NamespacedName, controller
from simcloud.kubernetes.controllers.children import NodePods
from simcloud.kubernetes.placement import tolerates

RETRIES = 5
RETRY_S = 0.01


@controller("taint-eviction-controller")
class TaintEviction(Controller):
    """Deletes pods from tainted nodes."""

    pods: NodePods
    planned: dict[NamespacedName, float | None]
    """When pods are to be deleted; None for those that were."""

    def watch(self) -> None:
        self.planned = {}
        self.pods = NodePods(self.client)
        self.follow("nodes", self._see_node)
        self.follow("pods", self._see_pod)

    def _see_node(self, write: Revision) -> None:
        if write.change != "MODIFIED" or no_execute(write.before) != no_execute(write.object):
            self.enqueue(write)

    def _see_pod(self, write: Revision) -> None:
        fields = ("nodeName", "tolerations")
        before = write.before if write.change == "MODIFIED" else None
        if before is None or any(
            before["spec"].get(field) != write.object["spec"].get(field) for field in fields
        ):
            self.enqueue(write)

    def sync(self, key: NamespacedName) -> None:
        if key.namespace:
            self._sync_pod(key)
            return
        node = self.client.get("nodes", "", key.name)
        if node is None:
            return
        taints = no_execute(node)
        for pod in self.pods.on(key.name):
            place = NamespacedName(pod["metadata"]["namespace"], pod["metadata"]["name"])
            if taints:
                self._plan(place, pod, taints)
            else:
                self._cancel(place)

    def _sync_pod(self, key: NamespacedName) -> None:
        pod = self.client.get("pods", *key)
        if pod is None:
            self._cancel(key)
            return
        node = self.client.get("nodes", "", pod["spec"].get("nodeName", ""))
        taints = no_execute(node)
        if taints:
            self._plan(key, pod, taints)

    def _plan(self, key: NamespacedName, pod: Object, taints: list[Object]) -> None:
        bearable_s = toleration_s(pod, taints)
        now_s = self.api.now_s
        if bearable_s is None:
            self._cancel(key)
            return
        if bearable_s <= 0:
            self._cancel(key)
            self.planned[key] = None
            self._evict(key)
            return
        if key in self.planned:
            return  # a plan stands as it was made, also when the pod would bear another taint for longer
        plan = self.planned[key] = now_s + bearable_s
        self.kernel.call_later(bearable_s, self._fire, (key, plan))

    def _fire(self, work: tuple[NamespacedName, float]) -> None:
        key, plan = work
        if self.planned.get(key) == plan:
            self.planned[key] = None
            self._evict(key)

    def _evict(self, key: NamespacedName) -> None:
        self._tell(key, f"Marking for deletion Pod {key.namespace}/{key.name}")
        self._delete((key, RETRIES))

    def _delete(self, work: tuple[NamespacedName, int]) -> None:
        key, tries = work
        pod = self.client.get("pods", *key)
        if pod is None:
            return
        try:
            self.client.delete(self._with_condition(pod))
        except ApiError:
            if tries > 1:
                self.kernel.call_later(RETRY_S, self._delete, (key, tries - 1))
            else:
                self.planned.pop(key, None)

    def _with_condition(self, pod: Object) -> Object:
        target = {
            "type": "DisruptionTarget",
            "status": "True",
            "reason": "DeletionByTaintManager",
            "message": "Taint manager: deleting due to NoExecute taint",
            "lastTransitionTime": self.api.timestamp(),
        }
        conditions = pod["status"].get("conditions") or []
        if any(
            condition["type"] == target["type"] and condition["status"] == "True" for condition in conditions
        ):
            return pod
        changed: Object = copy(pod)
        kept = [
            condition
            for condition in changed["status"].get("conditions") or ()
            if condition["type"] != target["type"]
        ]
        changed["status"]["conditions"] = [*kept, target]
        return self.client.update_status(changed)

    def _cancel(self, key: NamespacedName) -> None:
        if self.planned.pop(key, None) is not None:
            self._tell(key, f"Cancelling deletion of Pod {key.namespace}/{key.name}")

    def _tell(self, key: NamespacedName, message: str) -> None:
        metadata = {"namespace": key.namespace, "name": key.name}
        pod = {"apiVersion": "v1", "kind": "Pod", "metadata": metadata}
        self.recorder.event(pod, "Normal", "TaintManagerEviction", message)


def no_execute(node: Object | None) -> list[Object]:
    """A node's taints that drive pods away."""
    return [
        taint for taint in at(node, "spec", "taints", default=None) or () if taint["effect"] == "NoExecute"
    ]


def toleration_s(pod: Object, taints: list[Object]) -> float | None:
    """For how long a pod bears all of some taints; None if for ever."""
    used = []
    for taint in taints:
        fitting = next(
            (
                toleration
                for toleration in pod["spec"].get("tolerations") or ()
                if tolerates(toleration, taint)
            ),
            None,
        )
        if fitting is None:
            return 0.0
        used.append(fitting)
    times = [
        toleration["tolerationSeconds"]
        for toleration in used
        if toleration.get("tolerationSeconds") is not None
    ]
    return float(max(0, min(times))) if times else None
