"""ReplicationControllers: what ReplicaSets were before they had selectors of many kinds."""

from __future__ import annotations

from aiopslab.cluster.api.objects import Object
from aiopslab.cluster.api.selectors import LabelSelector, from_set
from aiopslab.cluster.controller import controller
from aiopslab.cluster.controllers.replicas import ReplicaManager


@controller("replication-controller")
class ReplicationControllers(ReplicaManager):
    """Keeps the pods of ReplicationControllers."""

    resource = "replicationcontrollers"
    kind = "ReplicationController"

    def selector(self, owner: Object) -> LabelSelector:
        return from_set(owner["spec"].get("selector"))
