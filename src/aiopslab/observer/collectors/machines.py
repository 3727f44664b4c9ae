"""node exporter and cAdvisor: what machines and their containers use."""

from __future__ import annotations

from collections.abc import Iterator

from aiopslab.cluster.kubelet.kubelet import Kubelet
from aiopslab.machine.computer import Machine
from aiopslab.machine.emit import Labels
from aiopslab.machine.network import Namespace
from aiopslab.machine.process import Container
from aiopslab.observer.scrape import Reading, Readings


def read_machine(machine: Machine) -> Readings | None:
    """node exporter's families; None of a machine that is off."""
    return _machine(machine) if machine.running else None


def _machine(machine: Machine) -> Iterator[Reading]:
    cpu, disk, now = machine.cpu, machine.disk, machine.clock()
    up_s = machine.kernel.now - machine.booted_at
    used_s = min(cpu.used_s / cpu.cores, up_s)
    for core in range(cpu.cores):
        of: Labels = (("cpu", str(core)),)
        yield Reading("node_cpu_seconds_total", (*of, ("mode", "user")), used_s)
        yield Reading("node_cpu_seconds_total", (*of, ("mode", "idle")), up_s - used_s)
    for name, load in zip(("node_load1", "node_load5", "node_load15"), cpu.load, strict=True):
        yield Reading(name, (), load)
    free = float(machine.memory_bytes - machine.memory_used_bytes)
    yield Reading("node_memory_MemTotal_bytes", (), float(machine.memory_bytes))
    yield Reading("node_memory_MemFree_bytes", (), free)
    yield Reading("node_memory_MemAvailable_bytes", (), free)
    root: Labels = (("device", "/dev/sda"), ("fstype", "ext4"), ("mountpoint", "/"))
    yield Reading("node_filesystem_size_bytes", root, float(disk.capacity_bytes))
    yield Reading("node_filesystem_free_bytes", root, float(disk.free_bytes))
    yield Reading("node_filesystem_avail_bytes", root, float(disk.free_bytes))
    yield Reading("node_filesystem_files", root, float(disk.inodes))
    yield Reading("node_filesystem_files_free", root, float(max(0, disk.inodes - disk.inodes_used)))
    yield Reading("node_filesystem_readonly", root, float(disk.read_only))
    yield Reading("node_boot_time_seconds", (), now - up_s)
    yield Reading("node_time_seconds", (), now)
    yield from _traffic("node_network", machine.host.namespace, (("device", "eth0"),))
    uname: Labels = (("machine", "x86_64"), ("nodename", machine.name), ("release", machine.kernel_release))
    yield Reading("node_uname_info", (*uname, ("sysname", "Linux")), 1.0)


def read_containers(kubelet: Kubelet) -> Readings | None:
    """cAdvisor's families, which a kubelet serves; None when the kubelet does not run."""
    return _containers(kubelet) if kubelet.running and kubelet.node.machine.running else None


def _containers(kubelet: Kubelet) -> Iterator[Reading]:
    pods = kubelet.node.runtime.pods
    for worker in kubelet.workers.values():
        metadata = worker.pod["metadata"]
        live = pods.get(worker.uid)
        for record in live.containers if live is not None else ():
            if record.running and record.container is not None:
                of: Labels = (
                    ("container", record.name),
                    ("namespace", metadata["namespace"]),
                    ("pod", metadata["name"]),
                )
                yield Reading("container_start_time_seconds", of, record.started_s)
                yield from _container(record.container, of)
        first = (
            next((r.container for r in live.containers if r.running and r.container), None) if live else None
        )
        # A pod on its node's own network has no traffic of its own.
        if first is not None and first.namespace is not kubelet.node.machine.host.namespace:
            pod: Labels = (("namespace", metadata["namespace"]), ("pod", metadata["name"]))
            yield from _traffic("container_network", first.namespace, (("interface", "eth0"), *pod))


def _traffic(prefix: str, namespace: Namespace, of: Labels) -> Iterator[Reading]:
    sent, received = namespace.sent, namespace.received
    for unit in ("bytes", "packets"):
        yield Reading(f"{prefix}_transmit_{unit}_total", of, float(sent.total(unit)))
        arrived = received.total(unit) - received.total(f"lost_{unit}")
        yield Reading(f"{prefix}_receive_{unit}_total", of, float(arrived))


def _container(container: Container, of: Labels) -> Iterator[Reading]:
    cpu = container.cpu
    yield Reading("container_cpu_usage_seconds_total", of, cpu.used_s)
    yield Reading("container_memory_working_set_bytes", of, float(container.memory_bytes))
    yield Reading("container_memory_usage_bytes", of, float(container.memory_bytes))
    yield Reading("container_memory_rss", of, float(container.memory_bytes))
    yield Reading("container_memory_max_usage_bytes", of, float(container.memory_peak_bytes))
    yield Reading("container_spec_memory_limit_bytes", of, float(container.memory_limit_bytes or 0))
    yield Reading("container_oom_events_total", of, float(container.oom_kills))
    yield Reading("container_processes", of, float(len(container.processes)))
    if cpu.limit is not None:
        yield Reading("container_spec_cpu_period", of, 100_000.0)
        yield Reading("container_spec_cpu_quota", of, cpu.limit * 100_000)
        yield Reading("container_cpu_cfs_periods_total", of, float(cpu.periods))
        yield Reading("container_cpu_cfs_throttled_periods_total", of, float(cpu.throttled_periods))
        yield Reading("container_cpu_cfs_throttled_seconds_total", of, cpu.throttled_s)
