"""The virtual filesystem: disks, volumes on them, and the files that a process sees.

A ``Disk`` is physics (space, faults, speed), a ``Volume`` an inode tree on it, ``Files`` a process's
view of the volumes mounted in its world. All of it is plain state in memory and virtual time.
"""

from aiopslab.machine.files.disk import BLOCK_BYTES, Disk
from aiopslab.machine.files.errors import FileError
from aiopslab.machine.files.memory import device_volume, tmpfs
from aiopslab.machine.files.mounts import Mount, Space
from aiopslab.machine.files.nodes import Device, DeviceNode, Fifo, Stat
from aiopslab.machine.files.openfile import SEEK_CUR, SEEK_END, SEEK_SET, OpenFile
from aiopslab.machine.files.tree import tree_volume, update_tree
from aiopslab.machine.files.view import Files
from aiopslab.machine.files.virtual import (
    VirtualDirectory,
    VirtualEntry,
    VirtualFile,
    VirtualLink,
    VirtualVolume,
    virtual_directory,
)
from aiopslab.machine.files.volume import Volume

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
