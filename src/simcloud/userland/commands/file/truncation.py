"""truncate and fallocate: change the size of files."""

from __future__ import annotations

from typing import Final

from simcloud.machine.files import FileError
from simcloud.machine.process import Context
from simcloud.userland.commands.file.names import complain
from simcloud.userland.commands.options import Options
from simcloud.userland.commands.text.counts import parse_number
from simcloud.userland.commands.text.quoting import quote, quote_name_always
from simcloud.userland.commands.text.tool import UTIL_LINUX, fail, misuse, tool

MAX_SIZE_BYTES: Final = 2**63 - 1
BLOCK_BYTES: Final = 4096
SIGNS: Final = "+-<>/%"


@tool("truncate", options="c,no-create o,io-blocks r,reference= s,size=", usage="OPTION... FILE...")
async def truncate(ctx: Context, options: Options) -> int:
    """Shrink files to a size, or extend them by holes."""
    text = options.last("s").lstrip()
    sign = text[:1] if text[:1] and text[0] in SIGNS else ""
    size = 0
    if options.any("s"):
        number = parse_number(text[len(sign) :], "kKmMgGtTPEZY")
        if number is None:
            fail(ctx, f"Invalid number: {quote(options.last('s'))}")
        size = number
    if sign in ("/", "%") and size == 0:
        fail(ctx, "division by zero")
    if options.any("r") and options.any("s") and not sign:
        misuse(ctx, "you must specify a relative '--size' with '--reference'")
    if not options.any("s", "r"):
        misuse(ctx, "you must specify either '--size' or '--reference'")
    if not options.operands:
        misuse(ctx, "missing file operand")
    reference: int | None = None
    if options.any("r"):
        try:
            reference = ctx.files.stat(options.last("r")).size
        except FileError as error:
            fail(ctx, f"cannot stat {quote_name_always(options.last('r'))}: {error}")
        if not options.any("s"):
            sign, size, reference = "", reference, None
    size *= BLOCK_BYTES if options.any("o") else 1
    status = 0
    for path in options.operands:
        status = await _truncate(ctx, options, path, sign, size, reference) or status
    return status


async def _truncate(
    ctx: Context, options: Options, path: str, sign: str, size: int, reference: int | None
) -> int:
    files = ctx.files
    try:
        if not files.exists(path):
            if options.any("c"):
                return 0
            files.open(path, write=True, create=True).close()
        present = files.stat(path).size
        file = files.open(path, read=False, write=True)
        file.close()
    except FileError as error:
        return await complain(ctx, f"cannot open {quote_name_always(path)} for writing", error)
    size = min(_new_size(sign, size, present if reference is None else reference), MAX_SIZE_BYTES)
    try:
        files.truncate(path, size)
    except FileError as error:
        return await complain(ctx, f"failed to truncate {quote_name_always(path)} at {size} bytes", error)
    return 0


def _new_size(sign: str, size: int, present: int) -> int:
    if sign == "+":
        return present + size
    if sign == "-":
        return max(0, present - size)
    if sign == "<":
        return min(present, size)
    if sign == ">":
        return max(present, size)
    if sign == "/":
        return present - present % size
    if sign == "%":
        return -(-present // size) * size
    return size


@tool(
    "fallocate",
    options="c,collapse-range d,dig-holes i,insert-range l,length= n,keep-size o,offset= p,punch-hole z,zero-range "
    "v,verbose x,posix",
    usage="[options] <filename>",
    version=UTIL_LINUX,
    try_help="Try '{name} --help' for more information.",
)
async def fallocate(ctx: Context, options: Options) -> int:
    """Reserve space for a file without writing it."""
    if not options.operands:
        fail(ctx, "no filename specified")
    if len(options.operands) > 1:
        fail(ctx, "unexpected number of arguments")
    if options.any("c", "d", "i", "p", "z"):
        fail(ctx, "fallocate failed: Operation not supported")
    if not options.any("l"):
        fail(ctx, "no length argument specified")
    length = parse_number(options.last("l"), "kKmMgGtTPEZY")
    offset = parse_number(options.last("o") or "0", "kKmMgGtTPEZY")
    if length is None or length < 0:
        fail(ctx, "failed to parse length")
    if length == 0:
        fail(ctx, "invalid length value specified")
    if offset is None or offset < 0:
        fail(ctx, "failed to parse offset")
    path = options.operands[0]
    try:
        ctx.files.open(path, write=True, create=True).close()
    except FileError as error:
        fail(ctx, f"cannot open {path}: {error}")
    before = ctx.files.stat(path).size
    try:
        ctx.files.allocate(path, offset + length)
    except FileError as error:
        fail(ctx, f"fallocate failed: {error}")
    if options.any("n"):
        ctx.files.truncate(path, before)
    if options.any("v"):
        await ctx.out(f"{path}: {length} bytes allocated.\n")
    return 0
