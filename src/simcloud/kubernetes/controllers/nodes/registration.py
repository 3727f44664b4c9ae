"""Additions of the control plane to new nodes: a range of pod addresses, and the TTL of caches."""

from __future__ import annotations

from typing import Final

from simcloud.kubernetes.api.objects import Object
from simcloud.kubernetes.controller import Controller, NamespacedName, controller

TTL: Final = "node.alpha.kubernetes.io/ttl"
RANGES: Final = 256
_TTLS: Final = ((100, 0), (500, 15), (1000, 30), (2000, 60))
_LONGEST: Final = 300


@controller("ttl-controller")
class NodeTtl(Controller):
    """Writes how long a kubelet may keep secrets and config maps: 0 s in a small cluster."""

    def watch(self) -> None:
        self.follow("nodes", self.enqueue)

    def sync(self, key: NamespacedName) -> None:
        node = self.client.get("nodes", *key)
        if node is None:
            return
        count = self.api.log.count("", "nodes")
        wanted = str(next((ttl for most, ttl in _TTLS if count <= most), _LONGEST))
        if (node["metadata"].get("annotations") or {}).get(TTL) != wanted:
            self.client.patch(node, {"metadata": {"annotations": {TTL: wanted}}})


@controller("node-ipam-controller")
class NodeRanges(Controller):
    """Gives every node without one a /24 of 10.244.0.0/16."""

    def watch(self) -> None:
        self.follow("nodes", self.enqueue)

    def sync(self, key: NamespacedName) -> None:
        node = self.client.get("nodes", *key)
        if node is None or node["spec"].get("podCIDR"):
            return
        taken = {other["spec"].get("podCIDR") for other in self.client.list("nodes")}
        ranges = (f"10.244.{number}.0/24" for number in range(RANGES))
        free = next((cidr for cidr in ranges if cidr not in taken), None)
        if free is None:
            self._refuse(node)
            return
        self.client.patch(node, {"spec": {"podCIDR": free, "podCIDRs": [free]}})

    def _refuse(self, node: Object) -> None:
        name = node["metadata"]["name"]
        message = f"Node {name} status is now: CIDRNotAvailable"
        self.recorder.event(node, "Normal", "CIDRNotAvailable", message)
