"""The scheduler's cache of nodes and pods, updated with every change.

Results that filters and scores need often are precomputed: pods with the same labels are counted together by node,
and pods with affinity rules, users of claims and holders of images are indexed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import zip_longest
from typing import Final

from simcloud.kubernetes.api.selectors import LabelSelector
from simcloud.kubernetes.api.store import Revision
from simcloud.kubernetes.component_client import ComponentClient
from simcloud.kubernetes.controllers.volumes.selection import VolumeIndex
from simcloud.kubernetes.scheduler.node_info import NodeInfo
from simcloud.kubernetes.scheduler.pod_info import Group, PodInfo
from simcloud.kubernetes.scheduler.terms import ALONE

ENDED = ("Succeeded", "Failed")
_ZONES: Final = ("topology.kubernetes.io/region", "topology.kubernetes.io/zone")


class Cache:
    """Nodes with what runs on them. ``client`` reads everything else."""

    def __init__(self, client: ComponentClient) -> None:
        self.client = client
        self.volumes = VolumeIndex(client)
        self.image_holders: dict[str, int] = {}
        self._infos: dict[str, NodeInfo] = {}
        self._listed: list[NodeInfo] | None = None
        self._places: dict[str, str] = {}
        self._groups: dict[str, dict[Group, tuple[Mapping[str, str], dict[str, int]]]] = {}
        self._choosy: dict[str, tuple[str, PodInfo]] = {}
        self._claim_users: dict[tuple[str, str], dict[str, PodInfo]] = {}

    def nodes(self) -> Sequence[NodeInfo]:
        """All registered nodes: zones in turn, in each in the order in which they came."""
        if self._listed is None:
            zones: dict[tuple[str, ...], list[NodeInfo]] = {}
            for info in self._infos.values():
                if info.node is not None:
                    zones.setdefault(tuple(info.labels.get(label, "") for label in _ZONES), []).append(info)
            self._listed = [
                node for turn in zip_longest(*zones.values()) for node in turn if node is not None
            ]
        return self._listed

    def node(self, name: str) -> NodeInfo | None:
        """One registered node."""
        info = self._infos.get(name)
        return info if info is not None and info.node is not None else None

    def namespaces(self) -> Sequence[str]:
        """The namespaces that have pods on nodes."""
        return list(self._groups)

    def groups(self, namespace: str) -> Iterator[tuple[Mapping[str, str], Mapping[str, int]]]:
        """Pods of a namespace with equal labels: these, and how many there are by node's name."""
        return iter(self._groups.get(namespace, {}).values())

    def count_pods(self, namespace: str, selector: LabelSelector) -> dict[str, int]:
        """How many pods that stay does a selector choose, by node's name."""
        total: dict[str, int] = {}
        for (_, _, leaving), (labels, counts) in self._groups.get(namespace, {}).items():
            if not leaving and selector.matches(labels):
                for node, count in counts.items():
                    total[node] = total.get(node, 0) + count
        return total

    def choosy(self) -> Iterator[tuple[NodeInfo, PodInfo]]:
        """The pods that have rules about others, and where they are."""
        for name, pod in self._choosy.values():
            node = self.node(name)
            if node is not None:
                yield node, pod

    def has_choosy(self) -> bool:
        """Whether any pod has rules about others."""
        return bool(self._choosy)

    def claim_users(self, namespace: str, claim: str) -> Mapping[str, PodInfo]:
        """The pods on nodes that use a claim, by uid."""
        return self._claim_users.get((namespace, claim), {})

    def node_changed(self, write: Revision) -> None:
        """Take a change of a node."""
        info = self._infos.setdefault(write.key.name, NodeInfo(write.key.name))
        before, labels = info.images, info.labels
        if write.change == "DELETED":
            info.node, info.images = None, {}
        else:
            info.set_node(write.object)
        if before != info.images:
            self._hold(before, -1)
            self._hold(info.images, 1)
        if write.change != "MODIFIED" or labels != info.labels:
            self._listed = None

    def place(self, pod: PodInfo, node: str) -> None:
        """Count a pod on a node, instead of what was known of it."""
        self.forget(pod.uid)
        self._places[pod.uid] = node
        self._infos.setdefault(node, NodeInfo(node)).add(pod)
        self._group(pod, node, 1)
        if pod.company is not ALONE:
            self._choosy[pod.uid] = (node, pod)
        for claim in pod.claims:
            self._claim_users.setdefault((pod.namespace, claim), {})[pod.uid] = pod

    def forget(self, uid: str) -> PodInfo | None:
        """Count a pod no more; None if it did not count."""
        node = self._places.pop(uid, None)
        if node is None:
            return None
        pod = self._infos[node].pods[uid]
        self._infos[node].remove(uid)
        self._group(pod, node, -1)
        self._choosy.pop(uid, None)
        for claim in pod.claims:
            self._claim_users[pod.namespace, claim].pop(uid, None)
        return pod

    def refresh(self, write: Revision) -> bool:
        """Whether an update left a counted pod as it counts; its object is then simply newer."""
        now, before = write.object, write.before
        uid, spec = now["metadata"]["uid"], now["spec"]
        node = self._places.get(uid)
        if before is None or node is None or node != spec.get("nodeName"):
            return False
        known = self._infos[node].pods[uid]
        if known.leaving != ("deletionTimestamp" in now["metadata"]):
            return False
        if known.labels != (now["metadata"].get("labels") or {}):
            return False
        # A binding changes nothing but the node's name.
        if before["spec"] != (spec if "nodeName" in before["spec"] else _unbound(spec)):
            return False
        known.pod, known.spec = now, spec
        return True

    def _hold(self, images: Mapping[str, int], sign: int) -> None:
        for name in images:
            self.image_holders[name] = self.image_holders.get(name, 0) + sign

    def _group(self, pod: PodInfo, node: str, sign: int) -> None:
        groups = self._groups.setdefault(pod.namespace, {})
        _, counts = groups.setdefault(pod.group, (pod.labels, {}))
        left = counts.get(node, 0) + sign
        if left:
            counts[node] = left
            return
        del counts[node]
        if not counts:
            del groups[pod.group]


def _unbound(spec: Mapping[str, object]) -> dict[str, object]:
    return {name: value for name, value in spec.items() if name != "nodeName"}
