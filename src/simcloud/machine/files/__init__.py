"""The virtual filesystem: disks, volumes on them, and the files that a process sees.

A ``Disk`` is physics (space, faults, speed), a ``Volume`` an inode tree on it, ``Files`` a process's
view of the volumes mounted in its world. All of it is plain state in memory and virtual time.
"""

from simcloud.machine.files.disk import BLOCK_BYTES, Disk
from simcloud.machine.files.errors import FileError
from simcloud.machine.files.memory import device_volume, tmpfs
from simcloud.machine.files.mounts import Mount, Space
from simcloud.machine.files.nodes import Device, DeviceNode, Fifo, Stat
from simcloud.machine.files.openfile import SEEK_CUR, SEEK_END, SEEK_SET, OpenFile
from simcloud.machine.files.tree import tree_volume, update_tree
from simcloud.machine.files.view import Files
from simcloud.machine.files.virtual import (
    VirtualDirectory,
    VirtualEntry,
    VirtualFile,
    VirtualLink,
    VirtualVolume,
    virtual_directory,
)
from simcloud.machine.files.volume import Volume

__all__ = [
    "BLOCK_BYTES",
    "SEEK_CUR",
    "SEEK_END",
    "SEEK_SET",
    "Device",
    "DeviceNode",
    "Disk",
    "Fifo",
    "FileError",
    "Files",
    "Mount",
    "OpenFile",
    "Space",
    "Stat",
    "VirtualDirectory",
    "VirtualEntry",
    "VirtualFile",
    "VirtualLink",
    "VirtualVolume",
    "Volume",
    "device_volume",
    "tmpfs",
    "tree_volume",
    "update_tree",
    "virtual_directory",
]
