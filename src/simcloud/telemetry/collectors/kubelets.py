"""The metrics of a kubelet: its own, those of claimed volumes, and, as cAdvisor, those of containers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Final

from simcloud.kubernetes.api import Object
from simcloud.kubernetes.images import PAUSE
from simcloud.kubernetes.kubelet import Kubelet
from simcloud.machine import Labels, Sample, format_samples
from simcloud.machine.files import Volume
from simcloud.machine.proc import SYSTEM_SHARE, vary
from simcloud.telemetry.collectors.containers import ContainerReadings
from simcloud.telemetry.collectors.rows import Measured, Rows
from simcloud.telemetry.scrape import Report

_STATES: Final = ("created", "exited", "running")
Claim = tuple[str, str]
"""Namespace and name of a PersistentVolumeClaim."""
CPU_SHARES: Final = {"usage": 1.0, "user": 1.0 - SYSTEM_SHARE, "system": SYSTEM_SHARE}
OPERATIONS: Final = (
    "create_container",
    "remove_container",
    "run_podsandbox",
    "start_container",
    "stop_container",
    "stop_podsandbox",
)


class KubeletReadings:
    """The metrics of a kubelet."""

    def __init__(self, kubelet: Kubelet) -> None:
        self._kubelet = kubelet
        self._containers = ContainerReadings(kubelet)
        self._own = Rows(kubelet, _measure)
        self._volumes: dict[Claim, Rows[Volume]] = {}
        self._claims: dict[str, list[tuple[str, Claim]]] = {}
        """The claims of each pod, by its uid."""

    def read(self) -> Report | None:
        """Return all its families; None when it does not run."""
        containers = self._containers.read()
        if containers is None:
            return None
        known, self._volumes = self._volumes, {}
        report = Report()
        self._own.add_to(report)
        report.add_report(containers)
        for claim, volume in self._find_claims():
            of: Labels = (("namespace", claim[0]), ("persistentvolumeclaim", claim[1]))
            rows = known.get(claim) or Rows(volume, _measure_volume, of)
            rows.subject = volume
            self._volumes[claim] = rows
            rows.add_to(report)
        return report

    def _find_claims(self) -> Iterator[tuple[Claim, Volume]]:
        """Return the claimed volumes of pods, each once. A kubelet has no metrics of host directories."""
        node, seen = self._kubelet.node, dict[Claim, None]()
        known, self._claims = self._claims, {}
        for worker in self._kubelet.workers.values():
            claims = known.get(worker.uid)
            if claims is None:  # a pod's volumes never change
                claims = _list_claims(worker.pod)
            self._claims[worker.uid] = claims
            for name, claim in claims:
                standing = node.volumes.of(worker.uid).get(name)
                if standing is None or claim in seen:
                    continue
                seen[claim] = None
                bound = node.client.get("persistentvolumeclaims", *claim)
                disk = (
                    node.client.get("persistentvolumes", "", bound["spec"]["volumeName"]) if bound else None
                )
                if disk is not None and "hostPath" not in disk["spec"]:
                    yield claim, standing.volume


def expose_kubelet(kubelet: Kubelet, part: str) -> str:
    """Format the metrics of a kubelet's page: its own (``kubelet``), or those of containers (``cadvisor``)."""
    if part == "probes":
        return ""
    samples = [
        (reading.name, reading.labels, round(reading.value, 6))
        for reading in KubeletReadings(kubelet).read() or ()
        if reading.name.startswith("kubelet_") is (part == "kubelet")
        and (reading.value or "_operations_" not in reading.name)
    ]
    if part == "kubelet":
        return format_samples(samples)
    now_ms = round(kubelet.node.machine.clock() * 1000)

    def find_stamp(_name: str, labels: Labels) -> str:
        """Each cgroup is looked at every few seconds, in its own rhythm."""
        return f" {now_ms - int(vary(dict(labels)['id'], now_ms, 12_000) * 12_000)}"

    return format_samples(_add_pods(kubelet, samples), find_stamp=find_stamp)


def _add_pods(kubelet: Kubelet, samples: Iterable[Sample]) -> Iterator[Sample]:
    """The samples of containers, and beside them those of the pods' sandboxes and own cgroups."""
    pods = kubelet.node.runtime.pods.values()
    sandboxes = {(pod.namespace, pod.name): pod.sandbox for pod in pods if pod.sandbox is not None}
    sums: dict[tuple[str, Labels], float] = {}
    for name, labels, value in samples:
        of = {"container": "", **dict(labels)}
        yield name, tuple(of.items()), value
        if of["container"] and name.startswith(("container_cpu", "container_memory")):
            of |= {"container": "", "image": "", "name": "", "id": of["id"].rpartition("/")[0]}
            key = (name, tuple(of.items()))
            sums[key] = sums.get(key, 0.0) + value
    for (name, labels), value in sums.items():
        of = dict(labels)
        sandbox, (_, kind, part, *_) = sandboxes[of["namespace"], of["pod"]], name.split("_")
        own = {"id": f"{of['id']}/cri-containerd-{sandbox.id}.scope", "image": PAUSE, "name": sandbox.id}
        used = (0.02 + 0.08 * vary(sandbox.id)) * CPU_SHARES.get(part, 0.0)
        if kind == "memory":
            used = float(sandbox.holder.memory.resident_bytes) if value else 0.0
        yield name, tuple((of | own).items()), round(used, 6)
        rest = used * vary(of["id"]) if kind == "cpu" else 0.0  # what it took to start
        yield name, labels, round(value + used + rest, 6)


def _measure(kubelet: Kubelet) -> Measured:
    runtime = kubelet.node.runtime
    pods = runtime.pods.values()
    states = Counter(record.state.value for pod in pods for record in pod.containers)
    running = sum([pod.sandbox is not None and pod.sandbox.ready for pod in pods])
    measured: dict[str | tuple[str, Labels], float] = {
        ("kubelet_node_name", (("node", kubelet.node.name),)): 1.0,
        "kubelet_running_pods": float(running),
    }
    for state in _STATES:
        measured["kubelet_running_containers", (("container_state", state),)] = float(states[state])
    for operation in OPERATIONS:
        of: Labels = (("operation_type", operation),)
        done, failed = runtime.operations.get(operation, 0), runtime.failures.get(operation, 0)
        measured["kubelet_runtime_operations_total", of] = float(done)
        measured["kubelet_runtime_operations_errors_total", of] = float(failed)
    return measured


def _measure_volume(volume: Volume) -> Measured:
    disk, free_bytes = volume.disk, volume.free_bytes
    capacity_bytes = disk.capacity_bytes if volume.quota_bytes is None else volume.quota_bytes
    return {
        "kubelet_volume_stats_available_bytes": float(free_bytes),
        "kubelet_volume_stats_capacity_bytes": float(capacity_bytes),
        "kubelet_volume_stats_used_bytes": float(capacity_bytes - free_bytes),
        "kubelet_volume_stats_inodes": float(disk.inodes),
        "kubelet_volume_stats_inodes_used": float(disk.inodes_used),
        "kubelet_volume_stats_inodes_free": float(disk.inodes - disk.inodes_used),
    }


def _list_claims(pod: Object) -> list[tuple[str, Claim]]:
    """Return the claims that a pod uses, with the names of its volumes."""
    namespace = pod["metadata"]["namespace"]
    return [
        (volume["name"], (namespace, volume["persistentVolumeClaim"]["claimName"]))
        for volume in pod["spec"].get("volumes") or ()
        if volume.get("persistentVolumeClaim")
    ]
