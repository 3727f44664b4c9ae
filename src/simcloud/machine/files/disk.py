"""The physical properties of a storage device: capacity, speed and failures.

Volumes that share a disk share its space and its faults. Faults are plain attributes that may be changed at any time
and apply from the next operation on; ``on_error`` is called for every failed operation. A disk holds no data: volumes
do, in memory.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from simcloud.machine.files.errors import FileError

BLOCK_BYTES: Final = 4096
"""Space is handed out in blocks of this size, as on ext4."""

BYTES_PER_INODE: Final = 16384
"""The default of mke2fs."""

Failure = bool | Callable[[str], bool]
"""Fails always, never, or for those absolute paths for which the predicate says so."""


class Disk:
    """A storage device with a number of bytes and inodes."""

    def __init__(self, name: str, capacity_bytes: int, inodes: int | None = None) -> None:
        self.name = name
        self.capacity_bytes = capacity_bytes
        self.inodes = max(16, capacity_bytes // BYTES_PER_INODE) if inodes is None else inodes
        self.used_bytes = 0
        self.inodes_used = 0
        self.fail_reads: Failure = False
        self.fail_writes: Failure = False
        self.read_only = False
        self.latency_s = 0.0
        self.bytes_per_s = float("inf")
        self.on_error: Callable[[str], None] | None = None

    @property
    def free_bytes(self) -> int:
        """What can still be written; never negative, even if the disk was shrunk under its content."""
        return max(0, self.capacity_bytes - self.used_bytes)

    def transfer_s(self, size_bytes: int) -> float:
        """Return how long a transfer takes. The caller waits; the disk does not."""
        return self.latency_s + size_bytes / self.bytes_per_s

    def check_read(self, path: str) -> None:
        """Raise EIO if reading this path fails now."""
        if fails(self.fail_reads, path):
            self._report("READ")
            raise FileError("EIO", path)

    def check_flush(self, path: str) -> None:
        """Raise EIO if bringing this path to the disk fails now."""
        if fails(self.fail_writes, path):
            self._report("WRITE")
            raise FileError("EIO", path)

    def _report(self, operation: str) -> None:
        if self.on_error is not None:
            self.on_error(operation)

    def check_write(self, path: str) -> None:
        """Raise EROFS or EIO if writing this path fails now."""
        if self.read_only:
            raise FileError("EROFS", path)
        self.check_flush(path)


def fails(failure: Failure, path: str) -> bool:
    """Whether this failure strikes this path."""
    return failure(path) if callable(failure) else failure
