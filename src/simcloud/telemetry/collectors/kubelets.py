"""The metrics of a kubelet: its own, those of claimed volumes, and, as cAdvisor, those of containers."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Final

from simcloud.kubernetes.kubelet import Kubelet
from simcloud.machine.files import Volume
from simcloud.telemetry.collectors.containers import ContainerReadings
from simcloud.telemetry.collectors.rows import Row, Rows
from simcloud.telemetry.scrape import Readings

_STATES: Final = ("created", "exited", "running")
_VOLUME: Final[tuple[Row[Volume], ...]] = (
    ("kubelet_volume_stats_available_bytes", (), lambda v: float(v.free_bytes)),
    ("kubelet_volume_stats_capacity_bytes", (), lambda v: float(_capacity(v))),
    ("kubelet_volume_stats_used_bytes", (), lambda v: float(_capacity(v) - v.free_bytes)),
    ("kubelet_volume_stats_inodes", (), lambda v: float(v.disk.inodes)),
    ("kubelet_volume_stats_inodes_used", (), lambda v: float(v.disk.inodes_used)),
    ("kubelet_volume_stats_inodes_free", (), lambda v: float(v.disk.inodes - v.disk.inodes_used)),
)


class KubeletReadings:
    """The metrics of a kubelet."""

    def __init__(self, kubelet: Kubelet) -> None:
        self._kubelet = kubelet
        self._containers = ContainerReadings(kubelet)
        self._own = Rows(kubelet, _table(kubelet.node.name))
        self._volumes: dict[tuple[str, str], Rows[Volume]] = {}

    def read(self) -> Readings | None:
        """Return all its families; None when it does not run."""
        containers = self._containers.read()
        if containers is None:
            return None
        known, self._volumes = self._volumes, {}
        readings = self._own.read() + containers
        for claim, volume in _find_claims(self._kubelet):
            rows = known.get(claim) or Rows(
                volume, _VOLUME, (("namespace", claim[0]), ("persistentvolumeclaim", claim[1]))
            )
            rows.subject = volume
            self._volumes[claim] = rows
            readings += rows.read()
        return readings


def _table(node: str) -> Iterator[Row[Kubelet]]:
    yield "kubelet_node_name", (("node", node),), 1.0
    yield "kubelet_running_pods", (), _running_pods
    for state in _STATES:
        yield "kubelet_running_containers", (("container_state", state),), partial(_containers_in, state)


def _running_pods(kubelet: Kubelet) -> float:
    pods = kubelet.node.runtime.pods.values()
    return float(sum(1 for pod in pods if pod.sandbox is not None and pod.sandbox.ready))


def _containers_in(state: str, kubelet: Kubelet) -> float:
    pods = kubelet.node.runtime.pods.values()
    return float(sum(1 for pod in pods for record in pod.containers if record.state.value == state))


def _find_claims(kubelet: Kubelet) -> Iterator[tuple[tuple[str, str], Volume]]:
    """Return the claimed volumes of pods, each once. A kubelet has no metrics of host directories."""
    seen: dict[tuple[str, str], None] = {}
    node = kubelet.node
    for worker in kubelet.workers.values():
        namespace = worker.pod["metadata"]["namespace"]
        for volume in worker.pod["spec"].get("volumes") or ():
            source = volume.get("persistentVolumeClaim")
            standing = node.volumes.of(worker.uid).get(volume["name"]) if source else None
            if source is None or standing is None or (namespace, source["claimName"]) in seen:
                continue
            claim = (namespace, source["claimName"])
            seen[claim] = None
            bound = node.client.get("persistentvolumeclaims", *claim)
            disk = node.client.get("persistentvolumes", "", bound["spec"]["volumeName"]) if bound else None
            if disk is not None and "hostPath" not in disk["spec"]:
                yield claim, standing.volume


def _capacity(volume: Volume) -> int:
    return volume.disk.capacity_bytes if volume.quota_bytes is None else volume.quota_bytes
