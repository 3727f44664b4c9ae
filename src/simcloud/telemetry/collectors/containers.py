"""cAdvisor, which is part of a kubelet: the resource usage of the containers of a node.

The values are those that /sys/fs/cgroup and /proc show inside the container.
"""

from __future__ import annotations

from functools import partial
from typing import Final, NamedTuple

from simcloud.kubernetes.images import PAUSE
from simcloud.kubernetes.kubelet import ContainerRecord, Kubelet, PodRecord
from simcloud.machine import Labels
from simcloud.machine.network import InterfaceInfo, Namespace, outside_interface
from simcloud.machine.proc import SYSTEM_SHARE
from simcloud.machine.process import Container
from simcloud.telemetry.collectors.rows import Measured, Rows, measure_traffic
from simcloud.telemetry.scrape import Report

CPU_PERIOD_US: Final = 100_000.0

_CPU: Final = ("container_cpu_usage_seconds_total", (("cpu", "total"),))
_DISK: Final = ("container_fs_usage_bytes", (("device", "/dev/sda"),))
_measure_traffic: Final = measure_traffic("container_network", "errors", "packets_dropped")


def _measure(started_s: float, container: Container) -> Measured:
    cpu, used_s, memory_bytes = container.cpu, container.cpu.used_s, float(container.memory_bytes)
    measured: dict[str | tuple[str, Labels], float] = {
        "container_start_time_seconds": started_s,
        _CPU: used_s,
        "container_cpu_user_seconds_total": used_s * (1.0 - SYSTEM_SHARE),
        "container_cpu_system_seconds_total": used_s * SYSTEM_SHARE,
        "container_cpu_load_average_10s": 0.0,
        "container_memory_working_set_bytes": memory_bytes,
        "container_memory_usage_bytes": memory_bytes,
        "container_memory_rss": memory_bytes,
        "container_memory_cache": 0.0,
        "container_memory_mapped_file": 0.0,
        "container_memory_swap": 0.0,
        "container_memory_max_usage_bytes": float(container.memory_peak_bytes),
        "container_spec_memory_limit_bytes": float(container.memory_limit_bytes or 0),
        "container_spec_cpu_period": CPU_PERIOD_US,
        "container_oom_events_total": float(container.oom_kills),
        "container_processes": float(len(container.processes)),
        "container_threads": float(sum([process.threads for process in container.processes.values()])),
        _DISK: float(container.files.table.root.volume.used_bytes),
    }
    if cpu.limit is not None:
        measured["container_spec_cpu_quota"] = cpu.limit * CPU_PERIOD_US
        measured["container_cpu_cfs_periods_total"] = float(cpu.periods)
        measured["container_cpu_cfs_throttled_periods_total"] = float(cpu.throttled_periods)
        measured["container_cpu_cfs_throttled_seconds_total"] = cpu.throttled_s
    return measured


class _Known(NamedTuple):
    """The rows of a container; they are rebuilt when it gains or loses its limit."""

    limited: bool
    rows: Rows[Container]


class ContainerReadings:
    """cAdvisor on one node."""

    def __init__(self, kubelet: Kubelet) -> None:
        self._kubelet = kubelet
        self._containers: dict[Container, _Known] = {}
        self._networks: dict[Namespace, Rows[InterfaceInfo]] = {}

    def read(self) -> Report | None:
        """Return its families; None when the kubelet does not run."""
        kubelet, machine = self._kubelet, self._kubelet.node.machine
        if not (kubelet.running and machine.running):
            return None
        containers, self._containers = self._containers, {}
        networks, self._networks = self._networks, {}
        report = Report()
        for worker in kubelet.workers.values():
            live = kubelet.node.runtime.pods.get(worker.uid)
            first = None
            for record in live.containers if live is not None else ():
                container = record.container
                if container is None or not record.running:
                    continue
                first = first or container
                known = containers.get(container)
                if known is None or known.limited != (container.cpu.limit is not None):
                    known = _make_known(record, container)
                self._containers[container] = known
                known.rows.add_to(report)
            # A pod on its node's own network has no traffic of its own.
            if live is not None and first is not None and first.namespace is not machine.host.namespace:
                traffic = networks.get(first.namespace) or _traffic(first, live)
                self._networks[first.namespace] = traffic
                traffic.subject = outside_interface(first.namespace)
                traffic.add_to(report)
        return report


def _make_known(record: ContainerRecord, container: Container) -> _Known:
    of: Labels = tuple(pair for pair in container.labels if pair[0] != "node")
    of += (("id", container.cgroup_path), ("image", record.image.name), ("name", record.id))
    return _Known(container.cpu.limit is not None, Rows(container, partial(_measure, record.started_s), of))


def _traffic(first: Container, pod: PodRecord) -> Rows[InterfaceInfo]:
    """A pod's network is that of its sandbox."""
    holder = pod.sandbox.id if pod.sandbox is not None else ""
    path = f"{first.cgroup_path.rpartition('/')[0]}/cri-containerd-{holder}.scope"
    of: Labels = (("id", path), ("image", PAUSE), ("interface", "eth0"), ("name", holder))
    of += (("namespace", pod.namespace), ("pod", pod.name))
    return Rows(outside_interface(first.namespace), _measure_traffic, of)
