"""ReplicationControllers: what ReplicaSets were before they had selectors of many kinds."""

from __future__ import annotations

from simcloud.kubernetes.api.objects import Object
from simcloud.kubernetes.api.selectors import LabelSelector, from_set
from simcloud.kubernetes.controller import controller
from simcloud.kubernetes.controllers.replicas import ReplicaManager


@controller("replication-controller")
class ReplicationControllers(ReplicaManager):
    """Keeps the pods of ReplicationControllers."""

    resource = "replicationcontrollers"
    kind = "ReplicationController"

    def selector(self, owner: Object) -> LabelSelector:
        return from_set(owner["spec"].get("selector"))
