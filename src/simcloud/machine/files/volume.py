"""A volume: one tree of inodes on a disk, with its space, its journal and its cheap copies.

The operations here are the ones a filesystem driver offers to the kernel: they take nodes, not
paths, and leave permissions and path rules to the view (``view``).

Space. Every block and inode is charged to the volume (its quota) and to the disk; the root
directory is free, so an empty volume uses nothing. ``clone`` freezes what the source holds: it
stays charged to the source until ``discard``, whoever deletes what, as the layers of an image
do. A clone is charged for what it makes and for whole files that it changes (copy-up, as
overlayfs does). Copying up mere metadata is charged but never refused, so that files can be
deleted on a full disk.

Durability, the model of ext4 with ordered data. Changes to names, owners and modes go into a
running transaction, which commits 5 seconds after its first change, or at a sync of anything on
the volume; ``power_loss`` takes an uncommitted one back as a whole. File data has a life of its
own (see ``content``): on the disk 30 seconds after the first change, or at a sync. So a file
written and not synced is gone, or empty, or old after a power loss; and renaming a file over
another first brings its data to the disk, so that the name always leads to one of the two.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, TypeVar

from simcloud.machine.files.content import MAX_FILE_BYTES, Content
from simcloud.machine.files.disk import BLOCK_BYTES, Disk
from simcloud.machine.files.errors import FileError
from simcloud.machine.files.nodes import Directory, Node, Regular
from simcloud.machine.files.table import InodeTable

COMMIT_S: Final = 5.0
"""A transaction of metadata commits after so long (ext4's ``commit`` option)."""

ROOT_INO: Final = 2
FIRST_FREE_INO: Final = 12
MAX_LINKS: Final = 65_000
DAY_S: Final = 86_400.0

N = TypeVar("N", bound=Node)


class Volume:
    """An inode tree on a disk. ``clock`` gives unix seconds."""

    directory_blocks = 1
    """Space that a directory takes: none where directories are in memory."""

    def __init__(
        self,
        disk: Disk,
        clock: Callable[[], float],
        name: str = "",
        quota_bytes: int | None = None,
        read_only: bool = False,
    ) -> None:
        self.disk = disk
        self.clock = clock
        self.name = name
        self.quota_bytes = quota_bytes
        self.read_only = read_only
        self.used_bytes = 0
        self.inodes_used = 0
        self._next_ino = FIRST_FREE_INO
        self._reset()

    def _reset(self) -> None:
        self._table = InodeTable()
        self._holds: dict[int, int] = {}
        self._orphans: dict[int, None] = {}
        self._journal: dict[int, Node | None] = {}
        self._journal_since = 0.0
        self._frozen_bytes = 0
        self._frozen_inodes = 0
        root = Directory(0o755)
        root.ino = root.parent = ROOT_INO
        root.atime = root.mtime = root.ctime = self.clock()
        self._table.add(root)

    # -- finding nodes -------------------------------------------------------------------------

    @property
    def root(self) -> Directory:
        """The top directory."""
        return self._directory(ROOT_INO)

    def _directory(self, ino: int) -> Directory:
        node = self._table.get(ino)
        if not isinstance(node, Directory):
            raise FileError("ESTALE")
        return node

    def current(self, node: N) -> N:
        """The present state of a node got earlier; ESTALE if it is gone."""
        if node.home is self._table.own:
            return node
        found = self._table.get(node.ino)
        if type(found) is not type(node):
            raise FileError("ESTALE")
        return found

    def parent(self, directory: Directory) -> Directory:
        """Where ``..`` leads; the root is its own parent."""
        return self._directory(directory.parent)

    def child(self, directory: Directory, name: str) -> Node | None:
        """What that name stands for."""
        ino = directory.entries.get(name)
        return None if ino is None else self._table.get(ino)

    def names(self, directory: Directory) -> list[str]:
        """All names, in no order that matters."""
        return list(directory.entries)

    # -- space ---------------------------------------------------------------------------------

    @property
    def free_bytes(self) -> int:
        """What can still be written: what the quota and the disk both leave."""
        free = self.disk.free_bytes
        return free if self.quota_bytes is None else max(0, min(free, self.quota_bytes - self.used_bytes))

    def _require(self, blocks: int, inodes: int) -> None:
        if inodes > self.disk.inodes - self.disk.inodes_used or blocks * BLOCK_BYTES > self.free_bytes:
            raise FileError("ENOSPC")

    def _charge(self, blocks: int, inodes: int) -> None:
        self.used_bytes += blocks * BLOCK_BYTES
        self.inodes_used += inodes
        self.disk.occupy(blocks * BLOCK_BYTES, inodes)
        if blocks > 0:
            self.disk.written_bytes += blocks * BLOCK_BYTES

    def _cost(self, node: Node) -> tuple[int, int]:
        """Blocks and inodes that a node of this volume's own is charged with."""
        if node.ino == ROOT_INO:
            return 0, 0
        if isinstance(node, Regular) and node.content.home is not self._table.own:
            return 0, 1
        return self._blocks(node), 1

    def _blocks(self, node: Node) -> int:
        return self.directory_blocks if isinstance(node, Directory) else node.blocks

    # -- altering metadata ---------------------------------------------------------------------

    def change(self, node: N) -> N:
        """The node to alter: one of our own, with its old state noted in the running transaction."""
        mine = self._adopt(node)
        self._note(mine.ino, mine)
        return mine

    def _adopt(self, node: N) -> N:
        node = self.current(node)
        if node.home is self._table.own:
            return node
        copy = node.copy()
        self._table.add(copy)
        self._charge(*self._cost(copy))
        return copy

    def _note(self, ino: int, old: Node | None) -> None:
        now = self.clock()
        if not self._journal or now - self._journal_since >= COMMIT_S:
            self._journal = {}
            self._journal_since = now
        if ino not in self._journal:
            self._journal[ino] = None if old is None else old.copy()

    def create(self, directory: Directory, name: str, node: Node) -> None:
        """Enter a new node under a name that is free."""
        self._require(self._blocks(node), 1)
        directory = self.change(directory)
        node.ino = self._next_ino
        self._next_ino += 1
        node.atime = node.mtime = node.ctime = self.clock()
        self._note(node.ino, None)
        self._table.add(node)
        if isinstance(node, Regular):
            node.content.home = self._table.own
        elif isinstance(node, Directory):
            node.parent = directory.ino
            directory.nlink += 1
        self._charge(self._blocks(node), 1)
        directory.entries[name] = node.ino
        directory.mtime = directory.ctime = node.ctime

    def link(self, directory: Directory, name: str, node: Node) -> None:
        """Enter a node under one more name."""
        directory, node = self.change(directory), self.change(node)
        directory.entries[name] = node.ino
        node.nlink += 1
        directory.mtime = directory.ctime = node.ctime = self.clock()

    def remove(self, directory: Directory, name: str, node: Node) -> None:
        """Take a name away, and the node with it when that was its last name and nobody holds it."""
        directory = self.change(directory)
        del directory.entries[name]
        directory.mtime = directory.ctime = self.clock()
        if isinstance(node, Directory):
            directory.nlink -= 1
        node = self.current(node)
        self._note(node.ino, node)
        last = node.nlink == 1 or isinstance(node, Directory)
        if last and not self._holds.get(node.ino):
            self._free(node)
            return
        node = self.change(node)
        node.nlink = 0 if last else node.nlink - 1
        node.ctime = directory.ctime
        if last:
            self._orphans[node.ino] = None

    def move(self, source: Directory, old: str, target: Directory, new: str, node: Node) -> None:
        """Give a node another name, in place of whatever has that name."""
        victim = self.child(target, new)
        if victim is not None:
            if isinstance(node, Regular):
                node.content.settle()
            self.remove(target, new, victim)
        source, target, node = self.change(source), self.change(target), self.change(node)
        del source.entries[old]
        target.entries[new] = node.ino
        if isinstance(node, Directory):
            source.nlink -= 1
            target.nlink += 1
            node.parent = target.ino
        now = self.clock()
        source.mtime = source.ctime = target.mtime = target.ctime = node.ctime = now

    def hold(self, node: Node) -> None:
        """Keep a node even when its last name goes, until ``release``."""
        self._holds[node.ino] = self._holds.get(node.ino, 0) + 1

    def release(self, node: Node) -> None:
        """End one ``hold``; a node without names goes with the last."""
        count = self._holds.pop(node.ino, 1) - 1
        if count:
            self._holds[node.ino] = count
        elif node.ino in self._orphans:
            del self._orphans[node.ino]
            self._free(self.current(node))

    def _free(self, node: Node) -> None:
        if node.home is self._table.own:
            blocks, inodes = self._cost(node)
            self._charge(-blocks, -inodes)
            node.home = None
        self._table.drop(node.ino)

    def date_back(self, seconds: float) -> None:
        """Let everything that was made or altered here be older."""
        for node in self._table.own_nodes():
            for name in ("atime", "mtime", "ctime"):
                setattr(node, name, getattr(node, name) - seconds)

    # -- data ----------------------------------------------------------------------------------

    def read(self, node: Regular, position: int, count: int) -> bytes:
        """Up to ``count`` bytes from there."""
        self.touch_atime(node)
        return node.content.read(position, count)

    def touch_atime(self, node: Node) -> None:
        """Set the access time as ``relatime`` does; not of nodes shared with other volumes."""
        if node.home is self._table.own and not self.read_only:
            now = self.clock()
            if node.atime <= node.mtime or node.atime <= node.ctime or now - node.atime >= DAY_S:
                node.atime = now

    def write(self, node: Regular, position: int, data: bytes) -> int:
        """Write the bytes that fit and return their number; raises ENOSPC if none fits."""
        if not data:
            return 0
        now = self.clock()
        content = node.content
        if content.home is not self._table.own or not content.extend(position, data, now, node.mtime):
            if position >= MAX_FILE_BYTES:
                raise FileError("EFBIG")
            node, content = self._adopt_data(node, must_fit=True)
            wanted = min(len(data), MAX_FILE_BYTES - position)
            count, added = content.plan(position, wanted, self.free_bytes // BLOCK_BYTES)
            if count == 0:
                raise FileError("ENOSPC")
            data = data[:count]
            content.write(position, data, added, now, node.mtime)
            self._charge(added, 0)
        node.mtime = node.ctime = now
        return len(data)

    def resize(self, node: Regular, size: int) -> None:
        """Cut a file, or let it grow by a hole."""
        now = self.clock()
        node, content = self._adopt_data(node, must_fit=size > 0)
        before = content.allocated
        content.truncate(size, now, node.mtime)
        self._charge(content.allocated - before, 0)
        node.mtime = node.ctime = now

    def reserve(self, node: Regular, size: int) -> None:
        """Occupy the space of a file of that size without writing it (fallocate)."""
        if size > MAX_FILE_BYTES:
            raise FileError("EFBIG")
        node, content = self._adopt_data(node, must_fit=True)
        added = content.missing(size)
        self._require(added, 0)
        now = self.clock()
        content.reserve(size, now, node.mtime)
        self._charge(added, 0)
        node.mtime = node.ctime = now

    def append_later(self, node: Regular, size: int, make: Callable[[], bytes]) -> None:
        """Append bytes of that size that are made when the file is first read."""
        node, content = self._adopt_data(node, must_fit=True)
        added = content.missing(content.size + size)
        self._require(added, 0)
        now = self.clock()
        content.append_later(size, make, now, node.mtime)
        self._charge(added, 0)
        node.mtime = node.ctime = now

    def _adopt_data(self, node: Regular, must_fit: bool) -> tuple[Regular, Content]:
        node = self._adopt(node)
        own = self._table.own
        if node.content.home is not own:
            if must_fit:
                self._require(node.content.allocated, 0)
            node.content = node.content.copy(own)
            self._charge(node.content.allocated, 0)
        return node, node.content

    # -- durability and copies -----------------------------------------------------------------

    def sync(self, node: Node | None = None) -> None:
        """Bring one file's data, or all, to the disk, and commit the running transaction."""
        for each in self._table.own_nodes() if node is None else (self.current(node),):
            if isinstance(each, Regular) and each.content.home is self._table.own:
                each.content.settle()
        self._journal = {}

    def power_loss(self) -> None:
        """Go back to what is on the disk now. Files open before are stale afterwards."""
        now = self.clock()
        if now - self._journal_since < COMMIT_S:
            for ino, old in self._journal.items():
                if old is None:
                    self._table.drop(ino)
                else:
                    self._table.add(old)
        for ino in self._orphans:
            node = self._table.get(ino)
            if node is not None and node.nlink == 0:
                self._table.drop(ino)
        self._journal, self._orphans, self._holds = {}, {}, {}
        before = self._table.own
        self._table.rehome()
        blocks, inodes = self._frozen_bytes // BLOCK_BYTES, self._frozen_inodes
        for node in self._table.own_nodes():
            if isinstance(node, Regular) and node.content.home is before:
                node.mtime = node.content.revert(now, node.mtime)
                node.content.home = self._table.own
            cost = self._cost(node)
            blocks, inodes = blocks + cost[0], inodes + cost[1]
        self._charge(blocks - self.used_bytes // BLOCK_BYTES, inodes - self.inodes_used)

    def clone(
        self,
        name: str = "",
        disk: Disk | None = None,
        quota_bytes: int | None = None,
        clock: Callable[[], float] | None = None,
    ) -> Volume:
        """A writable copy that shares all content; whatever either changes, the other never sees.

        What changed since the last clone is synced first; apart from that the cost does not depend
        on the size of the volume.
        """
        self.sync()
        copy = Volume(disk or self.disk, clock or self.clock, name or self.name, quota_bytes)
        copy._table = self._table.split()
        copy._next_ino = self._next_ino
        self._frozen_bytes, self._frozen_inodes = self.used_bytes, self.inodes_used
        return copy

    def discard(self) -> None:
        """Delete everything and give its space back to the disk."""
        self._charge(-(self.used_bytes // BLOCK_BYTES), -self.inodes_used)
        self._reset()
