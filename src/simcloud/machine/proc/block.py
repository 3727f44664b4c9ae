"""The disk of a machine as a block device: its partitions, and how much was read and written.

Only what is kept on the disk is counted as it happens. The rest follows from the machine's age: every boot reads the
system, and journal, logs and container runtime write all the time.
"""

from __future__ import annotations

from dataclasses import astuple, dataclass
from typing import TYPE_CHECKING, Final
from uuid import UUID

from simcloud.machine.files import FIRST_SECTOR, SECTOR_BYTES
from simcloud.machine.proc.memory import vary

if TYPE_CHECKING:
    from simcloud.machine.process import Container
    from simcloud.machine.process.container import Host

DEVICE: Final = "sda"
PARTITION: Final = "sda1"
MODEL: Final = "QEMU HARDDISK"
GIB: Final = 1024**3
WRITES_PER_S: Final = 3.4
WRITE_BYTES: Final = 18_400
LARGE_WRITE_BYTES: Final = 196_608
"""What is written at once when much is written."""
READ_BYTES: Final = 41_300


@dataclass(frozen=True, slots=True)
class BlockActivity:
    """The counters of /proc/diskstats, in their order."""

    reads: int
    reads_merged: int
    read_sectors: int
    read_ms: int
    writes: int
    writes_merged: int
    write_sectors: int
    write_ms: int
    in_flight: int
    io_ms: int
    weighted_ms: int

    def columns(self) -> tuple[int, ...]:
        """The eleven old counters, four zeros for discards, and the flushes."""
        return (*astuple(self), 0, 0, 0, 0, self.writes // 9, _measure_flushes_ms(self.writes))


def device_bytes(machine: Host) -> int:
    """The size of the device: whole GiB that the file system fits on."""
    capacity = machine.disk.capacity_bytes
    if capacity <= GIB:
        return capacity + FIRST_SECTOR * SECTOR_BYTES
    return -(-(capacity + capacity // 64) // GIB) * GIB


def partition_sectors(machine: Host) -> int:
    """The length of the one partition."""
    return device_bytes(machine) // SECTOR_BYTES - FIRST_SECTOR - 33


def file_system_id(machine: Host) -> str:
    """The UUID of the root file system."""
    digits = machine.machine_id[::-1]
    return str(UUID(f"{digits[:12]}4{digits[13:16]}a{digits[17:]}"))


def measure_activity(machine: Host) -> BlockActivity:
    """What the device has done since the boot."""
    disk, own = machine.disk, vary(f"{machine.name}/{DEVICE}")
    up_s = machine.kernel.now - machine.booted_at
    reads = int(9_800 + 2_600 * own + disk.used_bytes * 0.42 / (READ_BYTES * 4) + up_s * 0.08)
    small = up_s * WRITES_PER_S * (0.8 + 0.4 * own) + 640
    writes = int(small + disk.written_bytes / LARGE_WRITE_BYTES) + disk.errors
    slow_ms = 0.22 + disk.latency_s * 1000
    read_ms, write_ms = int(reads * (slow_ms + 0.1)), int(writes * (slow_ms + 0.6) + disk.errors * 31)
    return BlockActivity(
        reads=reads,
        reads_merged=int(reads * (0.21 + own / 9)),
        read_sectors=int(reads * READ_BYTES / SECTOR_BYTES) // 8 * 8,
        read_ms=read_ms,
        writes=writes,
        writes_merged=int(writes * (0.74 + own / 5)),
        write_sectors=int((small * WRITE_BYTES + disk.written_bytes) / SECTOR_BYTES) // 8 * 8,
        write_ms=write_ms,
        in_flight=1 if disk.latency_s > 0.05 else 0,
        io_ms=int((read_ms + write_ms) * 0.61),
        weighted_ms=read_ms + write_ms + _measure_flushes_ms(writes),
    )


def _measure_flushes_ms(writes: int) -> int:
    return writes // 14


def diskstats(container: Container) -> str:
    """The content of /proc/diskstats."""
    machine = container.machine
    whole = measure_activity(machine).columns()
    flushes_ms = whole[-1]  # the kernel counts flushes of whole devices only
    part = (
        whole[0] - 71,
        whole[1],
        whole[2] - 4376,
        *whole[3:10],
        whole[10] - flushes_ms,
        *whole[11:-2],
        0,
        0,
    )
    rows = ((0, DEVICE, whole), (1, PARTITION, part))
    return "".join(f"   8 {minor:7d} {name} {' '.join(map(str, counts))}\n" for minor, name, counts in rows)


def partitions(container: Container) -> str:
    """The content of /proc/partitions."""
    machine = container.machine
    sizes = ((0, device_bytes(machine) // 1024, DEVICE), (1, partition_sectors(machine) // 2, PARTITION))
    rows = (f"{8:4d} {minor:8d} {size:10d} {name}\n" for minor, size, name in sizes)
    return "major minor  #blocks  name\n\n" + "".join(rows)
