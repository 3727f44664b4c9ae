"""What files of data contain that this process has built itself, so that a server need not parse them.

Images with data are built and opened in the same process. The key is a digest of the whole file: one that
has been changed, even by a bit, is not found and is parsed like any other.
"""

from __future__ import annotations

from hashlib import blake2b
from typing import Final, Generic, TypeVar

FILES_MAX: Final = 64

T = TypeVar("T")


class KnownFiles(Generic[T]):
    """The contents of the newest ``FILES_MAX`` files. Contents are shared by all that find them, and must not change."""

    def __init__(self) -> None:
        self._contents: dict[bytes, T] = {}

    def add(self, data: bytes, content: T) -> None:
        """Remember what a file with these bytes contains."""
        if len(self._contents) >= FILES_MAX:
            del self._contents[next(iter(self._contents))]
        self._contents[_digest(data)] = content

    def find(self, data: bytes) -> T | None:
        """Return what a file with these bytes contains, if that is known."""
        return self._contents.get(_digest(data)) if self._contents else None


def _digest(data: bytes) -> bytes:
    return blake2b(data, digest_size=16).digest()
