"""``head``: print the first part of files, or all but the last part."""

from __future__ import annotations

import string
from collections import deque

from msgspec import Struct

from simcloud.machine.process import Context, FileStream
from simcloud.userland.commands.options import Options, UsageError
from simcloud.userland.commands.text.counts import SIZE_SUFFIXES, number
from simcloud.userland.commands.text.inputs import Inputs, Source, emit
from simcloud.userland.commands.text.tool import misuse, tool


def _rewrite_old_syntax(args: list[str]) -> list[str]:
    """``-5c`` as the first word stands for ``-c 5``, as in the oldest versions."""
    if len(args) < 2 or not (args[1].startswith("-") and args[1][1:2].isdigit()):
        return args
    digits = args[1][1:].rstrip(string.ascii_letters)
    letters = args[1][1 + len(digits) :]
    for letter in digits.lstrip(string.digits) + letters:
        if letter not in "bkmclqvz":
            raise UsageError(
                f"{args[0]}: invalid trailing option -- {letter}\nTry '{args[0]} --help' for more information."
            )
    unit = "".join(letter for letter in letters if letter in "bkm")[-1:]
    kind = "c" if any(letter in "cbkm" for letter in letters) else "n"
    flags = [f"-{letter}" for letter in letters if letter in "qvz"]
    return [args[0], f"-{kind}", digits + unit, *flags, *args[2:]]


@tool(
    "head",
    options="c,bytes= n,lines= q,quiet,silent v,verbose z,zero-terminated 0 1 2 3 4 5 6 7 8 9",
    rewrite=_rewrite_old_syntax,
)
async def head(ctx: Context, options: Options) -> int:
    """Write the first 10 lines of each file."""
    portion = _portion(ctx, options)
    titles = Titles(ctx, options)
    inputs = Inputs(
        ctx,
        options.operands,
        "cannot open {quoted} for reading: {why}",
        "error reading {quoted}: {why}",
        "standard input",
    )
    async for source in inputs.sources():
        await titles.show(source.name)
        await portion.copy(ctx, source)
    return inputs.status


class Titles:
    """The ``==> name <==`` lines above each of several files."""

    def __init__(self, ctx: Context, options: Options) -> None:
        self._ctx = ctx
        self.wanted = len(options.operands) > 1
        for name, _ in options.given:
            if name in ("q", "v"):
                self.wanted = name == "v"
        self._first = True

    async def show(self, name: str) -> None:
        """Write the title of a file, with a blank line after the one before."""
        if self.wanted:
            gap = "" if self._first else "\n"
            self._first = False
            await self._ctx.out(f"{gap}==> {name} <==\n")


class _Portion(Struct):
    """The first ``count`` lines or bytes, or all but the last ``count``."""

    count: int
    in_bytes: bool
    from_end: bool
    end: bytes

    async def copy(self, ctx: Context, source: Source) -> None:
        """Write this portion of an input as it arrives."""
        if self.from_end:
            await (self._all_but_bytes if self.in_bytes else self._all_but_lines)(ctx, source)
        else:
            await (self._first_bytes if self.in_bytes else self._first_lines)(ctx, source)

    async def _first_bytes(self, ctx: Context, source: Source) -> None:
        left = self.count
        while left > 0 and (piece := await source.read(min(left, 65536))):
            left -= len(piece)
            await emit(ctx, piece)

    async def _first_lines(self, ctx: Context, source: Source) -> None:
        left = self.count
        while left > 0 and (piece := await source.read()):
            cut = 0
            while left > 0 and (found := piece.find(self.end, cut)) >= 0:
                cut = found + 1
                left -= 1
            if left > 0:
                cut = len(piece)
            elif cut < len(piece) and isinstance(source.stream, FileStream):
                source.stream.file.seek(cut - len(piece), 1)  # the next reader goes on from here
            await emit(ctx, piece[:cut])

    async def _all_but_bytes(self, ctx: Context, source: Source) -> None:
        held = b""
        async for piece in source.pieces():
            held += piece
            free = max(0, len(held) - self.count)
            await emit(ctx, held[:free])
            held = held[free:]

    async def _all_but_lines(self, ctx: Context, source: Source) -> None:
        held: deque[bytes] = deque()
        async for batch in source.batches(self.end):
            held.extend(batch)
            free = max(0, len(held) - self.count)
            await emit(ctx, b"".join([held.popleft() for _ in range(free)]))


def _portion(ctx: Context, options: Options) -> _Portion:
    portion = _Portion(10, in_bytes=False, from_end=False, end=b"\0" if "z" in options else b"\n")
    for name, value in options.given:
        if name.isdigit():
            misuse(ctx, f"invalid trailing option -- {name}")
        if name in ("c", "n"):
            portion.in_bytes = name == "c"
            portion.from_end = value.startswith("-")
            unit = "bytes" if portion.in_bytes else "lines"
            text = value[1:] if portion.from_end else value
            portion.count = number(ctx, text, f"invalid number of {unit}", suffixes=SIZE_SUFFIXES)
    return portion
