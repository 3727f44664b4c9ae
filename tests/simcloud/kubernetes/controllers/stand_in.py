"""A stand-in for the scheduler and the kubelets: pods get a node, run and become ready after a moment.

It is what ran behind the recording of the control plane: containers whose image is named ``bad`` or
``nosuch`` stay in ImagePullBackOff, everything else is ready at once. It looks at no resources, taints
or probes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from simcloud.kubernetes.api.api import Api
from simcloud.kubernetes.api.errors import ApiError
from simcloud.kubernetes.api.objects import Object, at, copy
from simcloud.kubernetes.api.store import Revision
from simcloud.kubernetes.component_client import ComponentClient

BIND_S = 0.02
RUN_S = 0.3
END_S = 0.3
NODES = ("kind-control-plane", "kind-worker")


def add_nodes(api: Api, names: Sequence[str] = NODES) -> None:
    """Nodes that are ready, as a kubelet would register them."""
    client = ComponentClient(api, "system:nodes", "kubelet")
    for name in names:
        labels = {"kubernetes.io/hostname": name, "kubernetes.io/os": "linux"}
        node = client.create(
            {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name, "labels": labels}}
        )
        client.edit(node, lambda one: one.update(status={"conditions": [_condition(api, "Ready")]}), "status")


class StandIn:
    """Binds pods to nodes in turn, makes them run, and ends those that are to go."""

    def __init__(self, api: Api, nodes: Sequence[str] = NODES) -> None:
        self.api = api
        self.client = ComponentClient(api, "stand-in", "stand-in")
        self.nodes = list(nodes)
        self.turn = 0
        self.held: dict[str, None] = {}
        """Uids of pods that somebody plays by hand."""

    def start(self) -> None:
        self.client.follow("pods", self._see)

    def _see(self, write: Revision) -> None:
        pod, later = write.object, self.api.kernel.call_later
        if write.change == "DELETED":
            return
        if pod["metadata"].get("deletionTimestamp"):
            if not at(write.before, "metadata", "deletionTimestamp"):
                later(END_S, self._end, pod)
        elif not pod["spec"].get("nodeName"):
            if write.change == "ADDED":
                later(BIND_S, self._bind, pod)
        elif not at(write.before, "spec", "nodeName"):
            later(RUN_S, self._run, pod)

    def _bind(self, pod: Object) -> None:
        metadata = pod["metadata"]
        name = wanted_node(pod) or self.nodes[self.turn % len(self.nodes)]
        self.turn += 1
        binding = {
            "metadata": {"name": metadata["name"], "uid": metadata["uid"]},
            "target": {"kind": "Node", "name": name},
        }
        try:
            self.api.subresource(
                "create",
                self.client.resource("pods"),
                metadata["namespace"],
                metadata["name"],
                "binding",
                binding,
            )
        except ApiError:
            pass  # it is gone

    def _run(self, pod: Object) -> None:
        if pod["metadata"]["uid"] not in self.held:
            self.tell(pod)

    def _end(self, pod: Object) -> None:
        if self.client.refresh(pod) is not None:
            self.client.delete(pod, grace_s=0)

    def tell(self, pod: Object, phase: str = "Running", ready: bool = True) -> None:
        """Write a pod's status, if the pod is still there."""
        pulled = not any(
            bad in container["image"] for container in pod["spec"]["containers"] for bad in ("bad", "nosuch")
        )
        if not pulled:
            phase, ready = "Pending", False
        try:
            self.client.edit(pod, lambda one: self._write(one, phase, ready, pulled), "status")
        except ApiError:
            pass  # it is gone

    def _write(self, pod: Object, phase: str, ready: bool, pulled: bool) -> None:
        status = pod["status"]
        known = {one["type"]: one for one in status.get("conditions") or ()}
        told = (("Initialized", True), ("Ready", ready), ("ContainersReady", ready), ("PodScheduled", True))
        status["conditions"] = [
            known[kind]
            if kind in known and (known[kind]["status"] == "True") == holds
            else _condition(self.api, kind, holds)
            for kind, holds in told
        ]
        status["phase"] = phase
        status.setdefault("startTime", self.api.timestamp())
        state: dict[str, Any] = {"running": {"startedAt": self.api.timestamp()}}
        if phase in ("Failed", "Succeeded"):
            state = {"terminated": {"exitCode": 0 if phase == "Succeeded" else 1, "reason": "Completed"}}
        if not pulled:
            state = {"waiting": {"reason": "ImagePullBackOff", "message": "Back-off pulling image"}}
        status["containerStatuses"] = [
            {
                "name": container["name"],
                "image": container["image"],
                "imageID": "",
                "ready": ready,
                "restartCount": 0,
                "state": copy(state),
                "lastState": {},
            }
            for container in pod["spec"]["containers"]
        ]


def wanted_node(pod: Object) -> str:
    """The node that a daemon's pod is made for."""
    path = ("spec", "affinity", "nodeAffinity", "requiredDuringSchedulingIgnoredDuringExecution")
    for term in at(pod, *path, "nodeSelectorTerms", default=()):
        for field in term.get("matchFields") or ():
            name: str = field["values"][0]
            return name
    return ""


def _condition(api: Api, kind: str, holds: bool = True) -> Object:
    return {"type": kind, "status": "True" if holds else "False", "lastTransitionTime": api.timestamp()}
