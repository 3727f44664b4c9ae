"""``cmp``: print the first byte in which two files differ, or all of them."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import NoReturn

from simcloud.machine.process import Context
from simcloud.userland.commands.options import Options, UsageError
from simcloud.userland.commands.text.counts import parse_number
from simcloud.userland.commands.text.inputs import Inputs, emit, is_there
from simcloud.userland.commands.text.quoting import quote
from simcloud.userland.commands.text.tool import tool

DIFFUTILS = "(GNU diffutils) 3.8"
TRY_HELP = "{name}: Try '{name} --help' for more information."
_TROUBLE = 2
_SUFFIXES = "kKMGTPEZY"


@tool(
    "cmp",
    options="b,print-bytes i,ignore-initial= l,verbose n,bytes= s,quiet,silent",
    usage="[OPTION]... FILE1 [FILE2 [SKIP1 [SKIP2]]]",
    version=DIFFUTILS,
    trouble=_TROUBLE,
    try_help=TRY_HELP,
)
async def cmp(ctx: Context, options: Options) -> int:
    """Compare two files byte by byte."""
    if "l" in options and "s" in options:
        refuse(ctx, "options -l and -s are incompatible")
    operands = options.operands
    if not operands:
        refuse(ctx, f"missing operand after {quote(ctx.args[-1])}")
    skips = [max(pair) for pair in zip(_skips(ctx, options), _operand_skips(ctx, operands), strict=True)]
    if len(operands) > 4:
        refuse(ctx, f"extra operand {quote(operands[4])}")
    limit = _size(ctx, options.last("n"), "bytes") if "n" in options else None
    names = [operands[0], operands[1] if len(operands) > 1 else "-"]
    inputs = Inputs(ctx, names, "{plain}: {why}", "{plain}: {why}", weight=4 if "l" in options else 1)
    pieces: list[AsyncIterator[bytes]] = []
    for name in inputs.operands:
        if "s" in options and name != "-" and not is_there(ctx, name):
            return _TROUBLE
        source = await inputs.open(name)
        if source is None:
            return _TROUBLE
        pieces.append(source.pieces())
    if names[0] == names[1]:
        return 0
    folder = next((name for name in names if name != "-" and ctx.files.is_dir(name)), None)
    if folder is not None:
        await ctx.err(f"{ctx.args[0]}: {folder}: Is a directory\n")
        return _TROUBLE
    status = await _Comparison(ctx, options, names, limit).run(pieces, skips)
    return _TROUBLE if inputs.failed else status


def refuse(ctx: Context, message: str) -> NoReturn:
    """End as diffutils do for a wrong command line."""
    raise UsageError(f"{ctx.args[0]}: {message}\n{TRY_HELP.format(name=ctx.args[0])}", _TROUBLE)


def _size(ctx: Context, text: str, option: str, whole: str = "") -> int:
    value = parse_number(text, _SUFFIXES)
    if value is None or value < 0:
        refuse(ctx, f"invalid --{option} value '{whole or text}'")
    return value


def _skips(ctx: Context, options: Options) -> list[int]:
    text = options.last("i", default="0")
    one, colon, two = text.partition(":")
    first = _size(ctx, one, "ignore-initial", text)
    return [first, _size(ctx, two, "ignore-initial", text) if colon else first]


def _operand_skips(ctx: Context, operands: list[str]) -> list[int]:
    given = [_size(ctx, text, "ignore-initial") for text in operands[2:4]]
    return given + [0] * (2 - len(given))


async def _read_aligned(
    pieces: list[AsyncIterator[bytes]], skips: list[int]
) -> AsyncIterator[tuple[bytes, bytes]]:
    """Pieces of both inputs of equal length, until one of them ends; then what is left, perhaps of one only."""
    buffers = [b"", b""]
    ended = [False, False]
    while True:
        for side in (0, 1):
            while not buffers[side] and not ended[side]:
                piece = await anext(pieces[side], None)
                ended[side] = piece is None
                data = piece or b""
                dropped = min(skips[side], len(data))
                skips[side] -= dropped
                buffers[side] = data[dropped:]
        length = min(map(len, buffers))
        if length == 0:
            yield buffers[0], buffers[1]
            return
        yield buffers[0][:length], buffers[1][:length]
        buffers = [buffer[length:] for buffer in buffers]


class _Comparison:
    def __init__(self, ctx: Context, options: Options, names: list[str], limit: int | None) -> None:
        self._ctx = ctx
        self._all = "l" in options
        self._silent = "s" in options
        self._bytes = "b" in options
        self._names = names
        self._limit = limit
        self._width = 0

    async def run(self, pieces: list[AsyncIterator[bytes]], skips: list[int]) -> int:
        """Compare until the first difference, or to the end; the exit status."""
        at, line, differs = 0, 1, False
        last_newline = True
        await self._measure(skips)
        async for left, right in _read_aligned(pieces, list(skips)):
            if self._limit is not None:
                left, right = left[: self._limit - at], right[: self._limit - at]
            if len(left) != len(right):
                await self._report_end(
                    self._names[0 if len(left) < len(right) else 1], at, line, last_newline
                )
                return 1
            if left != right:
                differs = True
                if self._silent:
                    return 1
                if not self._all:
                    offset = next(place for place in range(len(left)) if left[place] != right[place])
                    line += left[:offset].count(b"\n")
                    await self._report_first(at + offset + 1, line, left[offset], right[offset])
                    return 1
                await self._report_all(at, left, right)
            at += len(left)
            line += left.count(b"\n")
            last_newline = left.endswith(b"\n") if left else last_newline
        return int(differs)

    async def _measure(self, skips: list[int]) -> None:
        """``-l`` aligns byte numbers to the size of the smaller file."""
        sizes = [
            self._ctx.files.stat(name).size - skip
            for name, skip in zip(self._names, skips, strict=True)
            if name != "-" and self._ctx.files.is_file(name)
        ]
        if self._limit is not None:
            sizes.append(self._limit)
        self._width = len(str(max(1, min(sizes)))) if sizes else 19

    async def _report_first(self, place: int, line: int, one: int, two: int) -> None:
        first, second = self._names
        if self._bytes:
            shown = f"byte {place}, line {line} is {one:3o} {_visible(one)} {two:3o} {_visible(two)}"
        else:
            shown = f"char {place}, line {line}"
        await self._ctx.out(f"{first} {second} differ: {shown}\n")

    async def _report_all(self, at: int, one: bytes, two: bytes) -> None:
        lines: list[str] = []
        for offset in range(len(one)):
            left, right = one[offset], two[offset]
            if left == right:
                continue
            place = f"{at + offset + 1:{self._width}}"
            if self._bytes:
                lines.append(f"{place} {left:3o} {_visible(left):<4} {right:3o} {_visible(right)}\n")
            else:
                lines.append(f"{place} {left:3o} {right:3o}\n")
        await emit(self._ctx, "".join(lines).encode())

    async def _report_end(self, name: str, at: int, line: int, whole_lines: bool) -> None:
        if self._silent:
            return
        if at == 0:
            where = " which is empty"
        elif self._all:
            where = f" after byte {at}"
        elif whole_lines:
            where = f" after byte {at}, line {line - 1}"
        else:
            where = f" after byte {at}, in line {line}"
        await self._ctx.err(f"{self._ctx.args[0]}: EOF on {name}{where}\n")


def _visible(byte: int) -> str:
    """A byte as ``cat -v`` shows it."""
    low = byte & 0x7F
    shown = "^" + chr(low ^ 0x40) if low < 0x20 or low == 0x7F else chr(low)
    return "M-" + shown if byte >= 0x80 else shown
