"""Making, moving and taking away names: directories, links, fifos, and the rules of who may."""

from __future__ import annotations

import stat as bits

from simcloud.machine.files.errors import FileError
from simcloud.machine.files.mounts import Mount
from simcloud.machine.files.nodes import Computed, Directory, Fifo, Node, Regular, Symlink
from simcloud.machine.files.paths import READ, WRITE, Follow, Spot, check_path
from simcloud.machine.files.queries import Looker
from simcloud.machine.files.volume import MAX_LINKS


class Namer(Looker):
    """The part of ``Files`` that gives names and takes them away."""

    umask: int

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
        node = spot.require_node(path)
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
        node = spot.require_node(path)
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
        node, victim = old.require_node(source), new.node
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

    def _check_open(self, mount: Mount, node: Node, read: bool, write: bool, path: str) -> None:
        if write and isinstance(node, Regular | Computed):
            self.check_writable(mount, path)
        self.need(node, (READ if read else 0) | (WRITE if write else 0), path)
