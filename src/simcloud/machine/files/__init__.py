"""The virtual filesystem: disks, volumes on them, and the files that a process sees.

A ``Disk`` is physics (space, faults, speed), a ``Volume`` an inode tree on it, ``Files`` a process's
view of the volumes mounted in its world. All of it is plain state in memory and virtual time.
"""

from simcloud.machine.files.disk import (
    BLOCK_BYTES as BLOCK_BYTES,
    BYTES_PER_INODE as BYTES_PER_INODE,
    FIRST_SECTOR as FIRST_SECTOR,
    SECTOR_BYTES as SECTOR_BYTES,
    Disk as Disk,
)
from simcloud.machine.files.errors import SENTENCES as SENTENCES, FileError as FileError
from simcloud.machine.files.memory import (
    DEV_BYTES as DEV_BYTES,
    BlockDevice as BlockDevice,
    CharacterDevice as CharacterDevice,
    device_volume as device_volume,
    tmpfs as tmpfs,
)
from simcloud.machine.files.mounts import Mount as Mount, Space as Space
from simcloud.machine.files.nodes import (
    Device as Device,
    DeviceNode as DeviceNode,
    Directory as Directory,
    Fifo as Fifo,
    Regular as Regular,
    Stat as Stat,
    Symlink as Symlink,
)
from simcloud.machine.files.openfile import (
    SEEK_CUR as SEEK_CUR,
    SEEK_END as SEEK_END,
    SEEK_SET as SEEK_SET,
    OpenFile as OpenFile,
)
from simcloud.machine.files.tree import tree_volume as tree_volume, update_tree as update_tree
from simcloud.machine.files.view import Files as Files
from simcloud.machine.files.virtual import (
    GraftedVolume as GraftedVolume,
    VirtualDirectory as VirtualDirectory,
    VirtualEntry as VirtualEntry,
    VirtualFile as VirtualFile,
    VirtualLink as VirtualLink,
    VirtualVolume as VirtualVolume,
    lazy_directory as lazy_directory,
    virtual_directory as virtual_directory,
)
from simcloud.machine.files.volume import Volume as Volume
