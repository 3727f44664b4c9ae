"""Which volume is seen where: the mount table that all processes of a machine or container share."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Final

from msgspec import Struct, field

from simcloud.machine.files.errors import FileError
from simcloud.machine.files.nodes import Directory, Node
from simcloud.machine.files.volume import ROOT_INO, Volume

FIRST_DEV: Final = 0x801
RESERVED_SHARE: Final = 20


class Space(Struct, frozen=True):
    """What df tells of a mount."""

    total_bytes: int
    used_bytes: int
    free_bytes: int
    inodes: int
    inodes_used: int
    fstype: str
    source: str
    mounted_on: str

    @property
    def available_bytes(self) -> int:
        """What users may still write: ext4 keeps a twentieth for root."""
        reserved = self.total_bytes // RESERVED_SHARE if self.fstype in ("ext4", "overlay") else 0
        return max(0, self.free_bytes - reserved)


class Mount(Struct, eq=False):
    """A volume, or a part of it, seen at a path. ``read_only`` may be changed (remount).

    A ``grafted`` one is not listed: it looks like a part of what it stands on.
    """

    path: str
    volume: Volume
    read_only: bool
    source: str
    fstype: str
    dev: int
    top: Node
    place: tuple[Mount, Node] | None = None
    points: dict[int, Mount] = field(default_factory=dict)
    open_files: int = 0
    options: str = ""
    """Of the file system, beside ``rw`` or ``ro`` and ``relatime``."""
    grafted: bool = False

    @property
    def is_remote(self) -> bool:
        """Whether a server has the files."""
        return self.fstype.startswith("nfs")

    def root(self) -> Node:
        """What is seen at the mount point itself."""
        return self.volume.root if self.top.ino == ROOT_INO else self.volume.current(self.top)

    def flags(self) -> str:
        """The options as mount shows them."""
        below = self.frozen if self.fstype != "overlay" else self.read_only or self.volume.read_only
        access = "ro" if below else "rw"
        return f"{access},{self.options}" if self.options else f"{access},relatime"

    @property
    def frozen(self) -> bool:
        """Whether the mount, the volume or the disk is read-only, or the journal on the disk is aborted."""
        disk = self.volume.disk
        return self.read_only or self.volume.read_only or disk.read_only or disk.journal_aborted

    def above(self, node: Node) -> tuple[Mount, Node]:
        """Where ``..`` leads from this directory; from the top, to what is above the mount point."""
        mount = self
        while node.ino == mount.top.ino and mount.place is not None:
            mount, point = mount.place
            node = mount.volume.current(point)
        return mount, mount.volume.parent(node) if isinstance(node, Directory) else node

    def topmost(self, node: Node) -> tuple[Mount, Node]:
        """What is seen in place of this node: the top of whatever is mounted over it, or itself."""
        mount = self
        while node.ino in mount.points:
            mount = mount.points[node.ino]
            node = mount.root()
        return mount, node

    def space(self) -> Space:
        """The space of the volume: its quota if it has one, else the whole disk it shares."""
        if self.grafted and self.place is not None:
            return self.place[0].space()
        volume, disk = self.volume, self.volume.disk
        limited = volume.quota_bytes is not None
        return Space(
            total_bytes=volume.quota_bytes if volume.quota_bytes is not None else disk.capacity_bytes,
            used_bytes=volume.used_bytes if limited else disk.used_bytes,
            free_bytes=volume.free_bytes,
            inodes=disk.inodes,
            inodes_used=disk.inodes_used,
            fstype=self.fstype,
            source=self.source,
            mounted_on=self.path,
        )


class MountTable:
    """All mounts, in the order they were made; the first is the root."""

    def __init__(self, root: Volume) -> None:
        self._numbered: list[Volume] = []
        self.root = Mount("/", root, False, "/dev/sda1", "ext4", self._number(root), root.root)
        self.mounts = [self.root]
        self.find_all: Callable[[list[Mount]], Iterable[Mount]] = list
        """Adds mounts that are listed but lead nowhere from here, such as the roots of a node's containers."""

    def _number(self, volume: Volume) -> int:
        for index, known in enumerate(self._numbered):
            if known is volume:
                return FIRST_DEV + index
        self._numbered.append(volume)
        return FIRST_DEV + len(self._numbered) - 1

    def attach(self, place: tuple[Mount, Node], path: str, volume: Volume, top: Node) -> Mount:
        """Cover a node by a volume's root or a part of it; both must be directories, or neither."""
        over, point = place
        if isinstance(point, Directory) is not isinstance(top, Directory):
            raise FileError("ENOTDIR", path)
        mount = Mount(path, volume, False, volume.name, "ext4", self._number(volume), top, place)
        volume.hold(top)
        over.points[point.ino] = mount
        self.mounts.append(mount)
        return mount

    def detach(self, mount: Mount) -> None:
        """Uncover what is below; EBUSY while files are open there or other mounts stand on it."""
        if mount.open_files or mount.points or mount.place is None:
            raise FileError("EBUSY", mount.path)
        over, point = mount.place
        del over.points[point.ino]
        self.mounts.remove(mount)
        mount.volume.release(mount.top)
