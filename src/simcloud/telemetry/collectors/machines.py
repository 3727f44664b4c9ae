"""node exporter: the resources of a machine and their usage."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from simcloud.machine import Labels, Machine
from simcloud.machine.network import outside_interface
from simcloud.machine.proc import SYSTEM_SHARE, measure_memory
from simcloud.telemetry.collectors.rows import Row, Rows, traffic_table
from simcloud.telemetry.scrape import Readings

_ROOT: Final[Labels] = (("device", "/dev/sda"), ("fstype", "ext4"), ("mountpoint", "/"))
_TABLE: Final[tuple[Row[Machine], ...]] = (
    ("node_load1", (), lambda m: m.cpu.load[0]),
    ("node_load5", (), lambda m: m.cpu.load[1]),
    ("node_load15", (), lambda m: m.cpu.load[2]),
    ("node_memory_MemTotal_bytes", (), lambda m: float(m.memory_bytes)),
    ("node_memory_MemFree_bytes", (), lambda m: float(measure_memory(m).free)),
    ("node_memory_Buffers_bytes", (), lambda m: float(measure_memory(m).buffers)),
    ("node_memory_Cached_bytes", (), lambda m: float(measure_memory(m).cached)),
    ("node_memory_MemAvailable_bytes", (), lambda m: float(m.memory_bytes - m.memory_used_bytes)),
    ("node_filesystem_size_bytes", _ROOT, lambda m: float(m.disk.capacity_bytes)),
    ("node_filesystem_free_bytes", _ROOT, lambda m: float(m.disk.free_bytes)),
    ("node_filesystem_avail_bytes", _ROOT, lambda m: float(m.host.files.table.root.space().available_bytes)),
    ("node_filesystem_files", _ROOT, lambda m: float(m.disk.inodes)),
    ("node_filesystem_files_free", _ROOT, lambda m: float(max(0, m.disk.inodes - m.disk.inodes_used))),
    ("node_filesystem_readonly", _ROOT, lambda m: float(m.host.files.table.root.frozen)),
    ("node_boot_time_seconds", (), lambda m: m.clock() - _up_s(m)),
    ("node_time_seconds", (), lambda m: m.clock()),
)


class MachineReadings:
    """node exporter on one machine."""

    def __init__(self, machine: Machine) -> None:
        self._machine = machine
        self._rows = Rows(machine, (*_processors(machine.cpu.cores), *_TABLE, _uname(machine)))
        network = traffic_table("node_network", "errs", "drop", (("device", "eth0"),))
        self._traffic = Rows(outside_interface(machine.host.namespace), network)

    def read(self) -> Readings | None:
        """Return its families; None of a machine that is off."""
        if not self._machine.running:
            return None
        self._traffic.subject = outside_interface(self._machine.host.namespace)
        return self._rows.read() + self._traffic.read()


def _up_s(machine: Machine) -> float:
    return machine.kernel.now - machine.booted_at


def _busy_s(machine: Machine) -> float:
    """Return the CPU time per core, if all cores work equally."""
    return min(machine.cpu.used_s / machine.cpu.cores, _up_s(machine))


def _stolen_s(machine: Machine) -> float:
    """Return the time per core that the hypervisor gave to other machines."""
    return machine.cpu.stolen_s / machine.cpu.cores


def _processors(cores: int) -> Iterator[Row[Machine]]:
    for core in range(cores):
        of: Labels = (("cpu", str(core)),)
        yield "node_cpu_seconds_total", (*of, ("mode", "user")), lambda m: _busy_s(m) * (1.0 - SYSTEM_SHARE)
        yield "node_cpu_seconds_total", (*of, ("mode", "system")), lambda m: _busy_s(m) * SYSTEM_SHARE
        yield "node_cpu_seconds_total", (*of, ("mode", "steal")), _stolen_s
        yield (
            "node_cpu_seconds_total",
            (*of, ("mode", "idle")),
            lambda m: max(0.0, _up_s(m) - _busy_s(m) - _stolen_s(m)),
        )


def _uname(machine: Machine) -> Row[Machine]:
    about = {
        "machine": "x86_64",
        "nodename": machine.name,
        "release": machine.kernel_release,
        "sysname": "Linux",
    }
    return "node_uname_info", tuple(about.items()), 1.0
