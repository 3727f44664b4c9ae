"""The status of a node: a Lease every ten seconds, and the status after a change or every five minutes.

The Node object is registered when the machine is added to the cluster; a deleted node gets no status updates. Events
about the node have no uid, as in this version of the kubelet, so ``describe`` does not find them.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import Any, Final

from simcloud.kubernetes.api.errors import ApiError
from simcloud.kubernetes.api.objects import Object, copy
from simcloud.kubernetes.api.times import micro
from simcloud.kubernetes.kubelet.node import Node
from simcloud.sim import Task

BEAT_S: Final = 10.0
REPORT_S: Final = 300.0
LEASE_S: Final = 40
LEASES: Final = "kube-node-lease"
IMAGES_AT_MOST: Final = 50

MEMORY: Final = "MemoryPressure"
DISK: Final = "DiskPressure"
PIDS: Final = "PIDPressure"
READY: Final = "Ready"

_WORDS: Final = {
    (MEMORY, False): ("KubeletHasSufficientMemory", "kubelet has sufficient memory available"),
    (MEMORY, True): ("KubeletHasInsufficientMemory", "kubelet has insufficient memory available"),
    (DISK, False): ("KubeletHasNoDiskPressure", "kubelet has no disk pressure"),
    (DISK, True): ("KubeletHasDiskPressure", "kubelet has disk pressure"),
    (PIDS, False): ("KubeletHasSufficientPID", "kubelet has sufficient PID available"),
    (PIDS, True): ("KubeletHasInsufficientPID", "kubelet has insufficient PID available"),
    (READY, True): ("KubeletReady", "kubelet is posting ready status"),
}
_CGROUP_V1: Final = (
    "cgroup v1 detected. cgroup v1 support is deprecated and will be removed in a future release. Please migrate to "
    "cgroup v2. More information at https://git.k8s.io/enhancements/keps/sig-node/5573-remove-cgroup-v1"
)
_EVENTS: Final = {
    (MEMORY, False): "NodeHasSufficientMemory",
    (MEMORY, True): "NodeHasInsufficientMemory",
    (DISK, False): "NodeHasNoDiskPressure",
    (DISK, True): "NodeHasDiskPressure",
    (PIDS, False): "NodeHasSufficientPID",
    (PIDS, True): "NodeHasInsufficientPID",
    (READY, True): "NodeReady",
}


class NodeStatus:
    """Tells the API how a node fares."""

    def __init__(self, node: Node) -> None:
        self._node = node
        self._pressed: dict[str, bool] = {MEMORY: False, DISK: False, PIDS: False}
        self._reported: dict[str, bool] = {}
        self._closed: bool | None = None
        self._reported_at = 0.0
        self._booted_at = node.machine.booted_at

    def begin(self, spawn: Callable[[Coroutine[Any, Any, Any], str], Task[Any]]) -> None:
        """The kubelet starts: say so, and go on saying that it lives."""
        self._reported, self._closed = {}, None
        self.event("Normal", "Starting", "Starting kubelet.")
        self._notice_reboot()
        if self._node.machine.cgroup_version == 1:
            self.event("Warning", "CgroupV1", _CGROUP_V1)
        self.event("Normal", "NodeAllocatableEnforced", "Updated Node Allocatable limit across pods")
        spawn(self._beat(), "node status")

    def _notice_reboot(self) -> None:
        """Tell when the machine has booted since the kubelet was last there."""
        booted_at = self._node.machine.booted_at
        if booted_at == self._booted_at:
            return
        self._booted_at = booted_at
        present = self._node.client.get("nodes", "", self._node.name)
        if present is None:
            return
        boot_id = self._node.api.new_uid()
        info = {**present["status"].get("nodeInfo", {}), "bootID": boot_id}
        try:
            self._node.client.update_status({**present, "status": {**present["status"], "nodeInfo": info}})
        except ApiError:
            return
        self.event("Warning", "Rebooted", f"Node {self._node.name} has been rebooted, boot id: {boot_id}")

    def event(self, kind: str, reason: str, message: str) -> None:
        """Record an event about the node."""
        name = self._node.name
        reference = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name}}
        self._node.recorder.event(reference, kind, reason, message)

    def press(self, kind: str, pressed: bool) -> None:
        """Report at once that a resource of the node runs short or has recovered."""
        if self._pressed[kind] != pressed:
            self._pressed[kind] = pressed
            self._report()

    async def _beat(self) -> None:
        kernel = self._node.machine.kernel
        # A kubelet that has just registered its node is not believed yet: its first lease comes with the second beat.
        renews = self._node.client.get("leases.coordination.k8s.io", LEASES, self._node.name) is not None
        while True:
            self._report()
            if renews:
                self._renew()
            renews = True
            await kernel.sleep(BEAT_S)

    def _report(self) -> None:
        """Write the node's status if it says something new, or nothing was said for long."""
        client, now = self._node.client, self._node.machine.kernel.now
        present = client.get("nodes", "", self._node.name)
        if present is None:
            return
        self._announce_schedulable(present)
        status = copy(present.get("status") or {})
        stamp = self._node.api.timestamp()
        conditions = self._conditions(status.get("conditions") or (), stamp)
        images = self._images()
        same = images == (status.get("images") or []) and conditions == _without_beat(
            status.get("conditions")
        )
        if same and now - self._reported_at < REPORT_S and self._reported_at:
            return
        status["conditions"] = [{**each, "lastHeartbeatTime": stamp} for each in conditions]
        if images:
            status["images"] = images
        try:
            client.update_status({**present, "status": status})
        except ApiError:
            return  # the next beat tries again
        self._reported_at = now
        self._announce()

    def _announce_schedulable(self, node: Object) -> None:
        """An event when somebody has cordoned the node, or opened it again."""
        closed = bool(node["spec"].get("unschedulable"))
        if self._closed is not None and self._closed is not closed:
            word = "NodeNotSchedulable" if closed else "NodeSchedulable"
            self.event("Normal", word, f"Node {self._node.name} status is now: {word}")
        self._closed = closed

    def _conditions(self, old: Any, stamp: str) -> list[Object]:
        before = {each["type"]: each for each in old}
        made = []
        for kind, value in (*self._pressed.items(), (READY, True)):
            reason, message = _WORDS[kind, value]
            status = "True" if value else "False"
            known = before.get(kind)
            since = known["lastTransitionTime"] if known and known["status"] == status else stamp
            made.append(
                {
                    "type": kind,
                    "status": status,
                    "lastTransitionTime": since,
                    "reason": reason,
                    "message": message,
                }
            )
        # What others say of the node, such as its network's state, stays.
        return [*made, *(_plain(each) for each in old if each["type"] not in (*self._pressed, READY))]

    def _announce(self) -> None:
        """Send an event for every condition that differs from the last report."""
        for kind, value in (*self._pressed.items(), (READY, True)):
            if self._reported.get(kind) is not value:
                self._reported[kind] = value
                word = _EVENTS[kind, value]
                self.event("Normal", word, f"Node {self._node.name} status is now: {word}")

    def _images(self) -> list[Object]:
        return [
            {"names": [each.image_id, each.name], "sizeBytes": each.size_bytes}
            for each in self._node.images.list_images()[:IMAGES_AT_MOST]
        ]

    def _renew(self) -> None:
        client, name = self._node.client, self._node.name
        stamp = micro(self._node.api.now_s)
        present = client.get("leases.coordination.k8s.io", LEASES, name)
        try:
            if present is None:
                client.create(self._new_lease(name, stamp))
            else:
                client.update({**present, "spec": {**present["spec"], "renewTime": stamp}})
        except ApiError:
            return  # the next beat tries again

    def _new_lease(self, name: str, stamp: str) -> Object:
        lease: Object = {
            "apiVersion": "coordination.k8s.io/v1",
            "kind": "Lease",
            "metadata": {"name": name, "namespace": LEASES},
            "spec": {"holderIdentity": name, "leaseDurationSeconds": LEASE_S, "renewTime": stamp},
        }
        node = self._node.client.get("nodes", "", name)
        if node is not None:
            owner = {"apiVersion": "v1", "kind": "Node", "name": name, "uid": node["metadata"]["uid"]}
            lease["metadata"]["ownerReferences"] = [owner]
        return lease


def _plain(each: Object) -> Object:
    return {key: value for key, value in each.items() if key != "lastHeartbeatTime"}


def _without_beat(conditions: Any) -> list[Object]:
    return [_plain(each) for each in conditions or ()]
