"""Directories and files of the machine itself, as hostPath and local volumes use them."""

from __future__ import annotations

from typing import Final

from simcloud.kubernetes.api.objects import Object
from simcloud.kubernetes.kubelet.volumes.errors import VolumeError
from simcloud.machine.computer import Machine
from simcloud.machine.files import FileError, Volume

_NOUNS: Final = {
    "Directory": "directory",
    "File": "file",
    "Socket": "socket file",
    "CharDevice": "character device",
    "BlockDevice": "block device",
}


def check_type(machine: Machine, source: Object, name: str) -> None:
    """Make sure that a hostPath is what it is said to be, or make it where that is asked for."""
    files, path, kind = machine.host.files, source["path"], source.get("type") or ""
    present = files.node_kind(path)
    if kind == "DirectoryOrCreate" or (not kind and present is None):
        if present is None:
            files.mkdir(path, 0o755, parents=True)
            files.sync()
        elif kind and not files.is_dir(path):
            raise VolumeError(name, f"hostPath type check failed: {path} is not a directory")
        return
    if kind == "FileOrCreate":
        if present is None:
            try:
                files.put(path, b"", 0o644)
            except FileError as error:
                raise VolumeError(name, f"open {path}: {error.strerror.lower()}") from None
        elif not files.is_file(path):
            raise VolumeError(name, f"hostPath type check failed: {path} is not a file")
        return
    right = {"Directory": files.is_dir(path), "File": files.is_file(path), "": True}.get(
        kind, present in ("socket", "device")
    )
    if not right:
        raise VolumeError(name, f"hostPath type check failed: {path} is not a {_NOUNS.get(kind, kind)}")


def place_of(machine: Machine, path: str) -> tuple[Volume, str]:
    """The volume of the machine that a path is on, and the path there."""
    files = machine.host.files
    real = files.realpath(path)
    mount, _ = files.find(path)
    inside = real.removeprefix(mount.path).strip("/") if mount.path != "/" else real.strip("/")
    return mount.volume, inside
