"""``wc``: count lines, words and bytes, in the C locale, where a character is a byte."""

from __future__ import annotations

from msgspec import Struct

from simcloud.machine.files import FileError, Stat
from simcloud.machine.process import Context, FileStream
from simcloud.userland.commands.options import Options
from simcloud.userland.commands.text.inputs import Inputs, Source, emit, is_there, read_operand
from simcloud.userland.commands.text.quoting import quote_name
from simcloud.userland.commands.text.tool import misuse, tool

_ORDER = "lwmcL"
_SPACES = b" \t\n\v\f\r"
_SILENT = bytes(byte for byte in range(256) if not (0x20 <= byte < 0x7F or byte in _SPACES))
"""Bytes that neither begin nor end a word."""

_INVISIBLE = bytes(byte for byte in _SILENT + b"\v")
_LINE_ENDS = bytes.maketrans(b"\r\f", b"\n\n")
_PIPE_WIDTH = 7


class _Counts(Struct):
    l: int = 0  # noqa: E741  the option letters are the clearest names
    w: int = 0
    m: int = 0
    c: int = 0
    L: int = 0

    def add(self, other: _Counts) -> None:
        self.l += other.l
        self.w += other.w
        self.m += other.m
        self.c += other.c
        self.L = max(self.L, other.L)


@tool("wc", options="c,bytes m,chars l,lines L,max-line-length w,words files0-from=")
async def wc(ctx: Context, options: Options) -> int:
    """Count lines, words and bytes of each file."""
    letters = [letter for letter in _ORDER if letter in options] or ["l", "w", "c"]
    operands = options.operands
    if "files0-from" in options:
        operands = await _read_names(ctx, options)
    inputs = Inputs(ctx, operands)
    width = 1 if options.last("files0-from") == "-" else _width(ctx, inputs.operands, len(letters))
    total = _Counts()

    async def show(counts: _Counts, name: str) -> None:
        columns = [f"{getattr(counts, letter):{width}}" for letter in letters]
        label = f" {name}" if name else ""
        await emit(ctx, (" ".join(columns) + label + "\n").encode("utf-8", "surrogateescape"))

    async for source in inputs.sources():
        counts = await _count(source, words="w" in letters, longest="L" in letters)
        total.add(counts)
        await show(counts, _label(source.name) if operands else "")
    if len(operands) > 1:
        await show(total, "total")
    return inputs.status


def _label(name: str) -> str:
    return quote_name(name) if "\n" in name else name


async def _read_names(ctx: Context, options: Options) -> list[str]:
    if options.operands:
        misuse(
            ctx, f"extra operand '{options.operands[0]}'\nfile operands cannot be combined with --files0-from"
        )
    data = await read_operand(ctx, options.last("files0-from"), "cannot open {quoted} for reading: {why}")
    return [name.decode("utf-8", "surrogateescape") for name in data.removesuffix(b"\0").split(b"\0")]


async def _count(source: Source, words: bool, longest: bool) -> _Counts:
    counts = _Counts()
    in_word = False
    column = 0
    async for piece in source.pieces():
        counts.c += len(piece)
        counts.m = counts.c
        counts.l += piece.count(b"\n")
        if words:
            spoken = piece.translate(None, _SILENT)
            if spoken:
                counts.w += len(spoken.split())
                if in_word and spoken[0] not in _SPACES:
                    counts.w -= 1
                in_word = spoken[-1] not in _SPACES
        if longest:
            column = _measure(piece, counts, column)
    return counts


def _measure(piece: bytes, counts: _Counts, column: int) -> int:
    """Find the widest line of a piece that begins in a column; returns the column it ends in."""
    lines = piece.translate(_LINE_ENDS, _INVISIBLE).split(b"\n")
    lines[0] = b" " * column + lines[0]
    widths = [len(line.expandtabs(8)) if b"\t" in line else len(line) for line in lines]
    counts.L = max(counts.L, *widths)
    return widths[-1]


def _width(ctx: Context, operands: list[str], columns: int) -> int:
    """Wide enough for all sizes together, which is known before anything is read."""
    if len(operands) == 1 and columns == 1:
        return 1
    total, least = 0, 1
    for operand in operands:
        stat = _stat(ctx, operand)
        if stat is not None and stat.is_file:
            total += stat.size
        elif stat is not None or operand == "-" or is_there(ctx, operand):
            least = _PIPE_WIDTH
    return max(least, len(str(total)))


def _stat(ctx: Context, operand: str) -> Stat | None:
    try:
        if operand != "-":
            return ctx.files.stat(operand)
        return ctx.stdin.file.stat() if isinstance(ctx.stdin, FileStream) else None
    except FileError:
        return None
