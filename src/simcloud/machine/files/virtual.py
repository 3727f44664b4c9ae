"""Filesystems that are computed when they are read, such as /proc.

A tree of entries describes one: files whose content is the result of a function, links whose target is the result of
a function, directories that list and find their entries. Such a filesystem stores no data, so entries cannot be
created or removed; a directory may differ between two reads.
"""

from __future__ import annotations

import stat as bits
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TypeVar
from zlib import crc32

from msgspec import Struct

from simcloud.machine.files.content import Content
from simcloud.machine.files.disk import Disk
from simcloud.machine.files.errors import FileError
from simcloud.machine.files.nodes import Computed, Directory, Node, Regular, Stat, Symlink
from simcloud.machine.files.volume import ROOT_INO, Volume

N = TypeVar("N", bound=Node)


class VirtualFile(Struct, frozen=True):
    """A file made by ``content`` when read; what is written to it goes to ``write`` (EIO if None).

    Without a ``size``, a file of a grafted tree is as long as its content. ``time_s`` is when it was last changed.
    """

    content: Callable[[], bytes]
    write: Callable[[bytes], None] | None = None
    mode: int = 0o444
    uid: int = 0
    gid: int = 0
    size: int | None = None
    socket: bool = False
    time_s: float | None = None


class VirtualLink(Struct, frozen=True):
    """A symbolic link whose target is computed."""

    target: Callable[[], str]


class VirtualDirectory(Struct, frozen=True):
    """A directory whose names are computed, and each entry when it is asked for."""

    names: Callable[[], Iterable[str]]
    find: Callable[[str], VirtualEntry | None]
    mode: int = 0o555
    uid: int = 0
    gid: int = 0
    time_s: float | None = None
    dev: int = 0
    """The device that it is on, if not that of the directory above it."""


VirtualEntry = VirtualFile | VirtualLink | VirtualDirectory


def virtual_directory(
    entries: Mapping[str, VirtualEntry], mode: int = 0o555, time_s: float | None = None
) -> VirtualDirectory:
    """A directory with these entries; the mapping may change later, or be computed itself."""
    return VirtualDirectory(lambda: entries, entries.get, mode, time_s=time_s)


def lazy_directory(
    make: Callable[[], Mapping[str, VirtualEntry]], mode: int = 0o755, time_s: float | None = None
) -> VirtualDirectory:
    """A directory whose entries are computed at every look."""
    return VirtualDirectory(make, lambda name: make().get(name), mode, time_s=time_s)


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

    def _stamp(self, node: N, ino: int, time_s: float | None = None) -> N:
        node.ino = ino
        node.atime = node.mtime = node.ctime = self.clock() if time_s is None else time_s
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
            return self._stamp(self._make_directory(entry, directory), ino, entry.time_s)
        if isinstance(entry, VirtualLink):
            return self._stamp(Symlink(entry.target()), ino)
        node = self._stamp(Computed(entry.content, entry.write, entry.mode), ino, entry.time_s)
        node.uid, node.gid = entry.uid, entry.gid
        node.length = self._length_of(entry)
        if entry.socket:
            node.mode = bits.S_IFSOCK | entry.mode
        return node

    def _make_directory(self, entry: VirtualDirectory, up: _Directory) -> _Directory:
        return _Directory(entry, up)

    def _length_of(self, entry: VirtualFile) -> Callable[[], int] | None:
        return None

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


class _DiskDirectory(_Directory):
    """A virtual directory that seems to be on a disk: it has a link and a change for each directory in it."""

    size = Directory.size
    blocks = Directory.blocks

    def stat(self, dev: int) -> Stat:
        """This directory as stat(2) shows it."""
        listed = self.entry.names()
        found = listed.values() if isinstance(listed, Mapping) else map(self.entry.find, listed)
        below = [each for each in found if isinstance(each, VirtualDirectory)]
        changed_s = max([self.mtime, *(each.time_s for each in below if each.time_s is not None)])
        node = super().stat(self.entry.dev or dev)
        ino = 2**18 + self.ino % 2**21  # as a file system has them
        return node._replace(ino=ino, nlink=self.nlink + len(below), mtime=changed_s, ctime=changed_s)


def _has_same_bytes(node: Node | None, computed: Node | None) -> bool:
    return (
        isinstance(node, Regular)
        and isinstance(computed, Computed)
        and node.content.read(0, node.size) == computed.render()
    )


class GraftedVolume(VirtualVolume):
    """A computed tree that looks like a part of the file system it stands in: same disk, sizes as on a disk.

    It can be changed: files that are written, made or removed cover the computed ones.
    """

    def __init__(
        self, path: str, root: VirtualDirectory, clock: Callable[[], float], disk: Disk, created_s: float
    ) -> None:
        super().__init__(root, clock, "")
        self.disk = disk
        self._created_s = created_s
        self._root = self._stamp(_DiskDirectory(root, None), crc32(path.encode()))
        self._changes: dict[int, dict[str, Node | None]] = {}
        """By directory and name, what covers the computed entry; None where it was removed."""

    @property
    def is_changed(self) -> bool:
        """Whether files were written, made or removed."""
        return bool(self._changes)

    def child(self, directory: Directory, name: str) -> Node | None:
        """What that name stands for: what was written there, or what is computed."""
        changed = self._changes.get(directory.ino)
        if changed is not None and name in changed:
            return changed[name]
        node = super().child(directory, name)
        if node is not None and node.mtime == self.clock():  # the entry has no time of its own
            node.atime = node.mtime = node.ctime = self._created_s
        if isinstance(node, Computed) and node.accept is None:
            node.accept = lambda data: self._cover(directory, name, node, data)
        return node

    def list_changes(self) -> Iterator[tuple[str, str]]:
        """Yield the path of each file that was ``added``, ``changed`` or ``removed``; rewriting the same bytes is no change."""
        todo: list[tuple[str, Directory]] = [("", self._root)] if self._changes else []
        while todo:
            folder, directory = todo.pop()
            changed = self._changes.get(directory.ino, {})
            for name in dict.fromkeys((*super().names(directory), *changed)):
                path, computed = f"{folder}/{name}", super().child(directory, name)
                node = changed.get(name, computed)
                if isinstance(node, Directory):
                    todo.append((path, node))
                elif name in changed and not _has_same_bytes(node, computed):
                    yield path, "removed" if node is None else "added" if computed is None else "changed"

    def names(self, directory: Directory) -> list[str]:
        """The names at this moment."""
        changed = self._changes.get(directory.ino, {})
        computed = [name for name in super().names(directory) if name not in changed]
        return computed + [name for name, node in changed.items() if node is not None]

    def create(self, directory: Directory, name: str, node: Node) -> None:
        """Enter a new node."""
        assert isinstance(directory, _Directory)
        self._require(node.blocks, 1)
        if isinstance(node, Directory):
            owner = VirtualDirectory(tuple, lambda _name: None, node.mode & 0o7777, node.uid, node.gid)
            node = _DiskDirectory(owner, directory)
        elif isinstance(node, Regular):
            node.content.home = self._table.own
        self._charge(node.blocks, 1)
        self._enter(directory, name, self._stamp(node, crc32(f"{directory.ino}/{name}".encode())))

    def remove(self, directory: Directory, name: str, node: Node) -> None:
        """Take a name away."""
        self._enter(directory, name, None)

    def move(self, source: Directory, old: str, target: Directory, new: str, node: Node) -> None:
        """Give a node another name; a computed file is written out."""
        if isinstance(node, Computed):
            self._cover(target, new, node, node.render())
        else:
            self._enter(target, new, node)
        self._enter(source, old, None)

    def change(self, node: N) -> N:
        """The node to alter; what is computed stays as it is."""
        return node

    def _enter(self, directory: Directory, name: str, node: Node | None) -> None:
        self._changes.setdefault(directory.ino, {})[name] = node

    def _cover(self, directory: Directory, name: str, node: Computed, data: bytes) -> None:
        """Put a file with this content in the place of a computed one."""
        written = Regular(Content(self._table.own), node.mode & 0o7777, node.uid, node.gid)
        self._stamp(written, crc32(f"{directory.ino}/{name}".encode()), self.clock())
        self.write(written, 0, data)
        self._enter(directory, name, written)

    def _make_directory(self, entry: VirtualDirectory, up: _Directory) -> _Directory:
        return _DiskDirectory(entry, up)

    def _length_of(self, entry: VirtualFile) -> Callable[[], int]:
        return lambda: len(entry.content()) if entry.size is None else entry.size
