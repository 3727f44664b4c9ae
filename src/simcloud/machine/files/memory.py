"""Filesystems in memory: tmpfs, and the character devices of /dev on one."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from random import Random
from typing import Final

from simcloud.machine.files.content import MAX_READ_BYTES
from simcloud.machine.files.disk import BLOCK_BYTES, Disk
from simcloud.machine.files.errors import FileError
from simcloud.machine.files.nodes import BlockNode, Device, DeviceNode, Directory, Symlink
from simcloud.machine.files.volume import Volume

DEV_BYTES: Final = 1 << 26
"""The size container runtimes give the tmpfs on /dev."""

MACHINE_DEVICES: Final = 386
"""Terminals, buses and other devices of a machine that are not modelled one by one."""

MAX_RANDOM_BYTES: Final = (1 << 25) - 1
"""One read of /dev/urandom gives at most so much."""


class MemoryVolume(Volume):
    """A volume that forgets everything when the power goes."""

    directory_blocks = 0

    def power_loss(self) -> None:
        """All is gone."""
        self.discard()


def tmpfs(size_bytes: int, clock: Callable[[], float], name: str = "tmpfs") -> Volume:
    """An empty filesystem in memory, writable by all as /tmp is."""
    volume = MemoryVolume(Disk(name, size_bytes, max(16, size_bytes // BLOCK_BYTES)), clock, name)
    volume.root.mode |= 0o1777
    return volume


class CharacterDevice:
    """A device that can always be opened. As it is, it swallows everything and holds nothing."""

    rdev = 0x103

    def open(self, path: str) -> None:
        """Always possible."""

    def read(self, count: int) -> bytes:
        """At its end from the start."""
        return b""

    def write(self, data: bytes) -> int:
        """Swallowed."""
        return len(data)


class Zero(CharacterDevice):
    """/dev/zero: zeros without end."""

    rdev = 0x105

    def read(self, count: int) -> bytes:
        """That many zeros."""
        return bytes(min(count, MAX_READ_BYTES))


class Full(Zero):
    """/dev/full: never has room."""

    rdev = 0x107

    def write(self, data: bytes) -> int:
        """Refused."""
        raise FileError("ENOSPC", "/dev/full")


class RandomBytes(CharacterDevice):
    """/dev/random and /dev/urandom: bytes from a stream of the world."""

    def __init__(self, rdev: int, get_random: Callable[[], Random]) -> None:
        self.rdev = rdev
        self._get_random = get_random

    def read(self, count: int) -> bytes:
        """That many bytes, up to 32 MiB."""
        return self._get_random().randbytes(min(count, MAX_RANDOM_BYTES))


class NoTerminal(CharacterDevice):
    """/dev/tty of a process that has no terminal."""

    rdev = 0x500

    def open(self, path: str) -> None:
        """Refused."""
        raise FileError("ENXIO", path)


SAME_EVERYWHERE: Final[Mapping[str, Device]] = {
    "full": Full(),
    "null": CharacterDevice(),
    "tty": NoTerminal(),
    "zero": Zero(),
}
"""Devices without a state."""


class DeviceVolume(MemoryVolume):
    """What is seen at /dev: the usual devices, links to the standard streams, room for shm."""

    def __init__(
        self,
        get_random: Callable[[], Random],
        clock: Callable[[], float],
        disks: Mapping[str, Device],
        size_bytes: int,
        kernel_messages: Device | None,
    ) -> None:
        super().__init__(Disk("devtmpfs", size_bytes, size_bytes // BLOCK_BYTES), clock, "devtmpfs")
        self._get_random = get_random
        self._disks = disks
        self._kernel_messages = kernel_messages
        if disks:
            self.disk.occupy(0, MACHINE_DEVICES)
        self._fill()

    def power_loss(self) -> None:
        """The next boot makes the devices anew."""
        self.discard()
        self._fill()

    def _fill(self) -> None:
        known: dict[str, Device] = {
            **SAME_EVERYWHERE,
            "random": RandomBytes(0x108, self._get_random),
            "urandom": RandomBytes(0x109, self._get_random),
        }
        for name, device in sorted(known.items()):
            self.create(self.root, name, DeviceNode(device, 0o666))
        if self._kernel_messages is not None:
            self.create(self.root, "kmsg", DeviceNode(self._kernel_messages, 0o644))
        for name, disk in self._disks.items():
            self.create(self.root, name, BlockNode(disk, 0o660, gid=6))
        for name, target in (("fd", ""), ("stdin", "/0"), ("stdout", "/1"), ("stderr", "/2")):
            self.create(self.root, name, Symlink(f"/proc/self/fd{target}"))
        for name, mode in (("mqueue", 0o1777), ("pts", 0o755), ("shm", 0o1777)):
            self.create(self.root, name, Directory(mode))


class BlockDevice(CharacterDevice):
    """A disk or a part of it, read from its beginning: what is on it cannot be seen there, but its faults can."""

    def __init__(self, rdev: int, disk: Disk) -> None:
        self.rdev = rdev
        self._disk = disk
        self._path = ""
        self._position = 0

    def open(self, path: str) -> None:
        """Start at the beginning."""
        self._path, self._position = path, 0

    def read(self, count: int) -> bytes:
        """The next bytes; EIO where the disk cannot be read."""
        self._disk.check_read(self._path)
        data = bytes(min(count, MAX_READ_BYTES, max(0, self._disk.capacity_bytes - self._position)))
        self._position += len(data)
        return data

    def write(self, data: bytes) -> int:
        """Refused: the file system is in use."""
        raise FileError("EBUSY", self._path)


def device_volume(
    get_random: Callable[[], Random],
    clock: Callable[[], float],
    disks: Mapping[str, Device] | None = None,
    size_bytes: int = DEV_BYTES,
    kernel_messages: Device | None = None,
) -> Volume:
    """A volume for /dev; /dev/random and /dev/urandom draw from a stream that few containers need. Only a machine has ``kernel_messages``."""
    return DeviceVolume(get_random, clock, disks or {}, size_bytes, kernel_messages)
