"""The probes of a node's containers: run periodically, with thresholds.

The period of a probe starts with its pod; while the container does not run, the probe is skipped. Readiness is probed
right after a container's start. A container that failed its liveness or startup probe is not probed until it is
replaced.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from math import ceil
from typing import Any, Final

from msgspec import Struct, field

from simcloud.kubernetes.api.objects import Object
from simcloud.kubernetes.kubelet.node import Node
from simcloud.kubernetes.kubelet.pods.parts import MAIN, Part, parts
from simcloud.kubernetes.kubelet.pods.probes import Result, look
from simcloud.kubernetes.kubelet.records import ContainerRecord
from simcloud.sim import Event, Task, TimedOut

STARTUP: Final = "startupProbe"
LIVENESS: Final = "livenessProbe"
READINESS: Final = "readinessProbe"
KINDS: Final = (STARTUP, READINESS, LIVENESS)
_FIRST: Final = {STARTUP: Result.UNKNOWN, LIVENESS: Result.SUCCESS, READINESS: Result.FAILURE}

_STATUSES: Final = {
    (READINESS, True): "ready", (READINESS, False): "not ready", (STARTUP, True): "started",
    (STARTUP, False): "unhealthy", (LIVENESS, True): "healthy", (LIVENESS, False): "unhealthy",
}  # fmt: skip

Spawn = Callable[[Coroutine[Any, Any, Any], str], Task[Any]]


class Probe(Struct):
    """One probe of one container of a pod."""

    part: Part
    kind: str
    begun_at: float
    container_id: str = ""
    result: Result = Result.UNKNOWN
    last: Result = Result.UNKNOWN
    run: int = 0
    on_hold: bool = False
    wake: Event[None] | None = None
    task: Task[Any] | None = None

    @property
    def settings(self) -> Object:
        """The probe as the pod's spec says it."""
        found: Object = self.part.spec[self.kind]
        return found

    @property
    def period_s(self) -> float:
        """How often it looks."""
        return float(self.settings.get("periodSeconds") or 10)

    def reset(self, container_id: str) -> None:
        """Another container stands in the old one's place."""
        self.container_id = container_id
        self.result = self.last = _FIRST[self.kind]
        self.run = 0
        self.on_hold = False


class PodProbes(Struct):
    """The probes of one pod."""

    pod: Object
    probes: dict[tuple[str, str], Probe] = field(default_factory=dict)


class Prober:
    """Runs all probes of a node. ``changed`` is called for a pod with a changed probe result."""

    def __init__(self, node: Node, spawn: Spawn, changed: Callable[[str], None]) -> None:
        self._node = node
        self._spawn = spawn
        self._changed = changed
        self._pods: dict[str, PodProbes] = {}

    def add(self, pod: Object) -> None:
        """Begin to probe a pod's containers, as far as they have probes."""
        uid = pod["metadata"]["uid"]
        known = self._pods.get(uid)
        if known is not None:
            known.pod = pod
            return
        known = self._pods[uid] = PodProbes(pod)
        now = self._node.machine.kernel.now
        for part in parts(pod):
            if part.kind != MAIN and not part.sidecar:
                continue
            for kind in KINDS:
                if part.spec.get(kind):
                    probe = Probe(part, kind, now)
                    known.probes[part.name, kind] = probe
                    probe.task = self._spawn(self._watch(known, probe), f"{kind} of {part.name}")

    def remove(self, uid: str, keep_readiness: bool = False) -> None:
        """Probe a pod no more, or, while it ends, only for its readiness."""
        known = self._pods.get(uid)
        if known is None:
            return
        for key, probe in list(known.probes.items()):
            if keep_readiness and probe.kind == READINESS:
                continue
            if probe.task is not None:
                probe.task.drop()
            del known.probes[key]
        if not keep_readiness:
            del self._pods[uid]

    def verdict(self, uid: str, part: Part, record: ContainerRecord) -> tuple[bool, bool]:
        """Whether a running container has started, and whether it is ready."""
        started = self._has_passed(uid, part, STARTUP, record)
        return started, started and self._has_passed(uid, part, READINESS, record)

    def find_failure(self, uid: str, part: Part, record: ContainerRecord) -> str:
        """The kind of probe for which a container must be replaced; empty for none."""
        for kind in (LIVENESS, STARTUP):
            probe = self._of(uid, part, kind)
            if probe is not None and probe.container_id == record.id and probe.result is Result.FAILURE:
                return kind
        return ""

    def container_seen(self, uid: str) -> None:
        """Containers of a pod have begun to run: readiness need not wait for its turn."""
        known = self._pods.get(uid)
        for probe in known.probes.values() if known is not None else ():
            if probe.wake is not None and probe.kind == READINESS and probe.result is not Result.SUCCESS:
                probe.wake.set()

    def _of(self, uid: str, part: Part, kind: str) -> Probe | None:
        known = self._pods.get(uid)
        return known.probes.get((part.name, kind)) if known is not None else None

    def _has_passed(self, uid: str, part: Part, kind: str, record: ContainerRecord) -> bool:
        if not part.spec.get(kind):
            return True
        probe = self._of(uid, part, kind)
        if probe is None:
            return kind == STARTUP
        if probe.container_id != record.id:
            return self._was_reported(self._pods[uid].pod, probe, record)
        return probe.result is Result.SUCCESS

    def _was_reported(self, pod: Object, probe: Probe, record: ContainerRecord) -> bool:
        """Whether this very container passed the probe before: a restarted kubelet changes no status."""
        status, field_name = self._node.statuses.get(pod), "started" if probe.kind == STARTUP else "ready"
        for each in (*(status.get("containerStatuses") or ()), *(status.get("initContainerStatuses") or ())):
            if each.get("containerID") == record.full_id:
                return bool(each.get(field_name))
        return False

    # -- one probe -----------------------------------------------------------------------------

    async def _watch(self, known: PodProbes, probe: Probe) -> None:
        kernel = self._node.machine.kernel
        while True:
            await self._turn(known, probe)
            turns = ceil((kernel.now - probe.begun_at) / probe.period_s + 1e-9)
            due = probe.begun_at + max(1, turns) * probe.period_s
            probe.wake = Event(kernel)
            try:
                await probe.wake.wait(max(0.0, due - kernel.now) or probe.period_s)
            except TimedOut:
                pass
            probe.wake = None

    async def _turn(self, known: PodProbes, probe: Probe) -> None:
        """One turn of the clock: look, if there is something to look at, and draw the conclusion."""
        uid = known.pod["metadata"]["uid"]
        live = self._node.runtime.pods.get(uid)
        if live is None or live.sandbox is None:
            return
        record = next((each for each in live.containers if each.name == probe.part.name), None)
        if record is None or not record.running:
            return
        if record.id != probe.container_id:
            passed = probe.kind != LIVENESS and self._was_reported(known.pod, probe, record)
            probe.reset(record.id)
            if passed:
                probe.result = probe.last = Result.SUCCESS
        if probe.on_hold or not self._is_time(known, probe, record):
            return
        host = self._node.machine.host.namespace
        address = live.sandbox.namespace.address
        result, words = await look(probe.settings, probe.part.spec, record, address, host)
        if result is not Result.SUCCESS and record.running:
            self._complain(known.pod, probe, result, words)
        self._count(known, probe, record, result)

    def _is_time(self, known: PodProbes, probe: Probe, record: ContainerRecord) -> bool:
        up_s = self._node.machine.clock() - record.started_s
        if up_s < float(probe.settings.get("initialDelaySeconds") or 0):
            return False
        started = self._has_passed(known.pod["metadata"]["uid"], probe.part, STARTUP, record)
        return started != (probe.kind == STARTUP)

    def _complain(self, pod: Object, probe: Probe, result: Result, words: str) -> None:
        word = probe.kind.removesuffix("Probe").capitalize()
        verb = "errored and resulted in unknown state" if result is Result.UNKNOWN else "failed"
        message = f"{word} probe {verb}: {words}"
        self._node.log.probe_failed(pod, probe.part.name, word, result.name.lower(), words)
        self._node.recorder.event(pod, "Warning", "Unhealthy", message, probe.part.field_path)

    def _count(self, known: PodProbes, probe: Probe, record: ContainerRecord, result: Result) -> None:
        if result is Result.UNKNOWN:
            return
        probe.run = probe.run + 1 if probe.last is result else 1
        probe.last = result
        field_name = "failureThreshold" if result is Result.FAILURE else "successThreshold"
        default = 3 if result is Result.FAILURE else 1
        if probe.run < int(probe.settings.get(field_name) or default):
            return
        if probe.kind != READINESS and result is Result.FAILURE:
            probe.on_hold = True
            probe.run = 0
        if probe.result is not result:
            probe.result = result
            self._conclude(known, probe, record)

    def _conclude(self, known: PodProbes, probe: Probe, record: ContainerRecord) -> None:
        """A container fares differently: its status says so at once, and its pod is looked at."""
        pod, good = known.pod, probe.result is Result.SUCCESS
        name = probe.part.name
        status = _STATUSES[probe.kind, good]
        self._node.log.probe_concluded(pod, probe.kind.removesuffix("Probe"), status)
        if probe.kind == READINESS:
            self._node.statuses.set_probed(pod, name, started=None, ready=good)
        elif probe.kind == STARTUP and good:
            ready = self.verdict(pod["metadata"]["uid"], probe.part, record)[1]
            self._node.statuses.set_probed(pod, name, started=True, ready=ready)
            self.container_seen(pod["metadata"]["uid"])
        if probe.kind != READINESS:
            self._changed(pod["metadata"]["uid"])
