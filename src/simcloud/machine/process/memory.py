"""Memory accounting: resident sizes per process, limits per container and machine, the OOM killer."""

from __future__ import annotations

from typing import TYPE_CHECKING

from simcloud.machine.process.errors import ProcessDead

if TYPE_CHECKING:
    from simcloud.machine.process.process import Process


class Memory:
    """One process's resident memory, as it reports it by ``use`` and ``grow``."""

    __slots__ = ("_process", "resident_bytes")

    def __init__(self, process: Process, resident_bytes: int) -> None:
        self._process = process
        self.resident_bytes = 0
        self.use(resident_bytes)

    def use(self, size_bytes: int) -> None:
        """The process now holds so many bytes. May wake the OOM killer."""
        process = self._process
        change = size_bytes - self.resident_bytes
        self.resident_bytes = size_bytes
        container = process.container
        container.memory_bytes += change
        container.memory_peak_bytes = max(container.memory_peak_bytes, container.memory_bytes)
        container.machine.memory_used_bytes += change
        if change > 0:
            container.relieve_memory()
            if not process.alive and process.kernel.current is not None:
                raise ProcessDead

    def grow(self, change_bytes: int) -> None:
        """Hold so many bytes more (or fewer)."""
        self.use(max(0, self.resident_bytes + change_bytes))
