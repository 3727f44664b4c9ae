"""node exporter: the resources of a machine and their usage."""

from __future__ import annotations

from typing import Final

from simcloud.machine import Labels, Machine
from simcloud.machine.network import outside_interface
from simcloud.machine.proc import SYSTEM_SHARE, measure_memory
from simcloud.telemetry.collectors.rows import Measured, Rows, measure_traffic
from simcloud.telemetry.scrape import Report

_ROOT: Final[Labels] = (("device", "/dev/sda"), ("fstype", "ext4"), ("mountpoint", "/"))
_measure_traffic: Final = measure_traffic("node_network", "errs", "drop")


class MachineReadings:
    """node exporter on one machine."""

    def __init__(self, machine: Machine) -> None:
        self._machine = machine
        self._rows = Rows(machine, _measure)
        self._traffic = Rows(
            outside_interface(machine.host.namespace), _measure_traffic, (("device", "eth0"),)
        )

    def read(self) -> Report | None:
        """Return its families; None of a machine that is off."""
        if not self._machine.running:
            return None
        self._traffic.subject = outside_interface(self._machine.host.namespace)
        report = Report()
        self._rows.add_to(report)
        self._traffic.add_to(report)
        return report


def _measure(machine: Machine) -> Measured:
    cpu, disk, root, memory = (
        machine.cpu,
        machine.disk,
        machine.host.files.table.root,
        measure_memory(machine),
    )
    up_s = machine.kernel.now - machine.booted_at
    busy_s = min(cpu.used_s / cpu.cores, up_s)  # all cores work equally
    stolen_s = cpu.stolen_s / cpu.cores  # the hypervisor gave it to other machines
    modes = {
        "user": busy_s * (1.0 - SYSTEM_SHARE),
        "system": busy_s * SYSTEM_SHARE,
        "steal": stolen_s,
        "idle": max(0.0, up_s - busy_s - stolen_s),
    }
    about = (
        ("machine", "x86_64"),
        ("nodename", machine.name),
        ("release", machine.kernel_release),
        ("sysname", "Linux"),
    )
    return {
        **{
            ("node_cpu_seconds_total", (("cpu", str(core)), ("mode", mode))): spent_s
            for core in range(cpu.cores)
            for mode, spent_s in modes.items()
        },
        "node_load1": cpu.load[0],
        "node_load5": cpu.load[1],
        "node_load15": cpu.load[2],
        "node_memory_MemTotal_bytes": float(machine.memory_bytes),
        "node_memory_MemFree_bytes": float(memory.free),
        "node_memory_Buffers_bytes": float(memory.buffers),
        "node_memory_Cached_bytes": float(memory.cached),
        "node_memory_MemAvailable_bytes": float(machine.memory_bytes - machine.memory_used_bytes),
        ("node_filesystem_size_bytes", _ROOT): float(disk.capacity_bytes),
        ("node_filesystem_free_bytes", _ROOT): float(disk.free_bytes),
        ("node_filesystem_avail_bytes", _ROOT): float(root.space().available_bytes),
        ("node_filesystem_files", _ROOT): float(disk.inodes),
        ("node_filesystem_files_free", _ROOT): float(max(0, disk.inodes - disk.inodes_used)),
        ("node_filesystem_readonly", _ROOT): float(root.frozen),
        "node_boot_time_seconds": machine.clock() - up_s,
        "node_time_seconds": machine.clock(),
        ("node_uname_info", about): 1.0,
    }
