"""How a machine's memory is divided: processes, the kernel, the page cache.

Only the memory of processes is booked by the machine. What the kernel does with the rest follows from its age and its
disk: the page cache fills in the minutes after a boot, with the files that are there to be read, and gives way to
processes.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import exp
from typing import TYPE_CHECKING, Final
from zlib import crc32

from simcloud.machine.process import PAGE_BYTES

if TYPE_CHECKING:
    from simcloud.machine.process.container import Host

MIB: Final = 1024**2
RESERVED_MEMORY_BYTES: Final = 240 * MIB
"""What the operating system itself holds; the rest of the used memory is that of processes."""
LEAST_CACHE_BYTES: Final = 96 * MIB
CACHED_SHARE: Final = 0.42
"""Of what is on the disk, so much has been read since the boot."""
MOST_CACHE_SHARE: Final = 0.72
"""The page cache never takes more of what processes leave."""
FILLING_S: Final = 420.0
"""The time in which the cache gets to two thirds of its size."""


@dataclass(frozen=True, slots=True)
class MemoryUse:
    """Bytes of a machine's memory, all whole pages."""

    total: int
    free: int
    buffers: int
    cached: int
    reclaimable: int
    unreclaimable: int
    shared: int
    anonymous: int
    dirty: int

    @property
    def cache(self) -> int:
        """What free(1) calls buff/cache."""
        return self.buffers + self.cached + self.reclaimable

    @property
    def available(self) -> int:
        """What processes could still get: the free memory, and the cache that can be given up."""
        return min(self.total, self.free + (self.cache - self.shared) * 15 // 16 // PAGE_BYTES * PAGE_BYTES)

    @property
    def used(self) -> int:
        """What is not available."""
        return self.total - self.available


def vary(subject: str, now: float = 0.0, every_s: float = 1.0) -> float:
    """A number below 1 that is the machine's own: the same at each look within a time, and different after it."""
    return crc32(f"{subject}/{now // every_s}".encode()) / 2**32


def whole_pages(size_bytes: float) -> int:
    """The bytes of the pages that hold so much."""
    return int(size_bytes) // PAGE_BYTES * PAGE_BYTES


def measure_memory(machine: Host) -> MemoryUse:
    """How the memory is divided now."""
    now, name = machine.kernel.now, machine.name
    total = machine.memory_bytes
    anonymous = whole_pages(machine.memory_used_bytes - RESERVED_MEMORY_BYTES)
    left = max(0, total - machine.memory_used_bytes)
    age_s = now - max(machine.booted_at, machine.caches_dropped_at)
    wanted = 340 * MIB + machine.disk.used_bytes * CACHED_SHARE * (0.9 + 0.2 * vary(name))
    filled = LEAST_CACHE_BYTES + wanted * (1 - exp(-age_s / FILLING_S))
    cache = min(left * MOST_CACHE_SHARE, filled)
    moving = vary(f"{name}/free", now) * min(6 * MIB, left / 64)
    buffers, reclaimable = whole_pages(cache * 0.031), whole_pages(cache * 0.058)
    cached = whole_pages(cache * 0.911 + moving)
    return MemoryUse(total=total, free=max(0, whole_pages(left) - buffers - cached - reclaimable), buffers=buffers,
        cached=cached, reclaimable=reclaimable, unreclaimable=whole_pages(min(machine.memory_used_bytes - anonymous,
        61 * MIB + moving)), shared=whole_pages(min(cached, 3.2 * MIB + 4 * MIB * vary(f"{name}/shared"))),
        anonymous=anonymous, dirty=whole_pages(vary(f"{name}/dirty", now, 5.0) ** 3 * 2.5 * MIB))  # fmt: skip
