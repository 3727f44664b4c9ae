"""What the scheduler knows about a node: its object, its pods and the sums of their requests.

Sums are updated as pods come and go, never recomputed.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

from simcloud.kubernetes.api.objects import Object
from simcloud.kubernetes.scheduler.pod_info import Amounts, HostPort, PodInfo, amounts

BLOCKING = ("NoSchedule", "NoExecute")
_ANY = "0.0.0.0"


class NodeInfo:
    """A node, and what is left on it. ``node`` is None while only its pods are known."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.node: Object | None = None
        self.labels: Mapping[str, str] = {}
        self.allocatable: Amounts = {}
        self.most_pods = 0
        self.unschedulable = False
        self.blocking_taints: list[Object] = []
        self.soft_taints: list[Object] = []
        self.images: dict[str, int] = {}
        self.pods: dict[str, PodInfo] = {}
        self.requested: Amounts = {}
        self.score_cpu_m = 0
        self.score_memory_bytes = 0
        self.ports: dict[HostPort, int] = {}
        self.remembered: dict[tuple[int, ...], int] = {}
        """Scores by what a pod asks for, as long as the node is as it is."""
        self._trial: dict[str, tuple[int, PodInfo]] | None = None

    def set_node(self, node: Object) -> None:
        """Take the facts of the node's object."""
        spec, status = node.get("spec") or {}, node.get("status") or {}
        self.node = node
        self.remembered = {}
        self.labels = node["metadata"].get("labels") or {}
        self.allocatable = amounts(status.get("allocatable"))
        self.most_pods = self.allocatable.get("pods", 0)
        self.unschedulable = bool(spec.get("unschedulable"))
        taints = spec.get("taints") or ()
        self.blocking_taints = [taint for taint in taints if taint["effect"] in BLOCKING]
        self.soft_taints = [taint for taint in taints if taint["effect"] == "PreferNoSchedule"]
        self.images = {
            name: image.get("sizeBytes") or 0
            for image in status.get("images") or ()
            for name in image.get("names") or ()
        }

    def add(self, pod: PodInfo) -> None:
        """Count a pod."""
        self.pods[pod.uid] = pod
        self._count(pod, 1)

    def remove(self, uid: str) -> None:
        """Count a pod no more."""
        self._count(self.pods.pop(uid), -1)

    def takes(self, wanted: HostPort) -> bool:
        """Whether a host port is taken already."""
        return any(conflicts(taken, wanted) for taken in self.ports)

    def copy(self) -> NodeInfo:
        """A copy to try things on; it remembers what was changed on it."""
        twin = NodeInfo(self.name)
        twin.__dict__.update(self.__dict__)
        twin.pods, twin.requested, twin.ports = dict(self.pods), dict(self.requested), dict(self.ports)
        twin._trial = dict(self._trial or {})
        return twin

    def trial_pods(self) -> Collection[tuple[int, PodInfo]]:
        """The pods that a copy has more (1) or less (-1) than the node it is of."""
        return self._trial.values() if self._trial else ()

    def _count(self, pod: PodInfo, sign: int) -> None:
        if self._trial is not None:
            before = self._trial.pop(pod.uid, None)
            if before is None:
                self._trial[pod.uid] = (sign, pod)
        self.remembered = {}
        requested = self.requested
        for name, amount in pod.requests.items():
            requested[name] = requested.get(name, 0) + sign * amount
        self.score_cpu_m += sign * pod.score_cpu_m
        self.score_memory_bytes += sign * pod.score_memory_bytes
        for port in pod.ports:
            left = self.ports.get(port, 0) + sign
            if left:
                self.ports[port] = left
            else:
                del self.ports[port]


def conflicts(one: HostPort, other: HostPort) -> bool:
    """Whether two host ports cannot both be taken on a node."""
    return one[1:] == other[1:] and (one.address == other.address or _ANY in (one.address, other.address))
