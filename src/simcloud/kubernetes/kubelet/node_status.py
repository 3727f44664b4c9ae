"""The status of a node: a Lease every ten seconds, and the status after a change or every five minutes.

The Node object is registered when the machine is added to the cluster; a deleted node gets no status updates. Events
about the node have no uid, as in this version of the kubelet, so ``describe`` does not find them.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import Any, Final
from uuid import UUID

from simcloud.kubernetes.api.errors import ApiError
from simcloud.kubernetes.api.objects import Object
from simcloud.kubernetes.api.times import micro, rfc3339
from simcloud.kubernetes.images import Published
from simcloud.kubernetes.kubelet.node import Node
from simcloud.kubernetes.kubelet.services import KUBELET, SOCKET
from simcloud.kubernetes.nodes import CONDITIONS
from simcloud.machine.proc import vary
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
    (kind, status == "True"): (reason, message) for kind, status, reason, message in CONDITIONS
} | {
    (MEMORY, True): ("KubeletHasInsufficientMemory", "kubelet has insufficient memory available"),
    (DISK, True): ("KubeletHasDiskPressure", "kubelet has disk pressure"),
    (PIDS, True): ("KubeletHasInsufficientPID", "kubelet has insufficient PID available"),
}
DOWN: Final = "container runtime is down"
NO_NETWORK: Final = (
    "container runtime network not ready: NetworkReady=false reason:NetworkPluginNotReady message:Network plugin returns "
    "error: {}"
)
NOT_READY: Final = "KubeletNotReady"
HUNG_S: Final = 180
"""After so long without an answer of the runtime the kubelet says so."""
_CGROUP_V1: Final = (
    "cgroup v1 detected. cgroup v1 support is deprecated and will be removed in a future release. Please migrate to "
    "cgroup v2. More information at https://git.k8s.io/enhancements/keps/sig-node/5573-remove-cgroup-v1"
)


class NodeStatus:
    """Tells the API how a node fares."""

    def __init__(self, node: Node) -> None:
        self._node = node
        self._pressed: dict[str, bool] = {MEMORY: False, DISK: False, PIDS: False}
        self._reported: dict[str, bool] = {}
        self._closed: bool | None = None
        self._reported_at = 0.0
        self._late_s = 0.0
        """So much before the time of its next writing the node's status was reported last, in skipped time."""
        self._answered_at = 0.0
        """When the runtime answered last."""
        self._boots = node.machine.boots
        self._images_of: list[Published] = []
        self._images: list[Object] = []
        node.machine.kernel.on_skip(self._expire_report)

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
        boots = self._node.machine.boots
        if boots == self._boots:
            return
        self._boots = boots
        present = self._node.client.get("nodes", "", self._node.name)
        if present is None:
            return
        boot_id = str(UUID(self._node.machine.boot_id))
        info = {**present["status"].get("nodeInfo", {}), "bootID": boot_id}
        try:
            self._node.client.update_status({**present, "status": {**present["status"], "nodeInfo": info}})
        except ApiError:
            return
        self.event("Warning", "Rebooted", f"Node {self._node.name} has been rebooted, boot id: {boot_id}")

    def _expire_report(self, seconds: float) -> None:
        self._reported_at = 0.0
        self._late_s = min(seconds, vary(f"{self._node.name}/status") * REPORT_S)
        if self._node.machine.units[KUBELET].running:
            self._report()

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
            # Kubelets that start together beat one after another.
            await kernel.sleep(BEAT_S if renews else BEAT_S * (0.5 + vary(self._node.name) / 2))
            renews = True

    def _report(self) -> None:
        """Write the node's status if it says something new, or nothing was said for long."""
        client, now = self._node.client, self._node.machine.kernel.now
        present = client.get("nodes", "", self._node.name)
        if present is None:
            return
        self._announce_schedulable(present)
        status = present.get("status") or {}
        stamp = self._node.api.timestamp()
        conditions = self._conditions(status.get("conditions") or (), stamp)
        images = self._list_images()
        same = images == (status.get("images") or []) and conditions == _without_beat(
            status.get("conditions")
        )
        if same and now - self._reported_at < REPORT_S and self._reported_at:
            return
        heard = rfc3339(self._node.api.now_s - self._late_s)
        report = {**status, "conditions": [{**each, "lastHeartbeatTime": heard} for each in conditions]}
        if images:
            report["images"] = images
        try:
            client.update_status({**present, "status": report})
        except ApiError:
            return  # the next beat tries again
        self._reported_at, self._late_s = now - self._late_s, 0.0
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
        trouble = self._find_trouble()
        for kind, value in (*self._pressed.items(), (READY, not trouble)):
            reason, message = (NOT_READY, trouble) if kind == READY and trouble else _WORDS[kind, value]
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
        trouble = self._find_trouble()
        for kind, value in (*self._pressed.items(), (READY, not trouble)):
            if self._reported.get(kind) is not value:
                if kind == READY and trouble == DOWN:
                    why = f"rpc error: code = Unavailable desc = dial unix {SOCKET}: connect: connection refused"
                    self._node.log.write_error(
                        "kubelet.go:3247", "Container runtime sanity check failed", err=why
                    )
                elif kind == READY and trouble:
                    self._node.log.write_error("kubelet.go:2646", "Skipping pod synchronization", err=trouble)
                self._reported[kind] = value
                word = (_WORDS[kind, value][0] if value or kind != READY else NOT_READY).replace(
                    "Kubelet", "Node"
                )
                self.event("Normal", word, f"Node {self._node.name} status is now: {word}")

    def _find_trouble(self) -> str:
        """Return why the node is not ready, or an empty text."""
        runtime, now = self._node.runtime, self._node.machine.kernel.now
        if not runtime.unit.running:
            return DOWN
        if not runtime.is_hung:
            self._answered_at = now
        elif now - self._answered_at >= HUNG_S:
            minutes, seconds = divmod(int(now - self._answered_at), 60)
            return (
                f"PLEG is not healthy: pleg was last seen active {minutes}m{seconds}s ago; threshold is 3m0s"
            )
        network = runtime.find_network_trouble()
        return NO_NETWORK.format(network) if network else ""

    def _list_images(self) -> list[Object]:
        """The largest images, as statuses show them; the same list as long as there are the same images."""
        present = self._node.images.list_images()
        if self._images_of is not present:
            self._images_of = present
            self._images = [
                {"names": [each.image_id, *each.tags], "sizeBytes": each.size_bytes}
                for each in present[:IMAGES_AT_MOST]
            ]
        return self._images

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
