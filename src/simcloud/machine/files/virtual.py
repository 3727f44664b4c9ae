"""Filesystems that are computed when they are read, such as /proc.

A tree of entries describes one: files whose content is the result of a function, links whose target is the result of
a function, directories that list and find their entries. Such a filesystem stores no data, so entries cannot be
created or removed; a directory may differ between two reads.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TypeVar
from zlib import crc32

from simcloud.machine.files.disk import Disk
from simcloud.machine.files.errors import FileError
from simcloud.machine.files.nodes import Computed, Directory, Node, Symlink
from simcloud.machine.files.volume import ROOT_INO, Volume

N = TypeVar("N", bound=Node)


@dataclass(frozen=True, slots=True)
class VirtualFile:
    """A file made by ``content`` when read; what is written to it goes to ``write`` (EIO if None)."""

    content: Callable[[], bytes]
    write: Callable[[bytes], None] | None = None
    mode: int = 0o444
    uid: int = 0
    gid: int = 0


@dataclass(frozen=True, slots=True)
class VirtualLink:
    """A symbolic link whose target is computed."""

    target: Callable[[], str]


@dataclass(frozen=True, slots=True)
class VirtualDirectory:
    """A directory whose names are computed, and each entry when it is asked for."""

    names: Callable[[], Iterable[str]]
    find: Callable[[str], VirtualEntry | None]
    mode: int = 0o555
    uid: int = 0
    gid: int = 0


VirtualEntry = VirtualFile | VirtualLink | VirtualDirectory


def virtual_directory(entries: Mapping[str, VirtualEntry], mode: int = 0o555) -> VirtualDirectory:
    """A directory with these entries; the mapping may change later, or be computed itself."""
    return VirtualDirectory(lambda: entries, entries.get, mode)


class _Directory(Directory):
    """A directory node that remembers what it was made from and where it was found."""

    __slots__ = ("entry", "up")

    def __init__(self, entry: VirtualDirectory, up: _Directory | None) -> None:
        super().__init__(entry.mode, entry.uid, entry.gid)
        self.entry = entry
        self.up = up

    @property
    def size(self) -> int:
        """Always 0: a virtual directory occupies no space."""
        return 0

    @property
    def blocks(self) -> int:
        """Always 0: a virtual directory occupies no space."""
        return 0


class VirtualVolume(Volume):
    """A volume whose tree is described by a ``VirtualDirectory``."""

    def __init__(self, root: VirtualDirectory, clock: Callable[[], float], name: str = "proc") -> None:
        super().__init__(Disk(name, 0, 0), clock, name)
        self._root = self._stamp(_Directory(root, None), ROOT_INO)

    def _stamp(self, node: N, ino: int) -> N:
        node.ino = ino
        node.atime = node.mtime = node.ctime = self.clock()
        return node

    @property
    def root(self) -> Directory:
        """The top directory."""
        return self._root

    def current(self, node: N) -> N:
        """A computed node is what it was when it was looked up."""
        return node

    def parent(self, directory: Directory) -> Directory:
        """Where ``..`` leads."""
        assert isinstance(directory, _Directory)
        return directory.up or directory

    def child(self, directory: Directory, name: str) -> Node | None:
        """What that name stands for at this moment. Its number follows from its path."""
        assert isinstance(directory, _Directory)
        entry = directory.entry.find(name)
        if entry is None:
            return None
        ino = crc32(f"{directory.ino}/{name}".encode("utf-8", "surrogateescape"))
        if isinstance(entry, VirtualDirectory):
            return self._stamp(_Directory(entry, directory), ino)
        if isinstance(entry, VirtualLink):
            return self._stamp(Symlink(entry.target()), ino)
        node = self._stamp(Computed(entry.content, entry.write, entry.mode), ino)
        node.uid, node.gid = entry.uid, entry.gid
        return node

    def names(self, directory: Directory) -> list[str]:
        """The names at this moment."""
        assert isinstance(directory, _Directory)
        return list(directory.entry.names())

    def change(self, node: N) -> N:
        """Refused: there is nothing to alter."""
        raise FileError("EPERM")

    def create(self, directory: Directory, name: str, node: Node) -> None:
        """Refused: no new names can be made here."""
        raise FileError("ENOENT")

    def remove(self, directory: Directory, name: str, node: Node) -> None:
        """Refused: names go when what they stand for does."""
        raise FileError("EPERM")

    def link(self, directory: Directory, name: str, node: Node) -> None:
        """Refused."""
        raise FileError("EPERM")

    def move(self, source: Directory, old: str, target: Directory, new: str, node: Node) -> None:
        """Refused."""
        raise FileError("EPERM")

    def hold(self, node: Node) -> None:
        """Do nothing: nodes are computed."""

    def release(self, node: Node) -> None:
        """Do nothing: nodes are computed."""

    def sync(self, node: Node | None = None) -> None:
        """Do nothing: no data is stored."""

    def power_loss(self) -> None:
        """Do nothing: no data is stored."""
