"""cAdvisor, which is part of a kubelet: the resource usage of the containers of a node.

The values are those that /sys/fs/cgroup and /proc show inside the container.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from simcloud.kubernetes.images import PAUSE
from simcloud.kubernetes.kubelet import ContainerRecord, Kubelet, PodRecord
from simcloud.machine import Labels
from simcloud.machine.files import Volume
from simcloud.machine.network import InterfaceInfo, Namespace, outside_interface
from simcloud.machine.proc import SYSTEM_SHARE
from simcloud.machine.process import Container
from simcloud.telemetry.collectors.rows import Row, Rows, traffic_table
from simcloud.telemetry.scrape import Readings

CPU_PERIOD_US: Final = 100_000.0

_ALWAYS: Final[tuple[Row[Container], ...]] = (
    ("container_cpu_usage_seconds_total", (("cpu", "total"),), lambda c: c.cpu.used_s),
    ("container_cpu_user_seconds_total", (), lambda c: c.cpu.used_s * (1.0 - SYSTEM_SHARE)),
    ("container_cpu_system_seconds_total", (), lambda c: c.cpu.used_s * SYSTEM_SHARE),
    ("container_cpu_load_average_10s", (), 0.0),
    ("container_memory_working_set_bytes", (), lambda c: float(c.memory_bytes)),
    ("container_memory_usage_bytes", (), lambda c: float(c.memory_bytes)),
    ("container_memory_rss", (), lambda c: float(c.memory_bytes)),
    ("container_memory_cache", (), 0.0),
    ("container_memory_mapped_file", (), 0.0),
    ("container_memory_swap", (), 0.0),
    ("container_memory_max_usage_bytes", (), lambda c: float(c.memory_peak_bytes)),
    ("container_spec_memory_limit_bytes", (), lambda c: float(c.memory_limit_bytes or 0)),
    ("container_spec_cpu_period", (), CPU_PERIOD_US),
    ("container_oom_events_total", (), lambda c: float(c.oom_kills)),
    ("container_processes", (), lambda c: float(len(c.processes))),
    ("container_threads", (), lambda c: float(sum(process.threads for process in c.processes.values()))),
    ("container_fs_usage_bytes", (("device", "/dev/sda"),), lambda c: float(_root(c).used_bytes)),
)
_WITH_LIMIT: Final[tuple[Row[Container], ...]] = (
    ("container_spec_cpu_quota", (), lambda c: (c.cpu.limit or 0.0) * CPU_PERIOD_US),
    ("container_cpu_cfs_periods_total", (), lambda c: float(c.cpu.periods)),
    ("container_cpu_cfs_throttled_periods_total", (), lambda c: float(c.cpu.throttled_periods)),
    ("container_cpu_cfs_throttled_seconds_total", (), lambda c: c.cpu.throttled_s),
)


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

    def read(self) -> Readings | None:
        """Return its families; None when the kubelet does not run."""
        kubelet, machine = self._kubelet, self._kubelet.node.machine
        if not (kubelet.running and machine.running):
            return None
        containers, self._containers = self._containers, {}
        networks, self._networks = self._networks, {}
        readings: Readings = []
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
                readings += known.rows.read()
            # A pod on its node's own network has no traffic of its own.
            if live is not None and first is not None and first.namespace is not machine.host.namespace:
                traffic = networks.get(first.namespace) or _traffic(first, live)
                self._networks[first.namespace] = traffic
                traffic.subject = outside_interface(first.namespace)
                readings += traffic.read()
        return readings


def _make_known(record: ContainerRecord, container: Container) -> _Known:
    limited = container.cpu.limit is not None
    started: Row[Container] = ("container_start_time_seconds", (), record.started_s)
    of: Labels = tuple(pair for pair in container.labels if pair[0] != "node")
    of += (("id", container.cgroup_path), ("image", record.image.name), ("name", record.id))
    return _Known(limited, Rows(container, (started, *_ALWAYS, *(_WITH_LIMIT if limited else ())), of))


def _traffic(first: Container, pod: PodRecord) -> Rows[InterfaceInfo]:
    """A pod's network is that of its sandbox."""
    holder = pod.sandbox.id if pod.sandbox is not None else ""
    path = f"{first.cgroup_path.rpartition('/')[0]}/cri-containerd-{holder}.scope"
    of: Labels = (("id", path), ("image", PAUSE), ("interface", "eth0"), ("name", holder))
    of += (("namespace", pod.namespace), ("pod", pod.name))
    table = traffic_table("container_network", "errors", "packets_dropped", of)
    return Rows(outside_interface(first.namespace), table)


def _root(container: Container) -> Volume:
    return container.files.mounts()[0].volume
