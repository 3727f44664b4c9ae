"""The scheduler's picture of nodes and pods, kept from what the API tells, one change at a time."""

from __future__ import annotations

from collections.abc import Sequence

from aiopslab.cluster.api.store import Revision
from aiopslab.cluster.client import Client
from aiopslab.cluster.scheduler.node_info import NodeInfo
from aiopslab.cluster.scheduler.pod_info import PodInfo

ENDED = ("Succeeded", "Failed")


class Cache:
    """Nodes with what runs on them. ``client`` reads everything else."""

    def __init__(self, client: Client) -> None:
        self.client = client
        self._infos: dict[str, NodeInfo] = {}
        self._listed: list[NodeInfo] | None = None
        self._places: dict[str, str] = {}

    def nodes(self) -> Sequence[NodeInfo]:
        """All registered nodes, in the order in which they came."""
        if self._listed is None:
            self._listed = [info for info in self._infos.values() if info.node is not None]
        return self._listed

    def node(self, name: str) -> NodeInfo | None:
        """One registered node."""
        info = self._infos.get(name)
        return info if info is not None and info.node is not None else None

    def node_changed(self, write: Revision) -> None:
        """Take a change of a node."""
        info = self._infos.setdefault(write.key.name, NodeInfo(write.key.name))
        if write.change == "DELETED":
            info.node = None
        else:
            info.set_node(write.object)
        if write.change != "MODIFIED":
            self._listed = None

    def place(self, pod: PodInfo, node: str) -> None:
        """Count a pod on a node, instead of what was known of it."""
        self.forget(pod.uid)
        self._places[pod.uid] = node
        self._infos.setdefault(node, NodeInfo(node)).add(pod)

    def forget(self, uid: str) -> bool:
        """Count a pod no more; False if it did not count."""
        node = self._places.pop(uid, None)
        if node is None:
            return False
        self._infos[node].remove(uid)
        return True

    def refreshed(self, write: Revision) -> bool:
        """Whether an update left a counted pod as it counts; its object is then simply newer."""
        uid = write.object["metadata"]["uid"]
        node, before = self._places.get(uid), write.before
        if node is None or before is None or before["spec"] != write.object["spec"]:
            return False
        if before["metadata"].get("labels") != write.object["metadata"].get("labels"):
            return False
        self._infos[node].pods[uid].pod = write.object
        return True
