"""The kubelet of one node: runs the pods that are bound to it.

It is a process of its machine: it ends with the machine or when it is killed, and its containers continue without it
until it is started again. It checks its runtime once a second, but only after a change: a pod that just runs costs
nothing but its probes.
"""

from __future__ import annotations

from collections.abc import Coroutine
from math import floor
from typing import Any, Final

from simcloud.kubernetes.api.api import Api
from simcloud.kubernetes.api.objects import Object, at
from simcloud.kubernetes.api.store import Revision
from simcloud.kubernetes.component_client import ComponentClient
from simcloud.kubernetes.events import Recorder
from simcloud.kubernetes.images import ImageRegistry
from simcloud.kubernetes.kubelet.configuration import find_mistake
from simcloud.kubernetes.kubelet.containerd import ContainerRuntime
from simcloud.kubernetes.kubelet.cpu_cost import work
from simcloud.kubernetes.kubelet.eviction import EvictionManager
from simcloud.kubernetes.kubelet.image_store import NodeImages
from simcloud.kubernetes.kubelet.log import KubeletLog
from simcloud.kubernetes.kubelet.logs.rotation import LogRotation
from simcloud.kubernetes.kubelet.node import Node
from simcloud.kubernetes.kubelet.node_status import NodeStatus
from simcloud.kubernetes.kubelet.pods.admission import refusal
from simcloud.kubernetes.kubelet.pods.dns import ClusterDns
from simcloud.kubernetes.kubelet.pods.environment import Environments
from simcloud.kubernetes.kubelet.pods.prober import Prober
from simcloud.kubernetes.kubelet.pods.status_manager import TERMINAL, StatusManager
from simcloud.kubernetes.kubelet.pods.termination_messages import hear_last_words
from simcloud.kubernetes.kubelet.pods.worker import PodWorker
from simcloud.kubernetes.kubelet.records import ContainerRecord
from simcloud.kubernetes.kubelet.server import KubeletServer
from simcloud.kubernetes.kubelet.services import (
    KUBELET,
    KUBELET_DROP_INS,
    KUBELET_FILE,
    install_services,
    list_kubelet_arguments,
)
from simcloud.kubernetes.kubelet.static_pods import StaticPods
from simcloud.kubernetes.kubelet.volumes import VolumeManager
from simcloud.kubernetes.kubelet.volumes.sources import references
from simcloud.kubernetes.network.pod_network import PodNetwork
from simcloud.machine import LOCAL, Machine, Unit
from simcloud.machine.network import NetworkError
from simcloud.machine.proc import vary
from simcloud.machine.process import Context, Process, Signal
from simcloud.sim import Task

LOOK_S: Final = 1.0
"""How often the runtime is looked at, when something moved."""

LOOK_EACH_S: Final = 0.01
"""What asking the runtime for one pod takes: pods are looked at one after another."""

REACTION_S: Final = 0.005
"""From a change in the API to the kubelet's knowing it."""

HOUSEKEEPING_S: Final = 2.0
"""So long after its start a kubelet looks for what it should not have."""

ORPHAN_GRACE_S: Final = 1.0

BEGIN_CPU_S: Final = 0.01
"""What a new pod costs the kubelet before its status tells of it."""

RESYNC_S: Final = 75.0
"""Within about this time a changed ConfigMap or Secret reaches the files made of it."""

RESIDENT_BYTES: Final = 64 * 1024 * 1024
THREADS: Final = 16
OPEN_FILES: Final = 1_000_000


class Kubelet:
    """One node's kubelet. ``start`` it; ``node.images.preload`` what the node is delivered with."""

    def __init__(
        self,
        api: Api,
        machine: Machine,
        registry: ImageRegistry,
        network: PodNetwork,
        *,
        dns: ClusterDns | None = None,
        restart_s: float | None = None,
    ) -> None:
        client = ComponentClient(api, f"system:node:{machine.name}", "kubelet")
        install_services(machine)
        runtime = ContainerRuntime(machine, network)
        self.node = Node(
            api=api,
            client=client,
            recorder=Recorder(client, "kubelet", machine.name),
            machine=machine,
            network=network,
            runtime=runtime,
            images=NodeImages(machine, registry, runtime.log),
            volumes=VolumeManager(client, machine, self._allocatable),
            statuses=StatusManager(client),
            environments=Environments(client),
            dns=dns or ClusterDns(),
            log=KubeletLog(machine),
        )
        runtime.on_change = self._note_change
        self.workers: dict[str, PodWorker] = {}
        self.prober = Prober(self.node, self.spawn, self._poke)
        self.status = NodeStatus(self.node)
        self.evictions = EvictionManager(self.node, self.status, self.workers)
        self.unit = Unit(
            machine,
            KUBELET,
            "kubelet: The Kubernetes Node Agent",
            self._launch,
            documentation="http://kubernetes.io/docs/",
            restart_s=restart_s,
            text=KUBELET_FILE.format(restart_s=restart_s or 0),
            drop_ins=KUBELET_DROP_INS,
            folder=LOCAL,
            group="/kubelet.slice",
        )
        self.server = KubeletServer(self.node, self.workers)
        self._boots = machine.boots
        self._stop_following: list[Any] = []
        self._started_at = 0.0
        self._listed: dict[str, Object] = {}
        """Pods that were there when it started and are not begun yet."""
        self._moved_pods: dict[str, None] = {}
        self._look_planned = False
        self._known: dict[str, dict[str, str]] = {}
        self._seen_sandboxes: dict[str, None] = {}
        self._readers: dict[tuple[str, str, str], dict[str, None]] = {}

    @property
    def running(self) -> bool:
        """Whether the kubelet's process lives."""
        return self.unit.running

    def _allocatable(self) -> Object:
        return self.node.allocatable()

    # -- life ----------------------------------------------------------------------------------

    def start(self) -> None:
        """Start the kubelet's process on its machine, as ``systemctl start kubelet`` does."""
        self.unit.start()

    def _launch(self) -> Process:
        self._forget_process()
        machine = self.node.machine
        if machine.boots != self._boots:
            self._boots = machine.boots
            for uid in self.node.runtime.pods:
                self.node.volumes.tear_down(uid)
            self.node.runtime.power_lost()
        return machine.host.start(list_kubelet_arguments(machine), program=self._main)

    def stop(self) -> None:
        """End the kubelet's process, as ``systemctl stop kubelet`` does; its containers go on."""
        self.unit.stop()

    async def _main(self, ctx: Context) -> int:
        ctx.memory.use(RESIDENT_BYTES)
        ctx.process.threads = THREADS
        ctx.process.open_files = (OPEN_FILES, OPEN_FILES)
        if mistake := find_mistake(self.node.machine.host.files):
            self.node.log.write_error("run.go:72", "command failed", err=mistake)
            return 1
        self.node.log.write_startup()
        ctx.signals.on(Signal.TERM, lambda _: ctx.process.exit(0))
        try:
            self.server.begin(ctx)
        except NetworkError as error:
            self.node.log.write_error("server.go:209", "Failed to listen and serve", err=str(error).lower())
            return 1
        self._started_at = self.node.machine.kernel.now
        self.status.begin(self.spawn)
        self.evictions.begin(self.spawn)
        LogRotation(self.node.runtime).begin(self.spawn)
        StaticPods(self.node).begin(self.spawn)
        client = self.node.client
        self._listed = {
            pod["metadata"]["uid"]: pod
            for pod in client.list("pods")
            if pod["spec"].get("nodeName") == self.node.name
        }
        if self._listed:
            self.node.log.pods_changed("kubelet.go:2709", "ADD", *self._listed.values())
        self._stop_following = [
            client.follow("pods", self._pod_changed, self.node.name),
            client.follow("configmaps", self._source_changed),
            client.follow("secrets", self._source_changed),
        ]
        await ctx.sleep(HOUSEKEEPING_S)
        for uid in self._orphans():
            self.spawn(self._end_orphan(uid), "housekeeping")
        while True:
            await ctx.sleep(1e9)

    def _orphans(self) -> list[str]:
        """Pods that the runtime still has and the API has not: deleted by force while nobody was here."""
        listed = {pod["metadata"]["uid"] for pod in self.node.client.list("pods")}
        return [uid for uid in self.node.runtime.pods if uid not in listed and uid not in self.workers]

    async def _end_orphan(self, uid: str) -> None:
        runtime = self.node.runtime
        for each in list(runtime.record(uid).containers):
            if each.running:
                await runtime.stop(each, ORPHAN_GRACE_S)
        await runtime.stop_sandbox(uid)
        runtime.forget(uid)
        self.node.volumes.tear_down(uid)

    def _forget_process(self) -> None:
        """What an earlier process had in its memory is gone with it."""
        for stop in self._stop_following:
            stop()
        self._stop_following = []
        self.node.recorder.forget()
        for worker in self.workers.values():
            worker.stop()
            self.prober.remove(worker.uid)
        self.workers.clear()
        self._moved_pods.clear()
        self._look_planned = False
        self._readers.clear()

    def spawn(self, work: Coroutine[Any, Any, Any], name: str) -> Task[Any]:
        """A task of the kubelet, which ends with it."""
        if self.unit.process is None:
            raise RuntimeError(f"the kubelet of {self.node.name} was not started")
        return self.unit.process.spawn(work, name)

    # -- what happens in the API ---------------------------------------------------------------

    def _pod_changed(self, write: Revision) -> None:
        pod = write.object
        if not self.running:
            for stop in self._stop_following:
                stop()
            return
        is_own = write.by == self.node.client.caller.user.name and write.change == "MODIFIED"
        if is_own and at(write.before, "metadata", "deletionTimestamp") == at(
            pod, "metadata", "deletionTimestamp"
        ):
            worker = self.workers.get(pod["metadata"]["uid"])
            if worker is not None:
                worker.pod = pod  # its own writing: nothing to do
                return
        self.spawn(self._hear(pod, write.change), "pod source")

    async def _hear(self, pod: Object, change: str) -> None:
        await self.node.machine.kernel.sleep(REACTION_S)
        uid = pod["metadata"]["uid"]
        worker = self.workers.get(uid)
        if change == "DELETED":
            self.node.log.pods_changed("kubelet.go:2719", "REMOVE", pod)
            if worker is not None:
                worker.end_removed()
                if worker.ended:
                    self._drop(uid)
            return
        live = self.node.client.refresh(pod)
        if live is None:
            return
        if worker is None:
            await work(self.node.machine, BEGIN_CPU_S, KUBELET)
            if uid not in self.workers:
                self._begin(self.node.client.refresh(pod) or live)
        else:
            worker.update(live)

    def _begin(self, pod: Object) -> None:
        uid = pod["metadata"]["uid"]
        phase = (pod.get("status") or {}).get("phase")
        if self._listed.pop(uid, None) is None:
            self.node.log.pods_changed("kubelet.go:2709", "ADD", pod)
        worker = PodWorker(self.node, self.prober, self, pod, self._on_worker_end)
        self.workers[uid] = worker
        self._read_by(pod, uid)
        if phase in TERMINAL and uid not in self.node.runtime.pods:
            worker.end()
            if pod["metadata"].get("deletionTimestamp"):
                worker.poke()
            return
        if phase not in TERMINAL and uid not in self.node.runtime.pods:
            why = self.evictions.refusal(pod) or refusal(pod, self.node, self.workers)
            if why is not None:
                self.node.recorder.event(pod, "Warning", why.reason, why.message)
                worker.reject(why.reason, why.message)
                return
        worker.update(pod)

    def _on_worker_end(self, uid: str) -> None:
        worker = self.workers.get(uid)
        if worker is not None and worker.gone:
            self._drop(uid)

    def _drop(self, uid: str) -> None:
        worker = self.workers.pop(uid, None)
        if worker is not None:
            worker.stop()
            worker.gone = True
            self.node.runtime.forget(uid)
            self.node.statuses.forget(uid)
            for plural, name in references(worker.pod):
                readers = self._readers.get((plural, worker.pod["metadata"]["namespace"], name))
                if readers is not None:
                    readers.pop(uid, None)
        self._known.pop(uid, None)

    # -- ConfigMaps and Secrets ----------------------------------------------------------------

    def _read_by(self, pod: Object, uid: str) -> None:
        for plural, name in references(pod):
            self._readers.setdefault((plural, pod["metadata"]["namespace"], name), {})[uid] = None

    def _source_changed(self, write: Revision) -> None:
        readers = self._readers.get((write.key.plural, write.key.namespace, write.key.name))
        if not readers or not self.running or write.change == "DELETED":
            return
        kernel = self.node.machine.kernel
        for uid in readers:
            wait_s = RESYNC_S * kernel.random(f"{self.node.name}/kubelet").random()
            kernel.call_later(wait_s, self._refresh, uid)

    def _refresh(self, uid: str) -> None:
        worker = self.workers.get(uid)
        if worker is not None and self.running and not worker.ending:
            worker.volumes_changed()

    # -- what happens in the runtime -----------------------------------------------------------

    def next_look(self, after: float) -> float:
        """The kubelet looks at its runtime a second after it has done so the last time, counted from its start."""
        period_s = LOOK_S * (1.002 + vary(f"{self.node.name}/look") / 250)
        return self._started_at + (floor((after - self._started_at) / period_s + 1e-9) + 1) * period_s

    def _note_change(self, uid: str) -> None:
        """Something about a pod is different in the runtime: look at it with the next beat."""
        if not self.running:
            return
        self._moved_pods[uid] = None
        if not self._look_planned:
            self._look_planned = True
            kernel = self.node.machine.kernel
            kernel.call_at(self.next_look(kernel.now), self._look)

    def _look(self, _: object) -> None:
        if self.node.runtime.is_hung:
            kernel = self.node.machine.kernel
            kernel.call_at(self.next_look(kernel.now), self._look)
            return
        self._look_planned = False
        moved, self._moved_pods = self._moved_pods, {}
        wait_s = 0.0
        for uid in moved:
            self.node.machine.kernel.call_later(wait_s, self._look_at, uid)
            wait_s += LOOK_EACH_S * (0.5 + vary(uid))

    def _look_at(self, uid: str) -> None:
        worker = self.workers.get(uid)
        if worker is None or not self.running:
            return
        hear_last_words(self.node, worker.pod)
        before = self._known.get(uid, {})
        live = self.node.runtime.pods.get(uid)
        containers = live.containers if live is not None else []
        self._known[uid] = {each.id: each.state.value for each in containers}
        sandbox = live.sandbox if live is not None else None
        if sandbox is not None and sandbox.ready and sandbox.id not in self._seen_sandboxes:
            self._seen_sandboxes[sandbox.id] = None
            self.node.log.container_changed(worker.pod, "ContainerStarted", sandbox.id)
        died = [each for each in containers if each.exited and before.get(each.id) != "exited"]
        began = [each for each in containers if each.running and before.get(each.id) != "running"]
        for each in began:
            self.node.log.container_changed(worker.pod, "ContainerStarted", each.id)
        for each in died:
            self.node.log.container_changed(worker.pod, "ContainerDied", each.id)
            self._remove_older(uid, containers, each)
        if began and not worker.was_running and all(each.running for each in containers):
            worker.was_running = True
            self.node.log.pod_running(worker.pod)
        worker.poke()
        if began:
            self.prober.container_seen(uid)

    def _remove_older(self, uid: str, containers: list[ContainerRecord], died: ContainerRecord) -> None:
        """Of the containers of one name that ended, the newest is kept."""
        ended = [each for each in containers if each.name == died.name and each.exited]
        for each in ended[1:]:
            self.node.log.write_info("scope.go:122", "RemoveContainer", containerID=each.id)
            self.node.runtime.remove(uid, each.id)

    def _poke(self, uid: str) -> None:
        worker = self.workers.get(uid)
        if worker is not None:
            worker.poke()
