"""ReplicaSets and ReplicationControllers: keep a number of pods of one template.

The status describes the pods at the beginning of a sync; pods that the sync creates or deletes are seen and reported
at the next one, as with the genuine controller's cache.
"""

from __future__ import annotations

from typing import ClassVar

from simcloud.kubernetes.api.api import Api
from simcloud.kubernetes.api.errors import ApiError
from simcloud.kubernetes.api.objects import Object, copy
from simcloud.kubernetes.api.selectors import LabelSelector, from_label_selector, from_set
from simcloud.kubernetes.api.store import Revision
from simcloud.kubernetes.controller import Controller, NamespacedName, controller, controller_of
from simcloud.kubernetes.controllers.children import Children
from simcloud.kubernetes.controllers.pods import (
    BURST,
    PAUSE_S,
    Pace,
    PodControl,
    first_to_go,
    from_template,
    is_active,
    is_available,
    is_ready,
    is_terminating,
    namespace_is_leaving,
    next_check_s,
    slow_start,
)


class ReplicaManager(Controller):
    """Keeps the number of pods that the objects of one resource ask for."""

    resource: ClassVar[str]
    kind: ClassVar[str]
    tells_terminating: ClassVar[bool] = False
    """Whether the status counts pods that are on their way out."""

    def __init__(self, api: Api) -> None:
        super().__init__(api)
        self.control = PodControl(self.client, self.recorder)
        self._pace = Pace()

    def selector(self, owner: Object) -> LabelSelector:
        """Which pods an owner wants for its own."""
        raise NotImplementedError

    def find_related(self, owner: Object) -> list[Object]:
        """The owners whose pods do the same work, itself among them."""
        return [owner]

    def watch(self) -> None:
        self.pods = Children(self.client, "pods")
        self.follow(self.resource, self.enqueue)
        self.follow("pods", self.enqueue_owner(self.kind))
        self.follow("pods", self._see_orphan)
        self.follow("pods", self._pace.see)

    def sync(self, key: NamespacedName) -> None:
        owner = self.client.get(self.resource, *key)
        if owner is None:
            return
        selector = self.selector(owner)
        terminating = [pod for pod in self.pods.of(owner) if is_terminating(pod)]
        active = self.pods.claim(owner, selector, is_active)
        refusal: ApiError | None = None
        surplus = len(active) - owner["spec"].get("replicas", 1)
        if "deletionTimestamp" not in owner["metadata"]:
            try:
                self._manage(owner, active, surplus)
            except ApiError as error:
                refusal = error
        status = self._tell(owner, self._status(owner, active, terminating, refusal, surplus))
        if refusal is not None:
            raise refusal
        self._look_again(key, owner, active, status)

    def _manage(self, owner: Object, active: list[Object], surplus: int) -> None:
        if surplus < 0:
            template = owner["spec"]["template"]
            count = self._pace.take(min(-surplus, BURST), self.api.now_s)
            if count < -surplus:
                metadata = owner["metadata"]
                self.queue.add_after(NamespacedName(metadata["namespace"], metadata["name"]), PAUSE_S)
            try:
                slow_start(count, lambda _: self.control.create(from_template(template, owner), owner))
            except ApiError as error:
                if not namespace_is_leaving(error):
                    raise
        elif surplus > 0:
            self._delete(owner, active, min(surplus, BURST))

    def _delete(self, owner: Object, active: list[Object], count: int) -> None:
        if count < len(active):
            related = [pod for related_set in self.find_related(owner) for pod in self.pods.of(related_set)]
            active = first_to_go(active, related, self.api.now_s)
        refusal: ApiError | None = None
        for pod in active[:count]:
            try:
                self.control.delete(pod, owner)
            except ApiError as error:
                refusal = refusal or error
        if refusal is not None:
            raise refusal

    def _status(
        self,
        owner: Object,
        active: list[Object],
        terminating: list[Object],
        refusal: ApiError | None,
        surplus: int,
    ) -> Object:
        min_ready_s = owner["spec"].get("minReadySeconds", 0)
        now_s = self.api.now_s
        wanted = ((owner["spec"]["template"].get("metadata") or {}).get("labels") or {}).items()
        counts = {
            "fullyLabeledReplicas": sum(
                1 for pod in active if wanted <= (pod["metadata"].get("labels") or {}).items()
            ),
            "readyReplicas": sum(map(is_ready, active)),
            "availableReplicas": sum(1 for pod in active if is_available(pod, min_ready_s, now_s)),
        }
        status: Object = {"replicas": len(active), **{key: count for key, count in counts.items() if count}}
        if self.tells_terminating:
            status["terminatingReplicas"] = len(terminating)
        status["observedGeneration"] = owner["metadata"]["generation"]
        conditions = self._conditions(owner, refusal, surplus)
        if conditions:
            status["conditions"] = conditions
        return status

    def _conditions(self, owner: Object, refusal: ApiError | None, surplus: int) -> list[Object]:
        known: list[Object] = owner.get("status", {}).get("conditions") or []
        others = [copy(condition) for condition in known if condition.get("type") != "ReplicaFailure"]
        if refusal is None:
            return others
        if len(others) < len(known):
            return [copy(condition) for condition in known]
        failure = {
            "type": "ReplicaFailure",
            "status": "True",
            "lastTransitionTime": self.api.timestamp(),
            "reason": "FailedCreate" if surplus < 0 else "FailedDelete",
            "message": refusal.message,
        }
        return [*others, failure]

    def _tell(self, owner: Object, status: Object) -> Object:
        if owner.get("status") == status or self.client.refresh(owner) is None:
            return status
        self.client.edit(owner, lambda current: current.update(status=status), "status")
        return status

    def _look_again(self, key: NamespacedName, owner: Object, active: list[Object], status: Object) -> None:
        """A pod that is ready, but not for long enough yet, is looked at when it will be."""
        min_ready_s = owner["spec"].get("minReadySeconds", 0)
        if min_ready_s and status.get("readyReplicas", 0) != status.get("availableReplicas", 0):
            wait_s = next_check_s(active, min_ready_s, self.api.now_s)
            if wait_s is not None:
                self.queue.add_after(key, wait_s)

    def _see_orphan(self, write: Revision) -> None:
        """An orphan that is new, or has new labels, may be wanted by somebody."""
        pod, before = write.object, write.before
        if write.change == "DELETED" or controller_of(pod) is not None:
            return
        labels = pod["metadata"].get("labels")
        if (
            before is not None
            and before["metadata"].get("labels") == labels
            and controller_of(before) is None
        ):
            return
        for owner in self.client.list(self.resource, write.key.namespace):
            if self.selector(owner).matches(labels):
                self.queue.add(NamespacedName(write.key.namespace, owner["metadata"]["name"]))


@controller("replicaset-controller")
class ReplicaSets(ReplicaManager):
    """Keeps the pods of ReplicaSets."""

    resource = "replicasets.apps"
    kind = "ReplicaSet"
    tells_terminating = True

    def selector(self, owner: Object) -> LabelSelector:
        return from_label_selector(owner["spec"]["selector"])

    def find_related(self, owner: Object) -> list[Object]:
        """A Deployment's ReplicaSets do the same work, so that no node shall hold all that remains."""
        parent = controller_of(owner)
        return [owner] if parent is None else self.sets.of({"metadata": {"uid": parent["uid"]}})

    def watch(self) -> None:
        self.sets = Children(self.client, self.resource)
        super().watch()


@controller("replication-controller")
class ReplicationControllers(ReplicaManager):
    """Keeps the pods of ReplicationControllers."""

    resource = "replicationcontrollers"
    kind = "ReplicationController"

    def selector(self, owner: Object) -> LabelSelector:
        return from_set(owner["spec"].get("selector"))
