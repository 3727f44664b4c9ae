"""Node-pressure eviction: evicts pods when the node runs out of memory or disk, or when they exceed their disk limits.

It checks every ten seconds. Pods that use more than they requested are evicted first, then those of lower priority,
then those furthest above their request. A pressure condition remains for five minutes, so that it does not flap.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Mapping
from typing import TYPE_CHECKING, Any, Final

from simcloud.kubernetes.api import quantity
from simcloud.kubernetes.api.objects import Object
from simcloud.kubernetes.kubelet.log import name_of
from simcloud.kubernetes.kubelet.logs.files import FollowedLog
from simcloud.kubernetes.kubelet.node import Node
from simcloud.kubernetes.kubelet.node_status import DISK, MEMORY, NodeStatus
from simcloud.kubernetes.kubelet.pods.admission import Refusal
from simcloud.kubernetes.kubelet.pods.parts import find_part, limits_of, main_parts, requests_of
from simcloud.kubernetes.kubelet.records import ContainerRecord
from simcloud.kubernetes.placement import tolerates
from simcloud.sim import Task

if TYPE_CHECKING:
    from simcloud.kubernetes.kubelet.pods.worker import PodWorker

LOOK_S: Final = 10.0
FIRST_LOOK_S: Final = 0.9
"""From the kubelet's start to the first look."""

CALM_S: Final = 300.0
LEAST_MEMORY_BYTES: Final = 100 * 1024**2
LEAST_DISK: Final = 0.10
STORAGE: Final = "ephemeral-storage"
_MEMORY_TAINT: Final = {"key": "node.kubernetes.io/memory-pressure", "effect": "NoSchedule"}
_RESOURCES: Final = {MEMORY: "memory", DISK: STORAGE}


class EvictionManager:
    """Watches over a node's memory and disk."""

    def __init__(self, node: Node, status: NodeStatus, workers: Mapping[str, PodWorker]) -> None:
        self._node = node
        self._status = status
        self._workers = workers
        self._short_at: dict[str, float] = {}
        self._excessive: dict[str, None] = {}

    def begin(self, spawn: Callable[[Coroutine[Any, Any, Any], str], Task[Any]]) -> None:
        """The kubelet starts, and knows of no earlier pressure."""
        self._short_at.clear()
        spawn(self._watch(), "eviction manager")

    def refusal(self, pod: Object) -> Refusal | None:
        """Why a pod may not come now: a short disk keeps all away, short memory those who promise nothing."""
        if not self._short_at or _is_critical(pod):
            return None
        if list(self._short_at) == [MEMORY]:
            tolerated = any(
                tolerates(toleration, _MEMORY_TAINT) for toleration in pod["spec"].get("tolerations") or ()
            )
            if pod["status"].get("qosClass") != "BestEffort" or tolerated:
                return None
        return Refusal("Evicted", f"The node had condition: [{' '.join(sorted(self._short_at))}]. ")

    async def _watch(self) -> None:
        kernel = self._node.machine.kernel
        await kernel.sleep(FIRST_LOOK_S)
        while True:
            self._look()
            await kernel.sleep(LOOK_S)

    def _look(self) -> None:
        active = [each for each in self._workers.values() if not each.ending]
        if any(self._over_own_limit(each) for each in active):
            return
        for kind, available, least in self._signals():
            self._note(kind, available < least)
            if available < least:
                reclaim = f"Attempting to reclaim {_RESOURCES[kind]}"
                self._status.event("Warning", "EvictionThresholdMet", reclaim)
                log, resource = self._node.log, _RESOURCES[kind]
                log.write_info(
                    "eviction_manager.go:381",
                    "Eviction manager: attempting to reclaim",
                    resourceName=resource,
                )
                must = "Eviction manager: must evict pod(s) to reclaim"
                log.write_info("eviction_manager.go:392", must, resourceName=resource)
                self._throw_out_one(kind, available, least, active)
                return

    def _signals(self) -> list[tuple[str, int, int]]:
        machine = self._node.machine
        disk = machine.disk
        return [
            (MEMORY, machine.memory_bytes - machine.memory_used_bytes, LEAST_MEMORY_BYTES),
            (DISK, disk.capacity_bytes - disk.used_bytes, int(disk.capacity_bytes * LEAST_DISK)),
        ]

    def _note(self, kind: str, short: bool) -> None:
        now = self._node.machine.kernel.now
        if short:
            self._short_at[kind] = now
        elif kind in self._short_at and now - self._short_at[kind] >= CALM_S:
            del self._short_at[kind]
        self._status.press(kind, kind in self._short_at)

    def _throw_out_one(self, kind: str, available: int, least: int, active: list[PodWorker]) -> None:
        resource = _RESOURCES[kind]
        candidates = [each for each in active if not _is_critical(each.pod)]
        if not candidates:
            return

        def rank(worker: PodWorker) -> tuple[bool, int, int]:
            used, asked = self._measure_usage(worker, kind), _sum_requests(worker.pod, resource)
            return used <= asked, worker.pod["spec"].get("priority") or 0, asked - used

        ranked = sorted(candidates, key=rank)
        chosen = ranked[0]
        pods = [name_of(worker.pod) for worker in ranked]
        self._node.log.write_info(
            "eviction_manager.go:410", "Eviction manager: pods ranked for eviction", pods=pods
        )
        family = "binary"
        message = (
            f"The node was low on resource: {resource}. "
            f"Threshold quantity: {_amount(least, family)}, available: {_amount(available, family)}. "
        )
        for record in self._records(chosen):
            part = find_part(chosen.pod, record.name)
            asked = requests_of(part.spec).get(resource, "0") if part is not None else "0"
            used = self._container_use(record, kind)
            if used > quantity.whole(asked):
                message += (
                    f"Container {record.name} was using {_amount(used, family)}, request is {asked}, "
                    f"has larger consumption of {resource}. "
                )
        self._evict(chosen, message, disrupted=True)

    def _evict(self, worker: PodWorker, message: str, disrupted: bool) -> None:
        self._node.recorder.event(worker.pod, "Warning", "Evicted", message)
        worker.fail("Evicted", message, grace_s=0.0, disrupted=disrupted)
        evicted = "Eviction manager: pod is evicted successfully"
        self._node.log.write_info("eviction_manager.go:635", evicted, pod=name_of(worker.pod))

    # -- a pod's own limits --------------------------------------------------------------------

    def _over_own_limit(self, worker: PodWorker) -> bool:
        """Throw out a pod that uses more of the disk than it may."""
        message = self._excess(worker)
        if not message or worker.uid not in self._excessive:
            # The sizes that containerd tells are those of its last collection: a look ago.
            if message:
                self._excessive[worker.uid] = None
            return False
        del self._excessive[worker.uid]
        self._evict(worker, message, disrupted=False)
        return True

    def _excess(self, worker: PodWorker) -> str:
        pod = worker.pod
        volumes = self._node.volumes.of(worker.uid)
        for volume in pod["spec"].get("volumes") or ():
            limit = (volume.get("emptyDir") or {}).get("sizeLimit")
            standing = volumes.get(volume["name"])
            if limit and standing is not None and standing.volume.used_bytes > quantity.whole(limit):
                return f'Usage of EmptyDir volume "{volume["name"]}" exceeds the limit "{limit}". '
        limits = [limits_of(part.spec).get(STORAGE) for part in main_parts(pod)]
        if limits and all(limits):
            total = sum(quantity.whole(each) for each in limits if each)
            if self._measure_usage(worker, DISK) > total:
                shown = _amount(total, "binary")
                return f"Pod ephemeral local storage usage exceeds the total limit of containers {shown}. "
        if any(limits):
            for record in self._records(worker):
                part = find_part(pod, record.name)
                limit = limits_of(part.spec).get(STORAGE) if part is not None else None
                if limit and self._container_use(record, DISK) > quantity.whole(limit):
                    return f'Container {record.name} exceeded its local ephemeral storage limit "{limit}". '
        return ""

    # -- use -----------------------------------------------------------------------------------

    def _records(self, worker: PodWorker) -> list[ContainerRecord]:
        live = self._node.runtime.pods.get(worker.uid)
        return [each for each in live.containers if each.running] if live is not None else []

    def _measure_usage(self, worker: PodWorker, kind: str) -> int:
        used = sum(self._container_use(each, kind) for each in self._records(worker))
        if kind == DISK:
            volumes = self._node.volumes.of(worker.uid).values()
            used += sum(each.volume.used_bytes for each in volumes if each.local)
        return used

    def _container_use(self, record: ContainerRecord, kind: str) -> int:
        container = record.container
        if container is None:
            return 0
        if kind == MEMORY:
            return container.memory_bytes
        used = container.files.mounts()[0].volume.used_bytes
        if isinstance(container.log, FollowedLog):
            used += container.log.used_bytes
        return used


def _sum_requests(pod: Object, resource: str) -> int:
    return sum(quantity.whole(requests_of(part.spec).get(resource, "0")) for part in main_parts(pod))


def _is_critical(pod: Object) -> bool:
    return (pod["spec"].get("priority") or 0) >= 2_000_000_000


def _amount(size_bytes: int, family: str) -> str:
    kib = size_bytes // 1024
    return quantity.canonical(f"{kib}Ki") if kib else quantity.render(quantity.parse(size_bytes), family)
