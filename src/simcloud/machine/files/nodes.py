"""Inodes: what a name in a directory stands for, and ``Stat``, what the outside sees of one.

A node belongs to one state of one volume, its ``home``; only there may it be altered. Anybody else
who wants to alter it takes a copy first (see ``table``).
"""

from __future__ import annotations

import stat as bits
from collections.abc import Callable
from typing import ClassVar, NamedTuple, Protocol, Self

from simcloud.machine.files.content import Content
from simcloud.machine.files.disk import BLOCK_BYTES

FAST_LINK_BYTES = 60
"""A symbolic link shorter than this is kept in its inode and occupies no block."""


class Stat(NamedTuple):
    """What stat(2) tells. Times are unix seconds, ``blocks`` counts 512 bytes each."""

    mode: int
    uid: int
    gid: int
    size: int
    mtime: float
    atime: float
    ctime: float
    ino: int
    nlink: int
    dev: int
    blocks: int
    rdev: int = 0

    @property
    def is_dir(self) -> bool:
        """It is a directory."""
        return bits.S_ISDIR(self.mode)

    @property
    def is_file(self) -> bool:
        """It is a regular file."""
        return bits.S_ISREG(self.mode)

    @property
    def is_link(self) -> bool:
        """It is a symbolic link."""
        return bits.S_ISLNK(self.mode)

    @property
    def is_fifo(self) -> bool:
        """It is a named pipe."""
        return bits.S_ISFIFO(self.mode)

    @property
    def is_device(self) -> bool:
        """It is a character or block device."""
        return bits.S_ISCHR(self.mode) or bits.S_ISBLK(self.mode)


class Node:
    """What all inodes have. ``mode`` includes the type."""

    __slots__ = ("atime", "ctime", "gid", "home", "ino", "mode", "mtime", "nlink", "uid")
    kind: ClassVar[str]
    type_bits: ClassVar[int]
    all_slots: ClassVar[list[str]]
    """The names of all attributes."""

    def __init_subclass__(cls) -> None:
        cls.all_slots = [name for each in cls.__mro__ for name in each.__dict__.get("__slots__", ())]

    def __init__(self, permissions: int, uid: int = 0, gid: int = 0) -> None:
        self.home: object = None
        self.ino = 0
        self.mode = self.type_bits | permissions & 0o7777
        self.uid = uid
        self.gid = gid
        self.nlink = 1
        self.atime = self.mtime = self.ctime = 0.0

    @property
    def size(self) -> int:
        """Bytes, as ls shows them."""
        return 0

    @property
    def blocks(self) -> int:
        """Blocks of 4096 bytes that it occupies."""
        return 0

    @property
    def rdev(self) -> int:
        """Which device a device node stands for."""
        return 0

    def copy(self) -> Self:
        """The same node for another home."""
        other = self.__class__.__new__(self.__class__)
        for name in self.all_slots:  # several times faster than the general ``copy``
            setattr(other, name, getattr(self, name))
        return other

    def stat(self, dev: int) -> Stat:
        """This node as stat(2) would show it on a device of that number."""
        blocks = self.blocks * (BLOCK_BYTES // 512)
        return Stat(
            self.mode, self.uid, self.gid, self.size, self.mtime, self.atime, self.ctime,
            self.ino, self.nlink, dev, blocks, self.rdev,
        )  # fmt: skip


class Regular(Node):
    """A regular file."""

    __slots__ = ("content",)
    kind = "file"
    type_bits = bits.S_IFREG

    def __init__(self, content: Content, permissions: int, uid: int = 0, gid: int = 0) -> None:
        super().__init__(permissions, uid, gid)
        self.content = content

    @property
    def size(self) -> int:
        """Bytes, holes included."""
        return self.content.size

    @property
    def blocks(self) -> int:
        """Blocks in use, holes excluded."""
        return self.content.allocated


class Directory(Node):
    """Names and the inode numbers they stand for; ``parent`` is where ``..`` leads."""

    __slots__ = ("entries", "parent")
    kind = "directory"
    type_bits = bits.S_IFDIR

    def __init__(self, permissions: int, uid: int = 0, gid: int = 0) -> None:
        super().__init__(permissions, uid, gid)
        self.entries: dict[str, int] = {}
        self.parent = 0
        self.nlink = 2

    @property
    def size(self) -> int:
        """One block, however many entries."""
        return BLOCK_BYTES

    @property
    def blocks(self) -> int:
        """One block, however many entries."""
        return 1

    def copy(self) -> Self:
        """The same directory for another home, with entries of its own."""
        other = super().copy()
        other.entries = self.entries.copy()
        return other


class Symlink(Node):
    """A symbolic link."""

    __slots__ = ("target",)
    kind = "link"
    type_bits = bits.S_IFLNK

    def __init__(self, target: str, uid: int = 0, gid: int = 0) -> None:
        super().__init__(0o777, uid, gid)
        self.target = target

    @property
    def size(self) -> int:
        """The length of the target in bytes."""
        return len(self.target.encode("utf-8", "surrogateescape"))

    @property
    def blocks(self) -> int:
        """None, unless the target is too long for the inode."""
        return 0 if self.size < FAST_LINK_BYTES else 1


class Fifo(Node):
    """A named pipe. ``pipe`` is for whoever lets processes meet here; a copy starts without one."""

    __slots__ = ("pipe",)
    kind = "fifo"
    type_bits = bits.S_IFIFO

    def __init__(self, permissions: int, uid: int = 0, gid: int = 0) -> None:
        super().__init__(permissions, uid, gid)
        self.pipe: object | None = None

    def copy(self) -> Self:
        """The same fifo for another home, where nobody has met yet."""
        other = super().copy()
        other.pipe = None
        return other


class Device(Protocol):
    """What stands behind a character device."""

    rdev: int

    def open(self, path: str) -> None:
        """Somebody opens it by that path; raise ``FileError`` to refuse."""

    def read(self, count: int) -> bytes:
        """Up to ``count`` bytes (never negative); b"" is the end."""

    def write(self, data: bytes) -> int:
        """Take bytes; returns how many."""


class DeviceNode(Node):
    """A character device."""

    __slots__ = ("device",)
    kind = "device"
    type_bits = bits.S_IFCHR

    def __init__(self, device: Device, permissions: int, uid: int = 0, gid: int = 0) -> None:
        super().__init__(permissions, uid, gid)
        self.device = device

    @property
    def rdev(self) -> int:
        """Major and minor number."""
        return self.device.rdev


class BlockNode(DeviceNode):
    """A block device."""

    __slots__ = ()
    type_bits = bits.S_IFBLK


class Computed(Node):
    """A regular file whose bytes are made when it is read, as those under /proc.

    ``length`` is the size it shows: 0 under /proc; a function for files that look like those of a disk.
    """

    __slots__ = ("accept", "length", "render")
    kind = "file"
    type_bits = bits.S_IFREG

    def __init__(
        self,
        render: Callable[[], bytes],
        accept: Callable[[bytes], None] | None,
        permissions: int,
        length: Callable[[], int] | None = None,
    ) -> None:
        super().__init__(permissions)
        self.render = render
        self.accept = accept
        self.length = length

    @property
    def size(self) -> int:
        """Bytes, as ls shows them."""
        return 0 if self.length is None else self.length()

    @property
    def blocks(self) -> int:
        """Blocks of 4096 bytes that it seems to occupy."""
        return -(-self.size // BLOCK_BYTES)
