"""Commands on disks and their file systems: lsblk, blkid, findmnt, losetup, fsck, tune2fs and others.

A machine has one disk with one partition, which is its root file system. Containers see no devices.
"""

from __future__ import annotations

from collections.abc import Callable
from math import ceil
from time import asctime, gmtime
from typing import Final
from uuid import UUID

from simcloud.machine.files import FileError, Mount
from simcloud.machine.proc import (
    DEVICE,
    MODEL,
    PARTITION,
    device_bytes,
    file_system_id,
    measure_activity,
    partition_sectors,
)
from simcloud.machine.process import Context
from simcloud.userland.commands.file.tables import align_columns
from simcloud.userland.commands.options import Options, UsageError
from simcloud.userland.commands.text.tool import UTIL_LINUX, fail, tool

E2FSPROGS: Final = "1.47.0 (5-Feb-2023)"
NODES: Final = (f"/dev/{DEVICE}", f"/dev/{PARTITION}")
BLOCK_BYTES: Final = 4096
LSBLK_COLUMNS: Final = ("NAME", "MAJ:MIN", "RM", "SIZE", "RO", "TYPE", "MOUNTPOINTS")
FILE_SYSTEM_COLUMNS: Final = ("NAME", "FSTYPE", "FSVER", "LABEL", "UUID", "FSAVAIL", "FSUSE%", "MOUNTPOINTS")
RIGHT: Final = frozenset(
    {"RM", "SIZE", "RO", "FSAVAIL", "FSUSE%", "ROTA", "AVAIL", "USED", "USE%", "FSSIZE", "FSUSED"}
)
TUNE2FS_USAGE: Final = f"""\
tune2fs {E2FSPROGS}
Usage: tune2fs [-c max_mounts_count] [-e errors_behavior] [-f] [-g group]
	[-i interval[d|m|w]] [-j] [-J journal_options] [-l]
	[-m reserved_blocks_percent] [-o [^]mount_options[,...]]
	[-r reserved_blocks_count] [-u user] [-C mount_count]
	[-L volume_label] [-M last_mounted_dir]
	[-O [^]feature[,...]] [-Q quota_options]
	[-E extended-option[,...]] [-T last_check_time] [-U UUID]
	[-I new_inode_size] [-z undo_file] device"""
CHECKED: Final = """\
{path} contains a file system with errors, check forced.
Pass 1: Checking inodes, blocks, and sizes
Pass 2: Checking directory structure
Pass 3: Checking directory connectivity
Pass 4: Checking reference counts
Pass 5: Checking group summary information
Free blocks count wrong ({free}, counted={counted}).
Fix? no

Free inodes count wrong ({inodes}, counted={counted_inodes}).
Fix? no


{path}: {damage}

"""
"""What e2fsck finds in a file system that was in use when its journal was aborted."""
STILL_DAMAGED: Final = "********** WARNING: Filesystem still has errors **********"
UNREADABLE: Final = """\
{path} contains a file system with errors, check forced.
Pass 1: Checking inodes, blocks, and sizes
Pass 2: Checking directory structure
Error reading block {block} (Input/output error) while reading directory block.  Ignore error? no

Error reading directory block {block} (inode {inode}): Input/output error
Continue? no

"""
READ_BYTES_PER_S: Final = 410e6


def align(rows: list[list[str]], columns: tuple[str, ...], headings: bool = True, raw: bool = False) -> str:
    """A table as util-linux prints it; ``raw`` aligns nothing."""
    shown = [list(columns), *rows] if headings else rows
    lines = map(" ".join, shown) if raw else align_columns(shown, [column in RIGHT for column in columns])
    return "".join(f"{line}\n" for line in lines)


def format_size(size_bytes: float) -> str:
    """A size with at most one decimal: ``40G``, ``36.8G``."""
    unit = 0
    while size_bytes >= 1024 and unit < 4:
        size_bytes, unit = size_bytes / 1024, unit + 1
    return f"{size_bytes:.1f}".removesuffix(".0") + "BKMGT"[unit]


def _partition_id(ctx: Context) -> str:
    return str(UUID(int=UUID(file_system_id(ctx.machine)).int ^ (1 << 118) - 1))


def _sees_disk(ctx: Context) -> bool:
    return ctx.files.exists(NODES[0])


@tool(
    "lsblk",
    options="a,all b,bytes d,nodeps D,discard e,exclude= f,fs I,include= l,list m,perms n,noheadings o,output= O,output-all "
    "p,paths r,raw s,inverse S,scsi t,topology x,sort=",
    usage="[options] [<device> ...]",
    version=UTIL_LINUX,
)
async def lsblk(ctx: Context, options: Options) -> int:
    """List block devices."""
    known = _describe_disk(ctx, options)
    columns: tuple[str, ...] = FILE_SYSTEM_COLUMNS if options.any("f") else LSBLK_COLUMNS
    if options.any("o"):
        columns = tuple(options.last("o").upper().split(","))
    for column in columns:
        if column not in known[0]:
            fail(ctx, f"unknown column: {column.lower()}")
    wanted = [word.removeprefix("/dev/") for word in options.operands]
    for word in wanted:
        if word not in (DEVICE, PARTITION):
            fail(ctx, f"{word}: not a block device", 32)
    rows = [row for row in known if not wanted or row["KNAME"] in wanted or row["PKNAME"] in wanted]
    if options.any("d"):
        rows = [row for row in rows if row["TYPE"] == "disk" or row["KNAME"] in wanted]
    if not _sees_disk(ctx):
        rows = []
    plain = options.any("l", "r") or DEVICE not in [row["KNAME"] for row in rows]
    if plain:
        rows = [{**row, "NAME": row["KNAME"]} for row in rows]
    cells = [[row[column] for column in columns] for row in rows]
    await ctx.out(align(cells, columns, not options.any("n"), options.any("r")))
    return 0


def _describe_disk(ctx: Context, options: Options) -> list[dict[str, str]]:
    """The disk and its partition, with all that lsblk can tell of them."""
    machine = ctx.machine
    space = machine.host.files.space("/")
    places = [mount.path for mount in ctx.files.mounts() if mount.source == NODES[1]]
    read_only = str(int(machine.disk.read_only))

    def size(count: int) -> str:
        return str(count) if options.any("b") else format_size(count)

    common = {"RM": "0", "RO": read_only, "ROTA": "0", "OWNER": "root", "GROUP": "disk", "MODE": "brw-rw----", "SCHED": "none",
              "PHY-SEC": "512", "LOG-SEC": "512", "STATE": "", "VENDOR": "", "MODEL": "", "SERIAL": "", "TRAN": "",
              "HCTL": "", "REV": "", "WWN": "", "LABEL": "", "PARTLABEL": "", "DISC-GRAN": "512B", "DISC-MAX": "1G"}  # fmt: skip
    empty = dict.fromkeys(("FSTYPE", "FSVER", "UUID", "FSAVAIL", "FSUSE%", "FSUSED", "FSSIZE", "MOUNTPOINT", "MOUNTPOINTS",
                           "PARTUUID"), "")  # fmt: skip
    whole = {**common, **empty, "NAME": DEVICE, "KNAME": DEVICE, "PKNAME": "", "PATH": NODES[0], "MAJ:MIN": "  8:0  ",
             "SIZE": size(device_bytes(machine)), "TYPE": "disk", "STATE": "running", "VENDOR": "QEMU    ", "MODEL": MODEL,
             "SERIAL": "drive-scsi0", "TRAN": "", "HCTL": "0:0:0:0", "REV": "2.5+", "PTTYPE": "gpt"}  # fmt: skip
    share = -(-100 * space.used_bytes // max(1, space.total_bytes))
    part = {**common, "NAME": f"└─{PARTITION}", "KNAME": PARTITION, "PKNAME": DEVICE, "PATH": NODES[1], "MAJ:MIN": "  8:1  ",
            "SIZE": size(partition_sectors(machine) * 512), "TYPE": "part", "FSTYPE": "ext4", "FSVER": "1.0",
            "UUID": file_system_id(machine), "FSAVAIL": size(space.available_bytes), "FSUSE%": f"{share}%",
            "FSUSED": size(space.used_bytes), "FSSIZE": size(space.total_bytes), "MOUNTPOINT": "".join(places[:1]),
            "MOUNTPOINTS": "".join(places[:1]), "PARTUUID": _partition_id(ctx), "PTTYPE": "gpt"}  # fmt: skip
    return [whole, part]


@tool("blkid", options="c,cache-file= d,no-encoding g,garbage-collect o,output= k L,label= U,uuid= l,list-one s,match-tag= t,match-token= p,probe",
      usage="[options] [<device> ...]", version=UTIL_LINUX, trouble=4)  # fmt: skip
async def blkid(ctx: Context, options: Options) -> int:
    """Show the identifiers of file systems."""
    identity = file_system_id(ctx.machine)
    words = [word for word in options.operands or [NODES[1]] if word == NODES[1]]
    if not words or not _sees_disk(ctx):
        return 2
    tags = {"UUID": identity, "BLOCK_SIZE": str(BLOCK_BYTES), "TYPE": "ext4", "PARTUUID": _partition_id(ctx)}
    if options.any("s"):
        tags = {name: value for name, value in tags.items() if name in options.all("s")}
    if options.last("o") == "value":
        await ctx.out("".join(f"{value}\n" for value in tags.values()))
    else:
        await ctx.out(
            f"{NODES[1]}: {' '.join(f'{name}={chr(34)}{value}{chr(34)}' for name, value in tags.items())}\n"
        )
    return 0


@tool(
    "findmnt",
    options="A,all a,ascii b,bytes D,df e,evaluate f,first-only k,kernel l,list m,mtab n,noheadings O,options= o,output= "
    "R,submounts r,raw S,source= s,fstab T,target= t,types= u,notruncate M,mountpoint= real",
    usage="[options] <device> | <mountpoint>",
    version=UTIL_LINUX,
)
async def findmnt(ctx: Context, options: Options) -> int:
    """Find mounted file systems, as a list."""
    columns: tuple[str, ...] = ("TARGET", "SOURCE", "FSTYPE", "OPTIONS")
    if options.any("D"):
        columns = ("SOURCE", "FSTYPE", "SIZE", "USED", "AVAIL", "USE%", "TARGET")
    elif options.any("o"):
        columns = tuple(options.last("o").upper().split(","))
    for column in columns:
        if column not in _MOUNT_FACTS:
            fail(ctx, f"unknown column: {column.lower()}")
    chosen = (
        [] if options.any("s") else [mount for mount in ctx.files.mounts() if _is_wanted(ctx, options, mount)]
    )
    if options.any("f"):
        del chosen[1:]
    cells = [[_MOUNT_FACTS[column](mount) for column in columns] for mount in chosen]
    if cells:
        await ctx.out(align(cells, columns, not options.any("n"), options.any("r")))
    return 0 if cells else 1


def _is_wanted(ctx: Context, options: Options, mount: Mount) -> bool:
    if options.any("t") and mount.fstype not in options.last("t").split(","):
        return False
    if options.any("S") and mount.source != options.last("S"):
        return False
    if options.any("T") and ctx.files.find(options.last("T"))[0].space().mounted_on != mount.path:
        return False
    place = options.last("M") if options.any("M") else "".join(options.operands[:1]).rstrip("/") or "/"
    return not (options.operands or options.any("M")) or place in (mount.path, mount.source)


_MOUNT_FACTS: Final[dict[str, Callable[[Mount], str]]] = {"TARGET": lambda mount: mount.path,
    "SOURCE": lambda mount: mount.source or mount.fstype, "FSTYPE": lambda mount: mount.fstype,
    "OPTIONS": lambda mount: mount.flags(), "SIZE": lambda mount: format_size(mount.space().total_bytes),
    "USED": lambda mount: format_size(mount.space().used_bytes),
    "AVAIL": lambda mount: format_size(mount.space().available_bytes),
    "USE%": lambda mount: f"{100 * mount.space().used_bytes // max(1, mount.space().total_bytes)}%"}  # fmt: skip


@tool("losetup", options="a,all c= d= D,detach-all f,find j= l,list J,json n,noheadings O= o= r v,verbose", usage="[options] [<loopdev>]",
      version=UTIL_LINUX)  # fmt: skip
async def losetup(ctx: Context, options: Options) -> int:
    """List loop devices: there are none."""
    if options.any("f") and not options.operands:
        await ctx.out("/dev/loop0\n")
    return 0


@tool(
    "dmsetup",
    options="tree c,columns C o= v,verbose noheadings",
    usage="<command> [options]",
    version="Library version:   1.02.185 (2022-05-18)",
)
async def dmsetup(ctx: Context, options: Options) -> int:
    """Show the devices of the device mapper: there are none."""
    if not options.operands:
        fail(ctx, "missing command", 1)
    await ctx.out("No devices found\n")
    return 0


# -- ext4 ------------------------------------------------------------------------------------------


def _need_file_system(ctx: Context, name: str, path: str) -> None:
    """Complain about what is not the root file system's device, in the words of e2fsprogs."""
    if path != NODES[1] or not _sees_disk(ctx):
        why, advice = "Bad magic number in super-block", "Couldn't find valid filesystem superblock."
        if not ctx.files.exists(path):
            why, advice = "No such file or directory", ""
        raise UsageError(f"{name} {E2FSPROGS}\n{name}: {why} while trying to open {path}\n{advice}")


def _count_blocks(ctx: Context) -> int:
    return partition_sectors(ctx.machine) * 512 // BLOCK_BYTES


def _describe_file_system(ctx: Context) -> str:
    machine = ctx.machine
    disk = machine.disk
    blocks = _count_blocks(ctx)
    booted_s = ctx.now - (ctx.kernel.now - machine.booted_at)
    built = asctime(gmtime(machine.host.files.stat("/usr").mtime))
    rows = {
        "Filesystem volume name": "<none>", "Last mounted on": "/", "Filesystem UUID": file_system_id(machine),
        "Filesystem magic number": "0xEF53", "Filesystem revision #": "1 (dynamic)",
        "Filesystem features": "has_journal ext_attr resize_inode dir_index filetype needs_recovery extent 64bit flex_bg "
                               "sparse_super large_file huge_file dir_nlink extra_isize metadata_csum",
        "Filesystem flags": "signed_directory_hash ", "Default mount options": "user_xattr acl",
        "Filesystem state": "clean with errors" if disk.file_system_errors else "clean", "Errors behavior": "Continue",
        "Filesystem OS type": "Linux", "Inode count": disk.inodes, "Block count": blocks, "Reserved block count": blocks // 20,
        "Overhead clusters": blocks - disk.capacity_bytes // BLOCK_BYTES, "Free blocks": disk.free_bytes // BLOCK_BYTES,
        "Free inodes": disk.inodes - disk.inodes_used, "First block": 0, "Block size": BLOCK_BYTES, "Fragment size": BLOCK_BYTES,
        "Blocks per group": 32768, "Fragments per group": 32768, "Inodes per group": 8192, "Flex block group size": 16,
        "Filesystem created": built, "Last mount time": asctime(gmtime(booted_s)), "Last write time": asctime(gmtime(booted_s)),
        "Mount count": 7, "Maximum mount count": -1, "Last checked": built, "Check interval": "0 (<none>)",
        "Lifetime writes": f"{measure_activity(machine).write_sectors // 2**21 + 3} GB", "Reserved blocks uid": "0 (user root)",
        "Reserved blocks gid": "0 (group root)", "First inode": 11, "Inode size": 256, "Journal inode": 8,
        "Default directory hash": "half_md4", "Journal backup": "inode blocks", "Checksum type": "crc32c",
    }  # fmt: skip
    if disk.file_system_errors:
        rows["FS Error count"] = disk.file_system_errors
    return "".join(f"{name + ':':<25} {value}\n" for name, value in rows.items())


@tool("tune2fs", options="l c= C= e= f g= i= j L= m= M= o= O= r= T= u= U=", usage="[-l] device", version="")
async def tune2fs(ctx: Context, options: Options) -> int:
    """Show the parameters of an ext4 file system."""
    if not options.operands or not options.any("l"):
        raise UsageError(TUNE2FS_USAGE)
    _need_file_system(ctx, "tune2fs", options.operands[0])
    await ctx.out(f"tune2fs {E2FSPROGS}\n{_describe_file_system(ctx)}")
    return 0


@tool("dumpe2fs", options="b f g h i= o= x", usage="[-h] device", version="")
async def dumpe2fs(ctx: Context, options: Options) -> int:
    """Show the superblock of an ext4 file system."""
    if not options.operands:
        raise UsageError(
            f"dumpe2fs {E2FSPROGS}\nUsage: dumpe2fs [-bfghixV] [-o superblock=<num>] [-o blocksize=<num>] device"
        )
    _need_file_system(ctx, "dumpe2fs", options.operands[0])
    await ctx.err(f"dumpe2fs {E2FSPROGS}\n")
    await ctx.out(_describe_file_system(ctx))
    return 0


@tool(
    "fsck",
    "fsck.ext4",
    "e2fsck",
    options="a A C=? f l M n N p P r R s t= T V y v",
    usage="[options] [device]",
    version=UTIL_LINUX,
)
async def fsck(ctx: Context, options: Options) -> int:
    """Check a file system; one that is in use is only looked at."""
    disk = ctx.machine.disk
    is_damaged = bool(disk.file_system_errors)
    if ctx.args[0].endswith("fsck"):
        await ctx.out("fsck from util-linux 2.38.1\n")
    for path in options.operands:
        _need_file_system(ctx, "e2fsck", path)
        await ctx.err(f"e2fsck {E2FSPROGS}\n")
        if not options.any("n"):
            await ctx.err(f"{path} is mounted.\ne2fsck: Cannot continue, aborting.\n\n\n")
            return 8
        await ctx.out(
            f"Warning!  {path} is mounted.\nWarning: skipping journal recovery because doing a read-only filesystem check.\n"
        )
        free, inodes = disk.free_bytes // BLOCK_BYTES, disk.inodes - disk.inodes_used
        used = f"{disk.inodes_used}/{disk.inodes} files"
        directory = disk.lost_directory
        if is_damaged and directory:
            await ctx.out(UNREADABLE.format(path=path, block=directory.block, inode=directory.inode))
            await ctx.err("e2fsck: aborted\n")
            await ctx.out(f"\n{path}: {STILL_DAMAGED}\n\n")
            return 12
        if is_damaged:
            lost = 7 + free % 61
            await ctx.out(
                CHECKED.format(
                    path=path,
                    damage=STILL_DAMAGED,
                    free=free,
                    counted=free - lost,
                    inodes=inodes,
                    counted_inodes=inodes - lost // 4,
                )
            )
            used += " (0.3% non-contiguous)"
        blocks = f"{_count_blocks(ctx) - free}/{_count_blocks(ctx)} blocks"
        await ctx.out(f"{path}: {'' if is_damaged else 'clean, '}{used}, {blocks}\n")
    return 4 if is_damaged and options.operands else 0


def _format_status(share: float, elapsed_s: int, bad: int) -> str:
    """The progress of ``badblocks``, and the cursor back to where it began."""
    minutes, seconds = divmod(elapsed_s, 60)
    hours, minutes = divmod(minutes, 60)
    time = f"{hours}:{minutes:02d}:{seconds:02d}" if hours else f"{minutes}:{seconds:02d}"
    text = f"{100 * share:6.2f}% done, {time} elapsed. ({bad}/0/0 errors)"
    return text + "\b" * len(text)


@tool(
    "badblocks",
    options="b= c= d= e= f i= n o= p= s t= v w X B",
    usage="device [last-block [first-block]]",
    version="",
)
async def badblocks(ctx: Context, options: Options) -> int:
    """Read blocks of a disk, to find those that cannot be read."""
    path, *limits = options.operands or [""]
    if path not in NODES or not _sees_disk(ctx):
        fail(ctx, "No such file or directory while trying to determine device size")
    last = int(limits[0][:15]) if limits and limits[0].isdecimal() else device_bytes(ctx.machine) // 1024 - 1
    head = "Checking for bad blocks (read-only test): " if options.any("s", "v") else ""
    await ctx.err((f"Checking blocks 0 to {last}\n" if options.any("v") else "") + head)
    shows_status = options.any("s") and last > 0
    if shows_status:
        await ctx.err(_format_status(0.0, 0, 0))
    device, bad = ctx.files.open(path), 0
    try:
        device.read(BLOCK_BYTES)
    except FileError:
        bad = min(last, 64)
        await ctx.out("".join(f"{number}\n" for number in range(bad)))
    finally:
        device.close()
    total_s = last * 1024 / READ_BYTES_PER_S
    for second in range(1, ceil(total_s) if shows_status else 1):
        ctx.spend_turn()
        await ctx.sleep(1.0)
        total_s -= 1.0
        await ctx.err(_format_status(second / (second + total_s), second, bad))
    await ctx.sleep(total_s)
    await ctx.err(f"{'done':<53}\n" if head else "")
    if options.any("v"):
        await ctx.err(f"Pass completed, {bad} bad blocks found. ({bad}/0/0 errors)\n")
    return 0
