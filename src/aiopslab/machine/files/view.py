"""A process's view of the filesystem: paths, permissions and the rules of the system calls.

``Files`` has a working directory, a user and a umask of its own and shares its mount table with
every view forked from it. Each method is one system call, or a few that always go together, and
raises ``FileError`` with the code that Linux gives for the same reason and in the same order of
checks. Nothing waits; nothing reaches the host.
"""

from __future__ import annotations

import stat as bits
from collections.abc import Iterator
from copy import copy

from aiopslab.machine.files.content import Content
from aiopslab.machine.files.errors import FileError
from aiopslab.machine.files.mounts import Mount, MountTable, Space
from aiopslab.machine.files.nodes import Computed, Directory, Fifo, Node, Regular, Stat, Symlink
from aiopslab.machine.files.openfile import Access, Life, OpenFile, open_node
from aiopslab.machine.files.paths import (
    EXECUTE,
    READ,
    WRITE,
    Follow,
    Spot,
    Walker,
    check_path,
    name_bytes,
)
from aiopslab.machine.files.volume import MAX_LINKS, Volume

WANTED = {"r": READ, "w": WRITE, "x": EXECUTE}


class Files(Walker):
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
        self.life.over = True

    # -- looking -------------------------------------------------------------------------------

    def stat(self, path: str, follow: bool = True) -> Stat:
        """What is at a path (or what the link itself is, if not to be followed)."""
        mount, node = self.find(path, follow)
        return node.stat(mount.dev)

    def node_kind(self, path: str, follow: bool = True) -> str | None:
        """One of "file", "directory", "link", "fifo", "device"; None if nothing is to be seen there."""
        try:
            return self.find(path, follow)[1].kind
        except FileError:
            return None

    def exists(self, path: str) -> bool:
        """Whether a path leads to anything."""
        return self.node_kind(path) is not None

    def is_dir(self, path: str) -> bool:
        """Whether a path leads to a directory."""
        return self.node_kind(path) == "directory"

    def is_file(self, path: str) -> bool:
        """Whether a path leads to a regular file."""
        return self.node_kind(path) == "file"

    def is_fifo(self, path: str) -> bool:
        """Whether a path leads to a named pipe."""
        return self.node_kind(path) == "fifo"

    def access(self, path: str, wanted: str) -> bool:
        """Whether this user may read ("r"), write ("w") or execute ("x") it, or several of these."""
        try:
            mount, node = self.find(path)
        except FileError:
            return False
        if "w" in wanted and mount.frozen and isinstance(node, Regular | Directory):
            return False
        return all(self.may(node, WANTED[letter]) for letter in wanted)

    def listdir(self, path: str = ".") -> list[str]:
        """The names in a directory, sorted by their bytes."""
        mount, node = self.find(path)
        if not isinstance(node, Directory):
            raise FileError("ENOTDIR", path)
        self.need(node, READ, path)
        self.check_readable(mount, path)
        mount.volume.accessed(node)
        return sorted(mount.volume.names(node), key=name_bytes)

    def walk(self, path: str) -> Iterator[tuple[str, list[str], list[str]]]:
        """For a directory and all below it, top-down and sorted: its path, its directories, the rest."""
        todo = [path]
        while todo:
            where = todo.pop()
            start = where if where.endswith("/") else where + "/"
            below: list[str] = []
            rest: list[str] = []
            for name in self.listdir(where):
                kind = self.node_kind(start + name, follow=False)
                (below if kind == "directory" else rest).append(name)
            yield where, below, rest
            todo += [start + name for name in reversed(below)]

    def readlink(self, path: str) -> str:
        """The target of a symbolic link."""
        mount, node = self.find(path, follow=False)
        if not isinstance(node, Symlink):
            raise FileError("EINVAL", path)
        mount.volume.accessed(node)
        return node.target

    def realpath(self, path: str) -> str:
        """The absolute path without links and dots; everything on it must exist."""
        trail: list[str] = []
        self.seen(self.resolve(path, Follow.ALWAYS, trail), path)
        return "/" + "/".join(trail)

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
            return self._opened(spot.mount, node, path, access)
        if create and exclusive:
            raise FileError("EEXIST", path)
        mount, node = self.seen(spot, path)
        if isinstance(node, Directory) and (create or write or truncate):
            raise FileError("EISDIR", path)
        self._check_open(mount, node, read, write or truncate, path)
        if truncate and isinstance(node, Regular):
            mount.volume.resize(node, 0)
        return self._opened(mount, node, path, access)

    def _opened(self, mount: Mount, node: Node, path: str, access: Access) -> OpenFile:
        file = open_node(mount, node, self.absolute(path), access)
        file.life = self.life
        return file

    def _check_open(self, mount: Mount, node: Node, read: bool, write: bool, path: str) -> None:
        if write and isinstance(node, Regular | Computed):
            self.check_writable(mount, path)
        self.need(node, (READ if read else 0) | (WRITE if write else 0), path)

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
        """Add to the end of a file. Who appends often keeps it open instead: that is faster."""
        self.write(path, data, append=True)

    def put(self, path: str, data: bytes, mode: int = 0o644) -> None:
        """Write a file with exactly this mode, and make the directories above it if need be."""
        self.mkdir(self.absolute(path).rpartition("/")[0] or "/", parents=True)
        self.write(path, data)
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

    # -- names ---------------------------------------------------------------------------------

    def mkdir(self, path: str, mode: int = 0o777, parents: bool = False) -> None:
        """Make a directory; with ``parents`` also those above, and none of them need be new."""
        if parents:
            self._mkdir_parents(path, mode)
            return
        spot = self.free_spot(path, directory=True)
        self._create(spot, Directory(mode & ~self.umask & 0o1777), path)

    def _mkdir_parents(self, path: str, mode: int) -> None:
        check_path(path)
        if self.is_dir(path):
            return
        ends = [at for at, letter in enumerate(path) if letter == "/" and at > 0 and path[at - 1] != "/"]
        for end in [*ends, len(path)]:
            try:
                self.mkdir(path[:end], mode if end == len(path) else 0o777)
            except FileError as error:
                if error.code != "EEXIST":
                    raise
                if not self.is_dir(path[:end]):
                    raise FileError("EEXIST" if end == len(path) else "ENOTDIR", path[:end]) from None

    def mkfifo(self, path: str, mode: int = 0o666) -> None:
        """Make a named pipe."""
        self._create(self.free_spot(path), Fifo(mode & ~self.umask), path)

    def fifo(self, path: str, read: bool = False, write: bool = False) -> Fifo:
        """The named pipe at a path, for processes to meet at; ENXIO if that is not what is there."""
        mount, node = self.find(path)
        if not isinstance(node, Fifo):
            raise FileError("ENXIO", path)
        self._check_open(mount, node, read, write, path)
        return mount.volume.change(node)

    def symlink(self, target: str, path: str) -> None:
        """Make a symbolic link at ``path``."""
        check_path(target)
        self._create(self.free_spot(path), Symlink(target), path)

    def link(self, source: str, path: str) -> None:
        """Give a file one more name. A link is not followed; directories have one name only."""
        mount, node = self.find(source, follow=False)
        spot = self.free_spot(path)
        self.check_writable(spot.mount, path)
        if spot.mount is not mount:
            raise FileError("EXDEV", path)
        if self.uid not in (0, node.uid) and not self._is_safe_to_link(node):
            raise FileError("EPERM", path)
        self.need(spot.directory, WRITE, path)
        if isinstance(node, Directory):
            raise FileError("EPERM", path)
        if node.nlink >= MAX_LINKS:
            raise FileError("EMLINK", path)
        mount.volume.link(spot.directory, spot.name, node)

    def _is_safe_to_link(self, node: Node) -> bool:
        """Whether a stranger may link to it under ``fs.protected_hardlinks``, which Debian sets."""
        runs_as_owner = node.mode & bits.S_ISUID or node.mode & 0o2010 == 0o2010
        return isinstance(node, Regular) and not runs_as_owner and self.may(node, READ | WRITE)

    def remove(self, path: str) -> None:
        """Take the name of anything but a directory away (unlink)."""
        spot = self.resolve(path, Follow.NEVER)
        if not spot.name:
            raise FileError("EISDIR", path)
        self.check_writable(spot.mount, path)
        node = spot.found(path)
        if spot.slash:
            raise FileError("EISDIR" if isinstance(node, Directory) else "ENOTDIR", path)
        self.check_delete(spot, node, path)
        if isinstance(node, Directory):
            raise FileError("EISDIR", path)
        self.check_not_mounted(spot, path)
        spot.mount.volume.remove(spot.directory, spot.name, node)

    def rmdir(self, path: str) -> None:
        """Remove an empty directory."""
        spot = self.resolve(path, Follow.NEVER)
        if not spot.name:
            raise FileError({"..": "ENOTEMPTY", ".": "EINVAL", "/": "EBUSY"}[spot.dots], path)
        self.check_writable(spot.mount, path)
        node = spot.found(path)
        self.check_delete(spot, node, path)
        if not isinstance(node, Directory):
            raise FileError("ENOTDIR", path)
        self.check_not_mounted(spot, path)
        if spot.mount.volume.names(node):
            raise FileError("ENOTEMPTY", path)
        spot.mount.volume.remove(spot.directory, spot.name, node)

    def rename(self, source: str, target: str) -> None:
        """Give something another name, in place of whatever has it, at one stroke."""
        check_path(target)
        old, new = self.resolve(source, Follow.NEVER), self.resolve(target, Follow.NEVER)
        if old.mount is not new.mount:
            raise FileError("EXDEV", source)
        if not old.name or not new.name:
            raise FileError("EBUSY", source)
        self.check_writable(old.mount, source)
        node, victim = old.found(source), new.node
        new.check_name(target)
        if not isinstance(node, Directory) and (old.slash or new.slash):
            raise FileError("ENOTDIR", source)
        if self._is_above(old.mount, node, new.directory):
            raise FileError("EINVAL", source)
        if victim is not None and self._is_above(old.mount, victim, old.directory):
            raise FileError("ENOTEMPTY", source)
        if victim is not None and victim.ino == node.ino:
            return
        self._check_move(old, new, node, source)
        old.mount.volume.move(old.directory, old.name, new.directory, new.name, node)

    def _check_move(self, old: Spot, new: Spot, node: Node, path: str) -> None:
        victim = new.node
        is_directory = isinstance(node, Directory)
        self.check_delete(old, node, path)
        if victim is None:
            self.need(new.directory, WRITE, path)
        else:
            self.check_delete(new, victim, path)
            if is_directory is not isinstance(victim, Directory):
                raise FileError("ENOTDIR" if is_directory else "EISDIR", path)
        if is_directory and old.directory.ino != new.directory.ino:
            self.need(node, WRITE, path)
        self.check_not_mounted(old, path)
        self.check_not_mounted(new, path)
        if isinstance(victim, Directory) and old.mount.volume.names(victim):
            raise FileError("ENOTEMPTY", path)

    def _is_above(self, mount: Mount, node: Node, directory: Directory) -> bool:
        """Whether a directory lies in, or is, this node."""
        while directory.ino != node.ino:
            above = mount.volume.parent(directory)
            if above.ino == directory.ino:
                return False
            directory = above
        return True

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
    ) -> Mount:
        """Let a volume, or what is at ``subpath`` in it, be seen at a path that exists."""
        top = Files(volume).find(subpath)[1] if subpath else volume.root
        mount = self.table.attach(self.find(path), self.realpath(path), volume, top)
        mount.read_only, mount.source, mount.fstype = read_only, source or volume.name, fstype
        return mount

    def unmount(self, path: str) -> None:
        """Take away what is mounted at a path; EINVAL if nothing is, EBUSY while it is in use."""
        mount, node = self.find(path)
        if node.ino != mount.top.ino:
            raise FileError("EINVAL", path)
        self.table.detach(mount)

    def mounts(self) -> list[Mount]:
        """All mounts, in the order they were made."""
        return list(self.table.mounts)

    def space(self, path: str = "/") -> Space:
        """The space of the mount that a path is on."""
        return self.find(path)[0].space()

    def _create(self, spot: Spot, node: Node, path: str) -> None:
        self.check_writable(spot.mount, path)
        self.need(spot.directory, WRITE, path)
        node.uid, node.gid = self.uid, self.gid
        if spot.directory.mode & bits.S_ISGID:
            node.gid = spot.directory.gid
            if isinstance(node, Directory):
                node.mode |= bits.S_ISGID
        try:
            spot.mount.volume.create(spot.directory, spot.name, node)
        except FileError as error:
            error.path = path
            raise
