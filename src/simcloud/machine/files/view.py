"""A process's view of the filesystem: paths, permissions and the rules of the system calls.

``Files`` has its own working directory, user and umask, and shares its mount table with every view forked from it.
Each method is one system call, or a few that always go together, and raises ``FileError`` with the code that Linux
gives for the same reason, in the same order of checks. No method waits or uses the host's files.
"""

from __future__ import annotations

import stat as bits
from copy import copy

from simcloud.machine.files.content import Content
from simcloud.machine.files.entries import Namer
from simcloud.machine.files.errors import FileError
from simcloud.machine.files.mounts import Mount, MountTable, Space
from simcloud.machine.files.nodes import Directory, Node, Regular
from simcloud.machine.files.openfile import Access, Life, OpenFile, open_node
from simcloud.machine.files.paths import EXECUTE, WRITE, Follow
from simcloud.machine.files.virtual import GraftedVolume, VirtualDirectory
from simcloud.machine.files.volume import Volume


class Files(Namer):
    """The files that a process sees, and all that it can do to them."""

    def __init__(self, root: Volume, cwd: str = "/", uid: int = 0, gid: int = 0, umask: int = 0o022) -> None:
        super().__init__(MountTable(root), cwd, uid, gid, ())
        self.umask = umask

    def fork(self) -> Files:
        """A child process's view: the same mounts; working directory, user and umask go their own ways."""
        child = copy(self)
        child.life = Life()
        return child

    def revoke(self) -> None:
        """The process is dead: nothing works through this view any more, nor what it alone has open."""
        self.life.end()

    def chdir(self, path: str) -> None:
        """Make a directory the working directory; ``cwd`` is then its real path."""
        _, node = self.find(path)
        if not isinstance(node, Directory):
            raise FileError("ENOTDIR", path)
        self.need(node, EXECUTE, path)
        self.cwd = self.realpath(path)

    # -- content -------------------------------------------------------------------------------

    def open(
        self,
        path: str,
        read: bool = True,
        write: bool = False,
        *,
        create: bool = False,
        truncate: bool = False,
        append: bool = False,
        exclusive: bool = False,
        mode: int = 0o666,
    ) -> OpenFile:
        """Open what is at a path. Fifos are not opened here (ENXIO): see ``fifo``."""
        write = write or append
        access = Access(read, write, append)
        follow = (Follow.NEVER if exclusive else Follow.WITHOUT_SLASH) if create else Follow.ALWAYS
        spot = self.resolve(path, follow)
        if create and spot.slash and spot.name:
            raise FileError("EISDIR", path)
        if create and spot.node is None:
            spot.check_name(path)
            node: Node = Regular(Content(None), mode & ~self.umask & 0o7777)
            self._create(spot, node, path)
            return self._open_node(spot.mount, node, path, access)
        if create and exclusive:
            raise FileError("EEXIST", path)
        mount, node = self.visible_at(spot, path)
        if isinstance(node, Directory) and (create or write or truncate):
            raise FileError("EISDIR", path)
        self._check_open(mount, node, read, write or truncate, path)
        if truncate and isinstance(node, Regular):
            mount.volume.resize(node, 0)
        return self._open_node(mount, node, path, access)

    def _open_node(self, mount: Mount, node: Node, path: str, access: Access) -> OpenFile:
        file = open_node(mount, node, self.absolute(path), access)
        file.life = self.life
        file.life.files[file] = None
        return file

    def read(self, path: str) -> bytes:
        """The whole content of a file."""
        file = self.open(path)
        try:
            return file.read()
        finally:
            file.close()

    def write(self, path: str, data: bytes, append: bool = False, mode: int = 0o666) -> None:
        """Replace the content of a file, or add to it; the file is made if it does not exist."""
        file = self.open(
            path, read=False, write=True, create=True, truncate=not append, append=append, mode=mode
        )
        try:
            file.write_all(data)
        finally:
            file.close()

    def append(self, path: str, data: bytes) -> None:
        """Add to the end of a file. For frequent appends, an open file is faster."""
        self.write(path, data, append=True)

    def put(self, path: str, data: bytes, mode: int = 0o644) -> None:
        """Write a file with exactly this mode, and make the directories above it if need be."""
        try:
            file = self.open(path, read=False, write=True, create=True, truncate=True)
        except FileError:  # as a rule, because the directory does not exist
            self.mkdir(self.absolute(path).rpartition("/")[0] or "/", parents=True)
            file = self.open(path, read=False, write=True, create=True, truncate=True)
        try:
            file.write_all(data)
        finally:
            file.close()
        self.chmod(path, mode)

    def truncate(self, path: str, size: int) -> None:
        """Cut a file, or let it grow by a hole."""
        self._resize(path, size, keep=False)

    def allocate(self, path: str, size: int) -> None:
        """Occupy the space of a file of that size without writing it (fallocate)."""
        self._resize(path, size, keep=True)

    def _resize(self, path: str, size: int, keep: bool) -> None:
        mount, node = self.find(path)
        if isinstance(node, Directory):
            raise FileError("EISDIR", path)
        if size < 0 or not isinstance(node, Regular):
            raise FileError("EINVAL", path)
        self._check_open(mount, node, False, True, path)
        try:
            if keep:
                mount.volume.reserve(node, size)
            else:
                mount.volume.resize(node, size)
        except FileError as error:
            error.path = path
            raise

    def sync(self, path: str | None = None) -> None:
        """Bring one file, or everything, to the disk."""
        if path is None:
            for mount in self.table.mounts:
                if mount.volume.disk.fail_writes is not True:
                    mount.volume.sync()
            return
        mount, node = self.find(path)
        mount.volume.disk.check_flush(self.absolute(path))
        mount.volume.sync(node)

    def power_loss(self) -> None:
        """All volumes seen here go back to what is on their disks."""
        for mount in self.table.mounts:
            mount.volume.power_loss()

    # -- attributes ----------------------------------------------------------------------------

    def chmod(self, path: str, mode: int) -> None:
        """Set the permission bits, as their owner or as root."""
        mount, node = self.find_mine(path)
        if self.uid and node.gid != self.gid and node.gid not in self.groups:
            mode &= ~bits.S_ISGID
        node = mount.volume.change(node)
        node.mode = bits.S_IFMT(node.mode) | mode & 0o7777
        node.ctime = mount.volume.clock()

    def chown(self, path: str, uid: int, gid: int, follow: bool = True) -> None:
        """Set user and group; -1 leaves one as it is. The owner may choose among own groups only."""
        mount, node = self.find(path, follow)
        self.check_writable(mount, path)
        own_group = gid in (-1, node.gid, self.gid) or gid in self.groups
        if self.uid and (uid not in (-1, node.uid) or self.uid != node.uid or not own_group):
            raise FileError("EPERM", path)
        node = mount.volume.change(node)
        node.uid = node.uid if uid == -1 else uid
        node.gid = node.gid if gid == -1 else gid
        if not isinstance(node, Directory):
            node.mode &= ~bits.S_ISUID & ~(bits.S_ISGID if node.mode & 0o010 else 0)
        node.ctime = mount.volume.clock()

    def utime(
        self, path: str, atime: float | None = None, mtime: float | None = None, follow: bool = True
    ) -> None:
        """Set the times of access and change; None means now. Both now needs write permission only."""
        mount, node = self.find(path, follow)
        self.check_writable(mount, path)
        if self.uid not in (0, node.uid):
            if atime is not None or mtime is not None:
                raise FileError("EPERM", path)
            self.need(node, WRITE, path)
        node = mount.volume.change(node)
        now = mount.volume.clock()
        node.atime = now if atime is None else atime
        node.mtime = now if mtime is None else mtime
        node.ctime = now

    # -- mounts --------------------------------------------------------------------------------

    def mount(
        self,
        path: str,
        volume: Volume,
        read_only: bool = False,
        *,
        source: str = "",
        fstype: str = "ext4",
        subpath: str = "",
        options: str = "",
    ) -> Mount:
        """Let a volume, or what is at ``subpath`` in it, be seen at a path that exists."""
        top = Files(volume).find(subpath)[1] if subpath else volume.root
        mount = self.table.attach(self.find(path), self.realpath(path), volume, top)
        mount.read_only, mount.source, mount.fstype = read_only, source or volume.name, fstype
        mount.options = options
        return mount

    def unmount(self, path: str) -> None:
        """Take away what is mounted at a path; EINVAL if nothing is, EBUSY while it is in use."""
        mount, node = self.find(path)
        if node.ino != mount.top.ino:
            raise FileError("EINVAL", path)
        self.table.detach(mount)

    def graft(self, path: str, root: VirtualDirectory) -> None:
        """Let a computed tree stand at a path, made if need be, as if its files were on the disk there."""
        self.mkdir(path, 0o755, parents=True)
        over = self.find(path)[0]
        created = over.volume.clock()
        mount = self.mount(path, GraftedVolume(path, root, over.volume.clock, over.volume.disk, created))
        mount.grafted, mount.dev = True, over.dev

    def grafts_on(self, volume: Volume) -> dict[int, Mount]:
        """The computed trees that stand in a volume, by the directory they cover."""
        points: dict[int, Mount] = {}
        for mount in self.table.mounts:
            if mount.grafted and mount.place is not None and mount.place[0].volume is volume:
                points[mount.place[1].ino] = mount
        return points

    def mounts(self) -> list[Mount]:
        """All mounts, in the order they were made."""
        return list(self.table.find_all([mount for mount in self.table.mounts if not mount.grafted]))

    def space(self, path: str = "/") -> Space:
        """The space of the mount that a path is on."""
        return self.find(path)[0].space()
