"""The files of a data folder that hold no documents: metadata, preallocated journal files, diagnostic data, the lock."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Final

from simcloud.datastores.mongodb.encoding import encode
from simcloud.datastores.mongodb.options import BadOptions, parse_options
from simcloud.datastores.mongodb.storage.errors import CannotOpen
from simcloud.datastores.mongodb.storage.records import pack_file, pack_row
from simcloud.machine.files import FileError
from simcloud.machine.process import Context

LOCK: Final = "mongod.lock"
JOURNAL: Final = "journal/WiredTigerLog.0000000001"
PREALLOCATED: Final = ("journal/WiredTigerPreplog.0000000001", "journal/WiredTigerPreplog.0000000002")
JOURNAL_FILE_BYTES: Final = 100 * 1024 * 1024
DIAGNOSTICS: Final = "diagnostic.data"
DIAGNOSTICS_BYTES: Final = 10 * 1024 * 1024
INTERIM: Final = "metrics.interim"
INTERIM_BYTES: Final = 97
SAMPLE_BYTES: Final = 24.5
"""Size of the diagnostic data of one second, in the interim file and compressed in the others."""

TURTLE: Final = "WiredTiger.turtle"
METADATA: Final = "WiredTiger.wt"
SIZES: Final = "sizeStorer.wt"
RELEASE: Final = "WiredTiger 10.0.1: (April 12, 2021)"
_TABLE: Final = (
    "access_pattern_hint=none,allocation_size=4KB,app_metadata=(formatVersion=1),assert=(commit_timestamp=none,"
    "durable_timestamp=none,read_timestamp=none,write_timestamp=off),block_allocation=best,block_compressor=snappy,"
    "cache_resident=false,checksum=on,collator=,columns=,dictionary=0,encryption=(keyid=,name=),format=btree,"
    "huffman_key=,huffman_value=,id={id},ignore_in_memory_cache_size=false,internal_item_max=0,internal_key_max=0,"
    "internal_key_truncate=true,internal_page_max=4KB,key_format=q,key_gap=10,leaf_item_max=0,leaf_key_max=0,"
    "leaf_page_max=32KB,leaf_value_max=64MB,log=(enabled=true),memory_page_image_max=0,memory_page_max=10m,"
    "os_cache_dirty_max=0,os_cache_max=0,prefix_compression=false,prefix_compression_min=4,readonly=false,"
    "split_deepen_min_child=0,split_deepen_per_child=0,split_pct=90,tiered_object=false,value_format=u,verbose=[],"
    'version=(major=1,minor=1),write_timestamp_usage=none,checkpoint=(WiredTigerCheckpoint.{order}=(addr="{address}",'
    "order={order},time={time},size={size},newest_start_durable_ts=0,oldest_start_ts=0,newest_txn=0,"
    "newest_stop_durable_ts=0,newest_stop_ts=-1,newest_stop_txn=-11,prepare=0,write_gen={order})),checkpoint_lsn=({lsn})"
)

SESSIONS: Final = "config.system.sessions"
SESSIONS_INDEX: Final = {"v": 2, "key": {"lastUse": 1}, "name": "lsidTTLIndex", "expireAfterSeconds": 1800}
VERSION_DOCUMENT: Final = {"_id": "featureCompatibilityVersion", "version": "4.4"}

FIRST_FILES: Final[dict[str, bytes]] = {
    "WiredTiger": f"WiredTiger\n{RELEASE}\n".encode(),
    "WiredTiger.lock": b"WiredTiger lock file\n",
    METADATA: pack_file(0, ()),
    "WiredTigerHS.wt": pack_file(0, ()),
    SIZES: pack_file(0, ()),
    "storage.bson": encode(
        {
            "storage": {
                "engine": "wiredTiger",
                "options": {"directoryPerDB": False, "directoryForIndexes": False, "groupCollections": False},
            }
        }
    ),
    JOURNAL: b"",
}


def describe_table(id: int, order: int, time_s: float, size_bytes: int, lsn: tuple[int, int]) -> str:
    """Return the configuration of a table at its checkpoint number ``order``, as WiredTiger's metadata has it."""
    address = f"018{order % 16:x}81e4{size_bytes & 0xFFFFFF:06x}{id:02x}808080e3{order:06x}e3{size_bytes & 0xFFFF:04x}"
    return _TABLE.format(
        id=id, order=order, address=address, time=int(time_s), size=size_bytes, lsn=f"{lsn[0]},{lsn[1]}"
    )


def format_turtle(metadata: str) -> bytes:
    """Return the file that says where WiredTiger's metadata begins."""
    return (
        f"WiredTiger version string\n{RELEASE}\nWiredTiger version\nmajor=10,minor=0,patch=1\nfile:{METADATA}\n{metadata}\n"
    ).encode()


def pack_metadata(idents: Iterable[str], order: int, time_s: float, journal_bytes: int) -> bytes:
    """Return WiredTiger's own table: two rows for each table of the folder."""
    rows = []
    for number, ident in enumerate(idents, 2):
        table = describe_table(number, order, time_s, 4096 * number, (1, journal_bytes))
        rows += [
            pack_row(2 * number, f"file:{ident}.wt\0{table}".encode()),
            pack_row(2 * number + 1, f"table:{ident}\0{table}".encode()),
        ]
    return pack_file(order, rows)


def preallocate_journal(ctx: Context, folder: str) -> None:
    """Extend the journal to its full size and occupy the space of the next ones, if the disk has room."""
    files = ctx.files
    try:
        files.truncate(f"{folder}/{JOURNAL}", JOURNAL_FILE_BYTES)
        for name in PREALLOCATED:
            path = f"{folder}/{name}"
            if not files.exists(path) and files.space(folder).free_bytes > 4 * JOURNAL_FILE_BYTES:
                files.write(path, b"", mode=0o600)
                files.allocate(path, JOURNAL_FILE_BYTES)
    except FileError:
        pass  # the journal grows when it is written to


def write_diagnostics(ctx: Context, folder: str, seconds: int) -> None:
    """Write the diagnostic data of the last seconds; after five minutes it moves to the newest file."""
    files, data = ctx.files, f"{folder}/{DIAGNOSTICS}"
    random = ctx.random("mongod diagnostics")
    try:
        if not files.is_dir(data):
            files.mkdir(data, 0o700)
        if not seconds:
            files.write(_name_diagnostics(data, ctx.now), random.randbytes(3_480), mode=0o600)
        count = seconds % 300
        if seconds and not count:
            files.append(_find_newest(ctx, data), random.randbytes(int(300 * SAMPLE_BYTES)))
        interim = f"{data}/{INTERIM}"
        files.write(f"{interim}.temp", random.randbytes(2_800 + count * INTERIM_BYTES), mode=0o600)
        files.rename(f"{interim}.temp", interim)
    except FileError:
        pass  # mongod only warns about its diagnostic data


def date_diagnostics(ctx: Context, folder: str) -> None:
    """Date the diagnostic data of the last seconds, which has been replaced."""
    try:
        for path in (f"{folder}/{DIAGNOSTICS}/{INTERIM}", f"{folder}/{DIAGNOSTICS}"):
            ctx.files.utime(path)
    except FileError:
        pass  # as above


def add_diagnostics(ctx: Context, folder: str, seconds: float) -> None:
    """Occupy the space of the diagnostic data of skipped time; a file has at most ten megabytes."""
    files, data = ctx.files, f"{folder}/{DIAGNOSTICS}"
    rate = SAMPLE_BYTES * ctx.random("mongod diagnostics").uniform(0.9, 1.2)
    left = int(seconds * rate)
    try:
        while left > 0:
            path = _find_newest(ctx, data)
            size = min(DIAGNOSTICS_BYTES, files.stat(path).size + left)
            left -= size - files.stat(path).size
            time_s = ctx.now - left / rate
            files.allocate(path, size)
            files.utime(path, time_s, time_s)
            if left:
                files.write(_name_diagnostics(data, time_s), b"", mode=0o600)
    except FileError:
        pass  # a full disk has no room for it


def _name_diagnostics(data: str, time_s: float) -> str:
    return f"{data}/metrics.{datetime.fromtimestamp(int(time_s), UTC):%Y-%m-%dT%H-%M-%SZ}-00000"


def _find_newest(ctx: Context, data: str) -> str:
    return f"{data}/{max(name for name in ctx.files.listdir(data) if not name.startswith(INTERIM))}"


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
