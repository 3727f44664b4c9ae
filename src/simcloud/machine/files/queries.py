"""What a process can find out about files without changing any."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from simcloud.machine.files.errors import FileError
from simcloud.machine.files.nodes import Directory, Regular, Stat, Symlink
from simcloud.machine.files.paths import EXECUTE, READ, WRITE, Follow, Walker, name_bytes

WANTED = {"r": READ, "w": WRITE, "x": EXECUTE}
EMPTY_BYTES: Final = 40
NAME_BYTES: Final = 20
"""The size of a directory in a tmpfs, and of each of its names."""


class Looker(Walker):
    """The part of ``Files`` that only looks."""

    def stat(self, path: str, follow: bool = True) -> Stat:
        """What is at a path (or what the link itself is, if not to be followed)."""
        mount, node = self.find(path, follow)
        found = node.stat(mount.dev)
        if isinstance(node, Directory):
            if mount.fstype == "overlay":
                return found._replace(nlink=1)  # it does not count the links of directories
            if mount.fstype == "tmpfs":
                return found._replace(size=EMPTY_BYTES + NAME_BYTES * len(node.entries), blocks=0)
        return found

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
        mount.volume.touch_atime(node)
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
        mount.volume.touch_atime(node)
        return node.target

    def realpath(self, path: str) -> str:
        """The absolute path without links and dots; everything on it must exist."""
        trail: list[str] = []
        self.visible_at(self.resolve(path, Follow.ALWAYS, trail), path)
        return "/" + "/".join(trail)
