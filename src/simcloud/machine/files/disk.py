"""The physical properties of a storage device: capacity, speed and failures.

Volumes that share a disk share its space and its faults. Faults are plain attributes that may be changed at any time
and apply from the next operation on; ``on_error`` is called for every failed operation. A disk holds no data: volumes
do, in memory.

A disk that fails the writes of some paths fails them with EIO, and so does one that has lost the block of a directory:
no name in it can be looked up, everything else is readable and writable. On a disk that fails all writes, the journal of the file
system cannot be written either: it is aborted at the first change, and the file system is read-only until the disk is
repaired or the machine boots.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, NamedTuple

from simcloud.machine.files.errors import FileError

BLOCK_BYTES: Final = 4096
"""Space is handed out in blocks of this size, as on ext4."""

SECTOR_BYTES: Final = 512
FIRST_SECTOR: Final = 2048
"""Where the one partition of a disk begins."""

BYTES_PER_INODE: Final = 16384
"""The default of mke2fs."""

Failure = bool | Callable[[str], bool]
"""Fails always, never, or for those absolute paths for which the predicate says so."""


class LostDirectory(NamedTuple):
    """A directory whose only block cannot be read."""

    inode: int
    block: int


class Disk:
    """A storage device with a number of bytes and inodes."""

    __slots__ = (
        "bytes_per_s", "capacity_bytes", "errors", "fail_reads", "fail_writes", "file_system_errors", "inodes", "inodes_used",
        "journal_failed", "latency_s", "lost_directory", "name", "on_error", "read_only", "used_bytes", "written_bytes",
    )  # fmt: skip

    def __init__(self, name: str, capacity_bytes: int, inodes: int | None = None) -> None:
        self.name = name
        self.capacity_bytes = capacity_bytes
        self.inodes = max(16, capacity_bytes // BYTES_PER_INODE) if inodes is None else inodes
        self.used_bytes = 0
        self.inodes_used = 0
        self.fail_reads: Failure = False
        self.fail_writes: Failure = False
        self.lost_directory: LostDirectory | None = None
        self.journal_failed = False
        """Whether the journal could not be written since the last mount."""
        self.read_only = False
        self.latency_s = 0.0
        self.bytes_per_s = float("inf")
        self.on_error: Callable[[str], None] | None = None
        self.errors = 0
        """Failed operations."""
        self.file_system_errors = 0
        """Errors that the file system has recorded."""
        self.written_bytes = 0
        """Space handed out since the beginning, whether or not it was given back."""

    @property
    def journal_aborted(self) -> bool:
        """Whether the file system is read-only because its journal cannot be written."""
        return self.journal_failed and self.fail_writes is True

    @property
    def free_bytes(self) -> int:
        """What can still be written; never negative, even if the disk was shrunk under its content."""
        return max(0, self.capacity_bytes - self.used_bytes)

    def lose_directory(self, path: str, inode: int) -> None:
        """Make the block of a directory unreadable."""
        self.lost_directory = LostDirectory(inode, 2**20 + inode * 37 % 2**20)
        self.fail_reads = lambda read: read == path
        self.fail_writes = lambda changed: changed.rpartition("/")[0] == path

    def transfer_s(self, size_bytes: int) -> float:
        """Return how long a transfer takes. The caller waits; the disk does not."""
        return self.latency_s + size_bytes / self.bytes_per_s

    def check_read(self, path: str) -> None:
        """Raise EIO if reading this path fails now."""
        if fails(self.fail_reads, path):
            self._report("LIST" if self.lost_directory else "READ")
            raise FileError("EIO", path)

    def check_flush(self, path: str) -> None:
        """Raise EIO if bringing this path to the disk fails now, or EROFS if the journal is aborted."""
        if self.journal_aborted:
            raise FileError("EROFS", path)
        if fails(self.fail_writes, path):
            operation = "LOOKUP" if self.lost_directory else "WRITE"
            self._report("JOURNAL" if self.fail_writes is True else operation)
            raise FileError("EIO", path)

    def occupy(self, size_bytes: int, inodes: int) -> None:
        """Take (or give back) the space of files that are on the disk but are not modelled one by one."""
        self.used_bytes += size_bytes
        self.inodes_used += inodes

    def _report(self, operation: str) -> None:
        self.errors += 1
        self.journal_failed |= operation == "JOURNAL"
        self.file_system_errors += operation in ("JOURNAL", "LOOKUP")
        if self.on_error is not None:
            self.on_error(operation)

    def check_write(self, path: str) -> None:
        """Raise EROFS or EIO if changing this path fails now."""
        if self.fail_writes is True and not self.journal_failed:
            self._report("JOURNAL")
        if self.read_only:
            raise FileError("EROFS", path)
        self.check_flush(path)


def fails(failure: Failure, path: str) -> bool:
    """Whether this failure strikes this path."""
    return failure(path) if callable(failure) else failure
