"""Open files: a place in a file, and the right to read or write there.

What dup(2) and fork(2) share is one ``OpenFile`` with one offset: ``dup`` counts another user of
it and ``close`` one less; the last close lets go of the file. An open file belongs to the process
that opened it and is of no use once that is dead, unless it was handed on (``share``). All
operations end at once; how long a disk takes is for the caller to let pass (``io_delay_s``).
"""

from __future__ import annotations

from typing import Final, NamedTuple

from simcloud.machine.files.content import MAX_FILE_BYTES, MAX_READ_BYTES
from simcloud.machine.files.errors import FileError
from simcloud.machine.files.mounts import Mount
from simcloud.machine.files.nodes import BlockNode, Computed, DeviceNode, Directory, Node, Regular, Stat

BLOCK_LATENCY_S: Final = 0.00018
BLOCK_BYTES_S: Final = 412e6
"""How fast a disk is read past the page cache."""

SEEK_SET: Final = 0
SEEK_CUR: Final = 1
SEEK_END: Final = 2


class Life:
    """Whether a process may still use the files that it has opened; they are released at its end."""

    __slots__ = ("files", "over")

    def __init__(self) -> None:
        self.over = False
        self.files: dict[OpenFile, None] = {}

    def end(self) -> None:
        """Release what is still open."""
        self.over = True
        for file in list(self.files):
            file.release()


FOREVER: Final = Life()


class Access(NamedTuple):
    """What a file was opened for."""

    readable: bool
    writable: bool
    appending: bool


class OpenFile:
    """An open file of any kind; the subclasses know how bytes come and go."""

    def __init__(self, mount: Mount, node: Node, path: str, access: Access) -> None:
        self.path = path
        self.life = FOREVER
        self.readable, self.writable, self.appending = access
        self._mount = mount
        self._volume = mount.volume
        self._node = node
        self._offset = 0
        self._users = 1
        mount.open_files += 1
        self._volume.hold(node)

    @property
    def kind(self) -> str:
        """What sort of thing is open: "file", "directory" or "device"."""
        return self._node.kind

    def read(self, n: int = -1) -> bytes:
        """Up to ``n`` bytes from the offset on (all that is left if negative); b"" at the end."""
        self._check(self.readable)
        raise FileError("EISDIR", self.path)

    def read_at(self, position: int, n: int) -> bytes:
        """Up to ``n`` bytes from a given position; the offset stays where it is (pread)."""
        self._check(self.readable)
        raise FileError("EISDIR" if isinstance(self._node, Directory) else "ESPIPE", self.path)

    def write(self, data: bytes) -> int:
        """Write at the offset, or at the end if opened to append; returns how many bytes fitted."""
        self._check(self.writable)
        raise FileError("EISDIR", self.path)

    def write_all(self, data: bytes) -> None:
        """Write everything; if it does not fit, what fits is written and ENOSPC raised."""
        done = self.write(data)
        while done < len(data):
            done += self.write(data[done:])

    def seek(self, position: int, whence: int = SEEK_SET) -> int:
        """Move the offset: from the start (0), from where it is (1) or from the end (2)."""
        self._check(True)
        start = (0, self._offset, self._volume.current(self._node).size)[whence]
        if not 0 <= start + position <= MAX_FILE_BYTES:
            raise FileError("EINVAL", self.path)
        self._offset = start + position
        return self._offset

    def tell(self) -> int:
        """The offset."""
        return self._offset

    def truncate(self, size: int) -> None:
        """Cut the file, or let it grow by a hole."""
        self._check(self.writable)
        raise FileError("EINVAL", self.path)

    def sync(self) -> None:
        """Bring this file to the disk (fsync)."""
        self._check(True)
        self._volume.disk.check_flush(self.path)
        self._volume.sync(self._node)

    def stat(self) -> Stat:
        """What the file is now."""
        return self._volume.current(self._node).stat(self._mount.dev)

    def io_delay_s(self, size_bytes: int) -> float:
        """Return how long the disk takes to transfer these bytes."""
        return self._volume.disk.transfer_s(size_bytes)

    def dup(self) -> OpenFile:
        """One more user of this same open file."""
        self._users += 1
        return self

    def share(self) -> OpenFile:
        """Let it outlive the process that opened it, because others were given it."""
        self.life.files.pop(self, None)
        self.life = FOREVER
        return self

    def close(self) -> None:
        """One user less; the last one lets go of the file. Closing what is closed is no error."""
        if self._users:
            self._users -= 1
            if self._users == 0:
                self.life.files.pop(self, None)
                self._mount.open_files -= 1
                self._volume.release(self._node)

    def release(self) -> None:
        """Close it for all its users."""
        self._users = min(self._users, 1)
        self.close()

    @property
    def closed(self) -> bool:
        """Nobody uses it any more."""
        return self._users == 0

    def _check(self, allowed: bool) -> None:
        if not allowed or not self._users or self.life.over:
            raise FileError("EBADF", self.path)

    def _read_size(self, n: int, left: int) -> int:
        """Return how many bytes to read; reading the whole of a huge file raises ENOMEM."""
        if n >= 0:
            return n
        if left > MAX_READ_BYTES:
            raise FileError("ENOMEM", self.path)
        return left


class RegularFile(OpenFile):
    """A regular file that is open."""

    _node: Regular

    def read(self, n: int = -1) -> bytes:
        """Up to ``n`` bytes from the offset on (all that is left if negative); b"" at the end."""
        data = self.read_at(self._offset, n)
        self._offset += len(data)
        return data

    def read_at(self, position: int, n: int) -> bytes:
        """Up to ``n`` bytes from a given position; the offset stays where it is (pread)."""
        self._check(self.readable)
        volume = self._volume
        if volume.disk.fail_reads:
            volume.disk.check_read(self.path)
        node = self._node = volume.current(self._node)
        return volume.read(node, position, self._read_size(n, max(0, node.content.size - position)))

    def write(self, data: bytes) -> int:
        """Write at the offset, or at the end if opened to append; returns how many bytes fitted."""
        if not self.writable or not self._users or self.life.over:
            raise FileError("EBADF", self.path)
        volume = self._volume
        disk = volume.disk
        if disk.fail_writes or disk.read_only:
            disk.check_write(self.path)
        node = self._node = volume.current(self._node)
        position = node.content.size if self.appending else self._offset
        try:
            count = volume.write(node, position, data)
        except FileError as error:
            error.path = self.path
            raise
        self._offset = position + count
        return count

    def truncate(self, size: int) -> None:
        """Cut the file, or let it grow by a hole."""
        self._check(self.writable)
        self._volume.disk.check_write(self.path)
        if size < 0:
            raise FileError("EINVAL", self.path)
        try:
            self._volume.resize(self._volume.current(self._node), size)
        except FileError as error:
            error.path = self.path
            raise


class DeviceFile(OpenFile):
    """A character device that is open."""

    _node: DeviceNode

    def read(self, n: int = -1) -> bytes:
        """Up to ``n`` bytes; a device that never ends cannot be read as a whole (ENOMEM)."""
        self._check(self.readable)
        data = self._node.device.read(min(n, MAX_READ_BYTES) if n >= 0 else 1)
        if n < 0 and data:
            raise FileError("ENOMEM", self.path)
        return data

    def write(self, data: bytes) -> int:
        """Hand bytes to the device."""
        self._check(self.writable)
        return self._node.device.write(data)

    def io_delay_s(self, size_bytes: int) -> float:
        """Return how long a disk takes to transfer these bytes; other devices take no time."""
        is_disk = isinstance(self._node, BlockNode)
        return BLOCK_LATENCY_S + size_bytes / BLOCK_BYTES_S if is_disk else 0.0

    def seek(self, position: int, whence: int = SEEK_SET) -> int:
        """Devices have no places; seeking does nothing."""
        self._check(True)
        return 0


class ComputedFile(OpenFile):
    """A computed file that is open: made anew each time it is read from the beginning."""

    _node: Computed
    _made = b""

    def read(self, n: int = -1) -> bytes:
        """Up to ``n`` bytes from the offset on (all that is left if negative); b"" at the end."""
        self._check(self.readable)
        if self._offset == 0:
            self._made = self._node.render()
        start = self._offset
        data = self._made[start : start + self._read_size(n, len(self._made))]
        self._offset += len(data)
        return data

    def write(self, data: bytes) -> int:
        """Hand all bytes at once to whoever computes the file."""
        self._check(self.writable)
        if self._node.accept is None:
            raise FileError("EIO", self.path)
        self._node.accept(data)
        return len(data)

    def truncate(self, size: int) -> None:
        """Computed files have no size to change; nothing happens."""
        self._check(self.writable)


def open_node(mount: Mount, node: Node, path: str, access: Access) -> OpenFile:
    """The open file that goes with this kind of node."""
    if isinstance(node, Regular):
        return RegularFile(mount, node, path, access)
    if isinstance(node, DeviceNode):
        node.device.open(path)
        return DeviceFile(mount, node, path, access)
    if isinstance(node, Computed):
        return ComputedFile(mount, node, path, access)
    if isinstance(node, Directory):
        return OpenFile(mount, node, path, access)
    raise FileError("ENXIO", path)
