"""ReplicaSets: a number of pods of one template, usually on behalf of a Deployment."""

from __future__ import annotations

from simcloud.kubernetes.api.objects import Object
from simcloud.kubernetes.api.selectors import LabelSelector, from_label_selector
from simcloud.kubernetes.controller import controller, controller_of
from simcloud.kubernetes.controllers.children import Children
from simcloud.kubernetes.controllers.replicas import ReplicaManager


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
