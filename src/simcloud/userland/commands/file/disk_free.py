"""df: report the used and free space of file systems."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from msgspec import Struct

from simcloud.machine.files import FileError, Space
from simcloud.machine.process import Context
from simcloud.userland.commands.file.names import complain
from simcloud.userland.commands.file.sizes import HUMAN, KIB, SI, BlockSize, block_size
from simcloud.userland.commands.file.tables import align_columns
from simcloud.userland.commands.options import Options
from simcloud.userland.commands.text.quoting import quote
from simcloud.userland.commands.text.tool import fail, misuse, tool

FIELDS: Final = ("source", "fstype", "itotal", "iused", "iavail", "ipcent", "size", "used", "avail", "pcent", "file",
                 "target")  # fmt: skip
TITLES: Final = {"source": "Filesystem", "fstype": "Type", "itotal": "Inodes", "iused": "IUsed", "iavail": "IFree",
                 "ipcent": "IUse%", "used": "Used", "avail": "Available", "pcent": "Use%", "file": "File",
                 "target": "Mounted on"}  # fmt: skip
LEAST: Final = {"source": 14, "fstype": 4, "file": 0, "target": 0, "pcent": 4, "ipcent": 4}
LEFT: Final = ("source", "fstype", "file", "target")
PLAIN: Final = ("source", "size", "used", "avail", "pcent", "target")
INODES: Final = ("source", "itotal", "iused", "iavail", "ipcent", "target")


class _Row(Struct, frozen=True):
    """A file system, and the operand that selected it."""

    space: Space
    file: str


@tool(
    "df",
    options="a,all B,block-size= total h,human-readable H,si i,inodes k l,local m no-sync output=? P,portability sync "
    "t,type= T,print-type x,exclude-type= v",
)
async def df(ctx: Context, options: Options) -> int:
    """Show how much space file systems have: all of them, or those that files are on."""
    fields = _fields(ctx, options)
    block = _block(ctx, options)
    rows, status = await _rows(ctx, options)
    if not rows:
        if not status:
            fail(ctx, "no file systems processed")
        return status
    if options.any("total"):
        rows.append(_total([row.space for row in rows]))
    titles = [_title(field, block, options) for field in fields]
    cells = [[_value(field, row, block, options.any("h", "H")) for field in fields] for row in rows]
    lines = align_columns(
        [titles, *cells], [field not in LEFT for field in fields], [LEAST.get(field, 5) for field in fields]
    )
    await ctx.out("".join(f"{line}\n" for line in lines))
    return status


def _fields(ctx: Context, options: Options) -> tuple[str, ...]:
    if options.any("output"):
        for letter in ("i", "P", "T"):
            if options.any(letter):
                misuse(ctx, f"options -{letter} and --output are mutually exclusive")
        named = [word for value in options.all("output") if value for word in value.split(",")]
        for position, word in enumerate(named):
            if word not in FIELDS:
                misuse(ctx, f"option --output: field {quote(word)} unknown")
            if word in named[:position]:
                misuse(ctx, f"option --output: field {quote(word)} used more than once")
        return tuple(named) or FIELDS
    fields = INODES if options.any("i") else PLAIN
    return (fields[0], "fstype", *fields[1:]) if options.any("T") else fields


def _block(ctx: Context, options: Options) -> BlockSize:
    chosen = KIB
    for option, value in options.given:
        if option == "B":
            block = block_size(value)
            if block is None:
                fail(ctx, f"invalid -B argument {quote(value)}")
            chosen = block
        elif option in ("k", "m", "h", "H"):
            chosen = {"k": KIB, "m": BlockSize(1024**2), "h": HUMAN, "H": SI}[option]
    return chosen


async def _rows(ctx: Context, options: Options) -> tuple[list[_Row], int]:
    status, rows = 0, []
    for path in options.operands:
        try:
            rows.append(_Row(ctx.files.space(path), path))
        except FileError as error:
            status = await complain(ctx, path, error)
    if not options.operands:
        spaces = {mount.path: mount.space() for mount in ctx.files.mounts()}
        rows = [_Row(space, "-") for space in spaces.values() if space.total_bytes or options.any("a")]
    wanted, unwanted = options.all("t"), options.all("x")
    rows = [
        row for row in rows if (not wanted or row.space.fstype in wanted) and row.space.fstype not in unwanted
    ]
    return rows, status


def _total(spaces: list[Space]) -> _Row:
    def sum_of(pick: Callable[[Space], int]) -> int:
        return sum(pick(space) for space in spaces)

    whole = Space(
        sum_of(lambda s: s.total_bytes), sum_of(lambda s: s.used_bytes), sum_of(lambda s: s.available_bytes),
        sum_of(lambda s: s.inodes), sum_of(lambda s: s.inodes_used), "-", "total", "-",
    )  # fmt: skip
    return _Row(whole, "-")


def _title(field: str, block: BlockSize, options: Options) -> str:
    short = options.any("h", "H")
    if field == "size":
        if short:
            return "Size"
        if options.any("P") and block.size_bytes == KIB.size_bytes:
            return "1024-blocks"
        return f"{_unit_words(block)}-blocks"
    if field == "avail" and (short or options.any("output")):
        return "Avail"
    return "Capacity" if field == "pcent" and options.any("P") and not short else TITLES[field]


def _unit_words(block: BlockSize) -> str:
    """``1K``, ``1M``, ``4K``, ``512B``: the block size in the fewest words."""
    size, power = block.size_bytes, 0
    while size % 1024 == 0 and power < 8:
        size //= 1024
        power += 1
    return f"{size}{'BKMGTPEZY'[power]}"


def _value(field: str, row: _Row, block: BlockSize, short: bool) -> str:
    space = row.space
    if field in ("size", "used", "avail"):
        sizes = {"size": space.total_bytes, "used": space.used_bytes, "avail": space.available_bytes}
        return block.show(sizes[field])
    if field in ("itotal", "iused", "iavail"):
        counts = {
            "itotal": space.inodes,
            "iused": space.inodes_used,
            "iavail": space.inodes - space.inodes_used,
        }
        return block.show(counts[field]) if short else str(counts[field])
    if field == "pcent":
        return _share(space.used_bytes, space.available_bytes)
    if field == "ipcent":
        return _share(space.inodes_used, space.inodes - space.inodes_used)
    words = {"source": space.source or space.fstype, "fstype": space.fstype, "file": row.file}
    return words.get(field, space.mounted_on)


def _share(used: int, free: int) -> str:
    return f"{-(-100 * used // (used + free))}%" if used + free else "-"
