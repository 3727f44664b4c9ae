"""Node lifecycle: detects nodes whose kubelet is silent, and marks the node and its pods.

A kubelet shows that it is alive by its Lease or its status. All nodes are checked every five seconds; one without a
sign of life for 50 s becomes Unknown, its pods become not ready, and it is tainted: NoSchedule at once, as for other
conditions, and NoExecute at a rate of one node of a zone every ten seconds. A zone in which most nodes fail gets no
NoExecute taints.
"""

from __future__ import annotations

from typing import Final

from msgspec import Struct

from simcloud.kubernetes.api.api import Api
from simcloud.kubernetes.api.errors import ApiError
from simcloud.kubernetes.api.objects import Object, at, copy
from simcloud.kubernetes.api.store import Revision
from simcloud.kubernetes.api.times import parse
from simcloud.kubernetes.controller import MANAGER, Controller, NamespacedName, controller
from simcloud.kubernetes.controllers.children import NodePods
from simcloud.kubernetes.controllers.nodes.conditions import (
    GRACE_S,
    NOT_READY,
    STARTUP_GRACE_S,
    UNREACHABLE,
    condition_of,
    condition_taints,
    is_condition_taint,
    make_unknown,
    replace_condition,
)
from simcloud.kubernetes.controllers.nodes.zones import Tainter

MONITOR_S: Final = 5.0
TAINTING_S: Final = 0.1
LEASES: Final = "kube-node-lease"


class _Health(Struct):
    """What is known of a node's signs of life; ``seen_s`` is virtual time."""

    seen_s: float
    heartbeat: str | None
    renewed: str | None = None


@controller("node-controller")
class NodeLifecycle(Controller):
    """Watches over the nodes' health."""

    pods: NodePods

    def __init__(self, api: Api) -> None:
        super().__init__(api)
        self._health: dict[str, _Health] = {}
        self._known: dict[str, Object] = {}
        self._retry: dict[str, None] = {}
        self._tainter = Tainter()
        self._planned = False

    def watch(self) -> None:
        self.pods = NodePods(self.client)
        self.follow("nodes", self.enqueue)
        self.follow("pods", self._see_pod)
        self.kernel.spawn(self._monitor(), f"{self.name}.monitor")

    def _see_pod(self, write: Revision) -> None:
        node = write.object["spec"].get("nodeName")
        if write.change != "DELETED" and node and node != at(write.before, "spec", "nodeName"):
            self.queue.add(NamespacedName(write.key.namespace, write.key.name))

    def sync(self, key: NamespacedName) -> None:
        if key.namespace:
            self._sync_pod(key)
        else:
            self._sync_taints(key.name)

    def _sync_pod(self, key: NamespacedName) -> None:
        """A pod that came to a node which is not ready is not ready either."""
        pod = self.client.get("pods", *key)
        if pod is None or pod["spec"].get("nodeName") not in self._health:
            return
        node = self.client.get("nodes", "", pod["spec"]["nodeName"])
        ready = condition_of(node, "Ready") if node is not None else None
        if ready is not None and ready["status"] != "True":
            self._mark_not_ready(pod)

    def _sync_taints(self, name: str) -> None:
        """The NoSchedule taints follow a node's conditions."""
        node = self.client.get("nodes", "", name)
        if node is None:
            return
        wanted = condition_taints(node)
        present = [taint["key"] for taint in node["spec"].get("taints") or () if is_condition_taint(taint)]
        if sorted(wanted) == sorted(present):
            return
        self._swap(
            node,
            add=[(key, "NoSchedule") for key in wanted if key not in present],
            remove=[(key, "NoSchedule") for key in present if key not in wanted],
        )

    def _swap(self, node: Object, add: list[tuple[str, str]], remove: list[tuple[str, str]]) -> None:
        """Add and remove taints in one write."""
        kept = [
            copy(taint)
            for taint in node["spec"].get("taints") or ()
            if (taint["key"], taint["effect"]) not in remove
        ]
        held = [(taint["key"], taint["effect"]) for taint in kept]
        now = self.api.timestamp()
        kept += [
            {"key": key, "effect": effect, "timeAdded": now}
            for key, effect in add
            if (key, effect) not in held
        ]
        if kept != (node["spec"].get("taints") or []):
            self.client.patch(node, {"spec": {"taints": kept or None}})

    async def _monitor(self) -> None:
        while True:
            await self.api.components.wait_for(MANAGER)
            self._look_at_all()
            await self.kernel.sleep(MONITOR_S)

    def _look_at_all(self) -> None:
        nodes = {node["metadata"]["name"]: node for node in self.client.list("nodes")}
        for name in [name for name in self._known if name not in nodes]:
            self._event(self._known.pop(name), "RemovingNode", f"Removing Node {name} from Controller")
            self._health.pop(name, None)
            self._tainter.remove(name)
        for name, node in nodes.items():
            if name not in self._known:
                self._event(node, "RegisteredNode", f"Registered Node {name} in Controller")
            self._known[name] = node
            try:
                self._look_at(node)
            except ApiError:
                # The node or a pod changed meanwhile; the next round sees it as it is then.
                self._retry[name] = None
        self._tainter.judge(self.client.list("nodes"))
        self._taint_waiting()

    def _look_at(self, node: Object) -> None:
        name = node["metadata"]["name"]
        observed = condition_of(node, "Ready")
        status = observed["status"] if observed is not None else "Unknown"
        current = self._judge(node, observed)
        self._taint_by(current, status)
        ready = condition_of(current, "Ready")
        fell = ready is not None and ready["status"] != "True" and status == "True"
        if fell:
            self._tell(current, "NodeNotReady")
        if fell or (name in self._retry and status != "True"):
            for pod in self.pods.on(name):
                self._mark_not_ready(pod)
        self._retry.pop(name, None)

    def _judge(self, node: Object, ready: Object | None) -> Object:
        """Note a node's signs of life; say that it is silent when there were none for too long."""
        name = node["metadata"]["name"]
        heartbeat = ready.get("lastHeartbeatTime") if ready is not None else None
        health = self._health.get(name)
        if health is None:
            created_s = parse(node["metadata"]["creationTimestamp"]) - self.api.epoch_s
            since_s = self.kernel.now if ready is not None else created_s
            health = self._health[name] = _Health(since_s, heartbeat)
        elif health.heartbeat != heartbeat:
            health.seen_s, health.heartbeat = self.kernel.now, heartbeat
        lease = self.client.get("leases.coordination.k8s.io", LEASES, name)
        renewed = at(lease, "spec", "renewTime")
        if renewed is not None and (health.renewed is None or health.renewed < renewed):
            health.seen_s, health.renewed = self.kernel.now, renewed
        grace_s = GRACE_S if ready is not None else STARTUP_GRACE_S
        if self.kernel.now <= health.seen_s + grace_s or (ready is not None and ready["status"] == "Unknown"):
            return node
        changed: Object = copy(node)
        changed["status"]["conditions"] = make_unknown(node, self.api.timestamp())
        return self.client.update_status(changed)

    def _taint_by(self, node: Object, ready: str) -> None:
        """Ask for the NoExecute taint of a node that was not ready, or take it from one that was."""
        effects = {(taint["key"], taint["effect"]) for taint in node["spec"].get("taints") or ()}
        not_ready, unreachable = (NOT_READY, "NoExecute"), (UNREACHABLE, "NoExecute")
        name = node["metadata"]["name"]
        if ready == "True":
            self._tainter.remove(name)
            if effects & {not_ready, unreachable}:
                self._swap(node, add=[], remove=[not_ready, unreachable])
            return
        wanted, opposite = (not_ready, unreachable) if ready == "False" else (unreachable, not_ready)
        if opposite in effects:
            self._swap(node, add=[wanted], remove=[opposite])
        elif wanted not in effects:
            self._tainter.add(node)

    def _taint_waiting(self) -> None:
        """Taint those whose turn it is, and come again while some wait."""
        for name in self._tainter.due(self.api.now_s):
            node = self.client.get("nodes", "", name)
            ready = condition_of(node, "Ready") if node is not None else None
            if node is None or ready is None or ready["status"] == "True":
                continue
            both = ((NOT_READY, "NoExecute"), (UNREACHABLE, "NoExecute"))
            wanted, opposite = both if ready["status"] == "False" else both[::-1]
            try:
                self._swap(node, add=[wanted], remove=[opposite])
            except ApiError:
                self._tainter.add(node)
        later = self._tainter.next_s(self.api.now_s)
        if later is not None and not self._planned:
            self._planned = True
            self.kernel.call_later(max(later, TAINTING_S), self._taint_later)

    def _taint_later(self, _: None) -> None:
        self._planned = False
        self._taint_waiting()

    def _mark_not_ready(self, pod: Object) -> None:
        ready = next(
            (
                condition
                for condition in pod["status"].get("conditions") or ()
                if condition["type"] == "Ready"
            ),
            None,
        )
        if ready is None or ready["status"] == "False":
            return
        changed: Object = copy(pod)
        unready = {**ready, "status": "False", "lastTransitionTime": self.api.timestamp()}
        changed["status"]["conditions"] = list(replace_condition(pod, unready))
        self.client.update_status(changed)
        self.recorder.event(pod, "Warning", "NodeNotReady", "Node is not ready")

    def _event(self, node: Object, reason: str, message: str) -> None:
        name = node["metadata"]["name"]
        self.recorder.event(_bare(node), "Normal", reason, f"Node {name} event: {message}")

    def _tell(self, node: Object, state: str) -> None:
        name = node["metadata"]["name"]
        self.recorder.event(_bare(node), "Normal", state, f"Node {name} status is now: {state}")


def _bare(node: Object) -> Object:
    """A node as these events refer to it: without its version."""
    metadata = {"name": node["metadata"]["name"], "uid": node["metadata"]["uid"]}
    return {"apiVersion": "v1", "kind": "Node", "metadata": metadata}
