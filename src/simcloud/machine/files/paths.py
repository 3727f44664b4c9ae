"""From a path to a node: components, links, ``..``, mount points, and who may pass.

The rules are those of path_resolution(7). A walk ends at a ``Spot``: the directory and the last
name in it, whether or not something has that name yet. What to make of that is up to the
operation.
"""

from __future__ import annotations

import stat as bits
from enum import Enum
from typing import Final

from msgspec import Struct

from simcloud.machine.files.errors import FileError
from simcloud.machine.files.mounts import Mount, MountTable
from simcloud.machine.files.nodes import Directory, Node, Symlink
from simcloud.machine.files.openfile import Life

MAX_NAME_BYTES: Final = 255
MAX_PATH_BYTES: Final = 4096
MAX_LINKS_FOLLOWED: Final = 40

READ: Final = 4
WRITE: Final = 2
EXECUTE: Final = 1


class Follow(Enum):
    """Whether a symbolic link at the very end of a path is followed; a slash may come after it."""

    ALWAYS = 1
    WITH_SLASH = 2
    WITHOUT_SLASH = 3
    NEVER = 4


class Spot(Struct):
    """Where a path leads. ``name`` is empty if the path ends in ``.``, ``..`` or ``/``; then ``dots`` holds that end.

    ``node`` is what stands at that name in the directory itself, under anything mounted on it.
    """

    mount: Mount
    directory: Directory
    name: str
    node: Node | None
    dots: str
    slash: bool

    def check_name(self, path: str) -> None:
        """Raise ENAMETOOLONG if nothing can have that name."""
        if too_long(self.name):
            raise FileError("ENAMETOOLONG", path)

    def require_node(self, path: str) -> Node:
        """The node; ENOENT or ENAMETOOLONG if nothing has that name."""
        if self.node is None:
            self.check_name(path)
            raise FileError("ENOENT", path)
        return self.node


def name_bytes(text: str) -> bytes:
    """A name as bytes; text that stands for no bytes at all is an invalid argument."""
    try:
        return text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        raise FileError("EINVAL", text) from None


def too_long(name: str) -> bool:
    """Whether no file can have that name."""
    return len(name) > MAX_NAME_BYTES // 4 and len(name_bytes(name)) > MAX_NAME_BYTES


def check_path(path: str) -> None:
    """Raise what any system call raises for such a path, whatever exists."""
    if not path:
        raise FileError("ENOENT", path)
    if "\0" in path:
        raise FileError("EINVAL", path)
    if (len(path) >= MAX_PATH_BYTES // 4 or not path.isascii()) and len(name_bytes(path)) >= MAX_PATH_BYTES:
        raise FileError("ENAMETOOLONG", path)


def parts(path: str) -> list[str]:
    """The components of a path, the first one last, ready to be taken from the end."""
    return [name for name in path.split("/") if name][::-1]


class Walker:
    """Somebody (user, group, working directory) who follows paths in a mount table."""

    def __init__(self, table: MountTable, cwd: str, uid: int, gid: int, groups: tuple[int, ...]) -> None:
        self.table = table
        self.cwd = cwd
        self.uid = uid
        self.gid = gid
        self.groups = groups
        self.life = Life()

    def may(self, node: Node, wanted: int) -> bool:
        """Whether the mode bits allow it. Root may all, but execute only what somebody may execute."""
        mode = node.mode
        if self.uid == 0:
            return wanted != EXECUTE or isinstance(node, Directory) or mode & 0o111 != 0
        if node.uid == self.uid:
            return mode >> 6 & wanted == wanted
        if node.gid == self.gid or node.gid in self.groups:
            return mode >> 3 & wanted == wanted
        return mode & wanted == wanted

    def need(self, node: Node, wanted: int, path: str) -> None:
        """Raise EACCES unless the mode bits allow it."""
        if not self.may(node, wanted):
            raise FileError("EACCES", path)

    def resolve(self, path: str, follow: Follow, trail: list[str] | None = None) -> Spot:
        """Follow a path to its last name. A ``trail`` is filled with the real names on the way."""
        check_path(path)
        if self.life.over:
            raise FileError("EBADF", path)
        trail = [] if trail is None else trail
        mount = self.table.root
        node: Node = mount.root()
        todo = parts(path)
        if path[0] != "/":
            todo += parts(self.cwd)
        slash, dots, links = path[-1] == "/", "/", 0
        while todo:
            name = todo.pop()
            if not isinstance(node, Directory):
                raise FileError("ENOTDIR", path)
            if self.uid and not self.may(node, EXECUTE):
                raise FileError("EACCES", path)
            if name in (".", ".."):
                dots = name
                if name == "..":
                    del trail[-1:]
                    mount, node = mount.above(node)
                continue
            child = mount.volume.child(node, name)
            if isinstance(child, Symlink) and (
                todo or follow in (Follow.ALWAYS, Follow.WITH_SLASH if slash else Follow.WITHOUT_SLASH)
            ):
                links += 1
                if links > MAX_LINKS_FOLLOWED or not child.target:
                    raise FileError("ELOOP" if child.target else "ENOENT", path)
                slash = slash or (not todo and child.target[-1] == "/")
                dots = "."
                if child.target[0] == "/":
                    mount, dots = self.table.root, "/"
                    node = mount.root()
                    trail.clear()
                todo += parts(child.target)
                continue
            trail.append(name)
            if not todo:
                return Spot(mount, node, name, child, "", slash)
            if child is None:
                raise FileError("ENAMETOOLONG" if too_long(name) else "ENOENT", path)
            mount, node = mount.topmost(child) if child.ino in mount.points else (mount, child)
        if not isinstance(node, Directory):
            raise FileError("ENOTDIR", path)
        return Spot(mount, node, "", node, dots, slash)

    def find(self, path: str, follow: bool = True) -> tuple[Mount, Node]:
        """What a path leads to, mounts included; raises ENOENT if nothing is there."""
        spot = self.resolve(path, Follow.ALWAYS if follow else Follow.WITH_SLASH)
        return self.visible_at(spot, path)

    def visible_at(self, spot: Spot, path: str) -> tuple[Mount, Node]:
        """What is seen at a spot: the node there, or what is mounted over it."""
        mount, node = spot.mount, spot.require_node(path)
        if spot.name and node.ino in mount.points:
            mount, node = mount.topmost(node)
        if spot.slash and not isinstance(node, Directory):
            raise FileError("ENOTDIR", path)
        return mount, node

    def absolute(self, path: str) -> str:
        """The absolute path by text alone: dots are resolved, links are not looked at."""
        if path[:1] == "/" and "/." not in path and "//" not in path and path[-1] != "/":
            return path
        names: list[str] = []
        for name in (path if path.startswith("/") else f"{self.cwd}/{path}").split("/"):
            if name == "..":
                del names[-1:]
            elif name not in ("", "."):
                names.append(name)
        return "/" + "/".join(names)

    # -- checks --------------------------------------------------------------------------------

    def check_readable(self, mount: Mount, path: str) -> None:
        """Raise EIO if the disk below cannot read this path now."""
        if mount.volume.disk.fail_reads:
            mount.volume.disk.check_read(self.absolute(path))

    def check_writable(self, mount: Mount, path: str) -> None:
        """Raise EROFS or EIO if nothing can be changed at this path now."""
        if mount.frozen:
            raise FileError("EROFS", path)
        if mount.volume.disk.fail_writes:
            mount.volume.disk.check_write(self.absolute(path))

    def check_delete(self, spot: Spot, node: Node, path: str) -> None:
        """Raise EACCES or EPERM unless this user may take a name out of its directory."""
        self.need(spot.directory, WRITE, path)
        sticky = spot.directory.mode & bits.S_ISVTX
        if sticky and self.uid not in (0, node.uid, spot.directory.uid):
            raise FileError("EPERM", path)

    def check_not_mounted(self, spot: Spot, path: str) -> None:
        """Raise EBUSY if something is mounted over what is at this spot."""
        if spot.node is not None and spot.node.ino in spot.mount.points:
            raise FileError("EBUSY", path)

    def find_mine(self, path: str) -> tuple[Mount, Node]:
        """What a path leads to, if this user may change its attributes."""
        mount, node = self.find(path)
        self.check_writable(mount, path)
        if self.uid not in (0, node.uid):
            raise FileError("EPERM", path)
        return mount, node

    def free_spot(self, path: str, directory: bool = False) -> Spot:
        """Where a new name is to be; EEXIST if it is taken. Only directories may end in a slash."""
        spot = self.resolve(path, Follow.NEVER)
        if spot.node is not None:
            raise FileError("EEXIST", path)
        spot.check_name(path)
        if spot.slash and not directory:
            raise FileError("ENOENT", path)
        return spot
