"""``strings``: the readable parts of data."""

from __future__ import annotations

from simcloud.machine.process import Context
from simcloud.userland.commands.options import Options
from simcloud.userland.commands.text.counts import parse_number
from simcloud.userland.commands.text.inputs import Inputs, Source, emit, is_there
from simcloud.userland.commands.text.quoting import quote
from simcloud.userland.commands.text.tool import fail, historical, tool

_READABLE = bytes([9, *range(0x20, 0x7F)])
_WITH_SPACES = bytes([*range(9, 14), *range(0x20, 0x7F)])


@tool(
    "strings",
    options="a,all d,data f,print-file-name n,bytes= o t,radix= w,include-all-whitespace "
    "s,output-separator= e,encoding=",
    usage="[option(s)] [file(s)]",
    version="(GNU Binutils for Debian) 2.40",
    try_help="Usage: {name} [option(s)] [file(s)]",
    rewrite=historical("n", "-n", "-t", "-s", "-e"),
)
async def strings(ctx: Context, options: Options) -> int:
    """Write the sequences of printable characters in files."""
    finder = _Finder(ctx, options)
    inputs = Inputs(ctx, [], "{plain}", weight=8)
    status = 0
    for operand in options.operands or ["-"]:
        if operand == "-" and not options.operands:
            await finder.show(Source(inputs, "{standard input}", ctx.stdin))
            continue
        if ctx.files.is_dir(operand):
            await ctx.err(f"{ctx.args[0]}: Warning: '{operand}' is a directory\n")
            status = 1
        elif not is_there(ctx, operand):
            await ctx.err(f"{ctx.args[0]}: '{operand}': No such file\n")
            status = 1
        else:
            source = await inputs.open(operand)
            if source is not None:
                await finder.show(source)
    return status or inputs.status


class _Finder:
    def __init__(self, ctx: Context, options: Options) -> None:
        self._ctx = ctx
        text = options.last("n", default="4")
        least = parse_number(text)
        if least is None:
            fail(ctx, f"invalid integer argument {text}")
        if least < 1:
            fail(ctx, f"invalid minimum string length {least}")
        if options.last("e", default="s") not in ("s", "S"):
            fail(ctx, f"the encoding {quote(options.last('e'))} is not supported")
        self._least = least
        self._radix = "o" if "o" in options else ""
        if "t" in options:
            self._radix = options.last("t")
            if self._radix not in ("d", "o", "x"):
                fail(ctx, f"the radix {quote(self._radix)} is none of d, o, x")
        self._readable = _WITH_SPACES if "w" in options else _READABLE
        if options.last("e") == "S":
            self._readable += bytes(range(0x80, 0x100))
        self._unreadable = bytes(byte for byte in range(256) if byte not in self._readable)
        self._table = bytes.maketrans(self._unreadable, bytes(len(self._unreadable)))
        self._named = "f" in options
        self._end = options.last("s", default="\n").encode("utf-8", "surrogateescape")

    async def show(self, source: Source) -> None:
        """Write the strings of one input; a string may span pieces of data."""
        name = f"{source.name}: ".encode("utf-8", "surrogateescape") if self._named else b""
        rest, at = b"", 0
        async for piece in source.pieces():
            *runs, rest = (rest + piece.translate(self._table)).split(b"\0")
            at = await self._write(runs, name, at)
        await self._write([rest], name, at)

    async def _write(self, runs: list[bytes], name: bytes, at: int) -> int:
        shown: list[bytes] = []
        for run in runs:
            if len(run) >= self._least:
                place = f"{at:7{self._radix}} ".encode() if self._radix else b""
                shown.append(name + place + run + self._end)
            at += len(run) + 1
        await emit(self._ctx, b"".join(shown))
        return at
