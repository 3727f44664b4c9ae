"""Errors of the storage."""

from __future__ import annotations

from typing import Final

from simcloud.machine.files import FileError

ERRNO: Final = {"EIO": 5, "EACCES": 13, "EPERM": 1, "ENOSPC": 28, "EROFS": 30, "EDQUOT": 122, "ENOENT": 2}


def errno_of(error: FileError) -> int:
    """The number C has for it."""
    return ERRNO.get(error.code, 5)


class StorageFailed(Exception):
    """A fatal error of the storage engine: the process must exit."""

    def __init__(self, operation: str, path: str, error: FileError, size_bytes: int, offset: int) -> None:
        self.operation = operation
        self.path = path
        self.number = errno_of(error)
        self.words = error.strerror
        self.size_bytes = size_bytes
        self.offset = offset
        super().__init__(f"{operation}: {path}: {error}")

    @property
    def write_message(self) -> str:
        """WiredTiger's message about the failed write."""
        write = f"handle-write: pwrite: failed to write {self.size_bytes} bytes at offset {self.offset}"
        return f"{self.path}: {write}: {self.words}"


class CannotOpen(Exception):
    """The data cannot be opened; ``name`` and ``message`` are mongod's."""

    def __init__(self, name: str, message: str) -> None:
        super().__init__(message)
        self.name = name
        self.message = message


class Corrupt(Exception):
    """A corrupt data file; ``path`` is the file."""

    def __init__(self, path: str, message: str) -> None:
        super().__init__(message)
        self.path = path
        self.message = message
