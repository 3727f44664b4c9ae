"""The files of a new data folder, and its lock file."""

from __future__ import annotations

from typing import Final

from simcloud.datastores.mongodb.options import BadOptions, parse_options
from simcloud.datastores.mongodb.storage.errors import CannotOpen
from simcloud.datastores.mongodb.storage.records import pack_file
from simcloud.machine.files import FileError
from simcloud.machine.process import Context

LOCK: Final = "mongod.lock"
JOURNAL: Final = "journal/WiredTigerLog.0000000001"

TURTLE: Final = "WiredTiger.turtle"

FIRST_FILES: Final[dict[str, bytes]] = {
    "WiredTiger": b"WiredTiger\nWiredTiger 10.0.1: (April 12, 2021)\n",
    "WiredTiger.lock": b"WiredTiger lock file\n",
    TURTLE: b"WiredTiger version string\nWiredTiger 10.0.1: (April 12, 2021)\n"
    b"WiredTiger version\nmajor=10,minor=0,patch=1\nfile:WiredTiger.wt\n",
    "WiredTiger.wt": pack_file(0, ()),
    "WiredTigerHS.wt": pack_file(0, ()),
    "sizeStorer.wt": pack_file(0, ()),
    "storage.bson": b"",
    JOURNAL: b"",
    "diagnostic.data/metrics.interim": b"",
}


def take_lock(ctx: Context, folder: str) -> bool:
    """Become the one mongod of this folder; True when the last one did not stop cleanly."""
    files, path = ctx.files, f"{folder}/{LOCK}"
    if not files.is_dir(folder):
        raise CannotOpen(
            "NonExistentPath",
            f"Data directory {folder} not found. Create the missing directory or specify another path using "
            "(1) the --dbpath command line option, or (2) by adding the 'storage.dbPath' option in the "
            "configuration file.",
        )
    try:
        unclean = False
        if files.exists(path):
            holder = files.read(path).strip()
            unclean = bool(holder)
            if holder and _is_held(ctx, path):
                raise CannotOpen(
                    "DBPathInUse",
                    f"Unable to lock the lock file: {path} (Resource temporarily unavailable). "
                    f"Another mongod instance is already running on the {folder} directory",
                )
        files.write(path, f"{ctx.process.pid}\n".encode(), mode=0o600)
    except FileError as error:
        if error.code == "EROFS":
            raise CannotOpen(
                "IllegalOperation", f"Attempted to create a lock file on a read-only directory: {folder}"
            ) from None
        raise CannotOpen(
            "IllegalOperation",
            f"Unable to create/open the lock file: {path} ({error}). Ensure the user executing mongod is the owner "
            "of the lock file and has the appropriate permissions. Also make sure that another mongod instance is "
            f"not already running on the {folder} directory",
        ) from None
    return unclean


def release_lock(ctx: Context, folder: str) -> None:
    """Leave the folder, cleanly."""
    path = f"{folder}/{LOCK}"
    try:
        ctx.files.truncate(path, 0)
    except FileError:
        pass  # the disk went away: the lock dies with the process


def _is_held(ctx: Context, path: str) -> bool:
    """Return whether another living mongod of this machine has this very file as its lock.

    The lock of the genuine one is the operating system's and ends with the process that took it; so it is
    found here by asking the processes, not by what the file says.
    """
    mount, node = ctx.files.find(path)
    for other in ctx.machine.processes.values():
        if other is ctx.process or other.name != "mongod" or not other.alive:
            continue
        try:
            their_folder = parse_options(other.argv[1:], other.files).db_path
            their_mount, their_node = other.files.find(f"{their_folder.rstrip('/')}/{LOCK}")
        except (FileError, BadOptions):
            continue
        if their_mount.volume is mount.volume and their_node.ino == node.ino:
            return True
    return False
