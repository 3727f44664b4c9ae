"""``tail``: print the last part of files, and new data with ``-f``."""

from __future__ import annotations

import re
from collections import deque

from msgspec import Struct

from simcloud.machine.process import Context, FileStream
from simcloud.userland.commands.options import Options
from simcloud.userland.commands.text.counts import SIZE_SUFFIXES, number, parse_float, whole
from simcloud.userland.commands.text.inputs import HELD_LINE_BYTES, Inputs, Source, emit
from simcloud.userland.commands.text.lines.follow import Followed, Mode, follow
from simcloud.userland.commands.text.lines.head import Titles
from simcloud.userland.commands.text.quoting import quote
from simcloud.userland.commands.text.tool import fail, one_of, tool

FEW_LINES = 100_000
"""Number of buffered lines that are free of charge."""
_HISTORICAL = re.compile(r"([-+])([0-9]*)([bcl]?)(f?)")


def _rewrite_old_syntax(args: list[str]) -> list[str]:
    """``-5`` or ``+5f`` as the first word, with at most one file after it, are older spellings."""
    rest = args[2:]
    alone = (
        not rest or rest[:1] == ["--"] or (len(rest) == 1 and (rest == ["-"] or not rest[0].startswith("-")))
    )
    form = _HISTORICAL.fullmatch(args[1]) if len(args) in range(2, 5) and alone else None
    if form is None or not form[0][1:] or form[0] in ("-c", "-f"):
        return args
    sign, digits, unit, following = form[1], form[2] or "10", form[3], form[4]
    if unit == "b":
        digits = f"{whole(digits) * 512}"
    value = digits if sign == "-" else f"+{digits}"
    kind = "n" if unit in ("", "l") else "c"
    return [args[0], f"-{kind}", value, *(["-f"] if following else []), *args[2:]]


@tool(
    "tail",
    options="c,bytes= f,follow=? F n,lines= max-unchanged-stats= pid= q,quiet,silent retry s,sleep-interval= "
    "v,verbose z,zero-terminated 0 1 2 3 4 5 6 7 8 9",
    rewrite=_rewrite_old_syntax,
)
async def tail(ctx: Context, options: Options) -> int:
    """Write the last 10 lines of each file; with -f, also what is added to them."""
    portion = _portion(ctx, options)
    mode = _mode(ctx, options)
    titles = Titles(ctx, options)
    inputs = Inputs(
        ctx,
        options.operands,
        "cannot open {quoted} for reading: {why}",
        "error reading {quoted}: {why}",
        "standard input",
    )
    if mode.retry and not mode.following:
        await ctx.err(f"{ctx.args[0]}: warning: --retry ignored; --retry is useful only when following\n")
    followed: list[Followed] = []
    for operand in inputs.operands:
        source = await inputs.open(operand)
        if source is not None:
            await titles.show(source.name)
            await portion.copy(ctx, source)
        if operand != "-" or (source is not None and isinstance(source.stream, FileStream)):
            followed.append(Followed.begin(source.name if source is not None else operand, source))
    if mode.following and followed:
        return await follow(ctx, followed, titles, mode)
    return inputs.status


def _mode(ctx: Context, options: Options) -> Mode:
    mode = Mode(retry="retry" in options)
    for name, value in options.given:
        if name == "F":
            mode.by_name = mode.following = mode.retry = True
        elif name == "f":
            mode.following = True
            mode.by_name = value != "" and one_of(ctx, "follow", value, ("descriptor", "name")) == "name"
        elif name == "pid":
            mode.pid = number(ctx, value, "invalid PID", high=2**31 - 1)
        elif name == "s":
            seconds = parse_float(value)
            if seconds is None or seconds < 0:
                fail(ctx, f"invalid number of seconds: {quote(value)}")
            mode.interval_s = seconds
    return mode


class _Portion(Struct):
    """The last ``count`` lines or bytes, or everything from line or byte ``count`` on."""

    count: int
    in_bytes: bool
    from_start: bool
    end: bytes

    async def copy(self, ctx: Context, source: Source) -> None:
        """Write this portion of an input."""
        if self.from_start:
            await self._skip(ctx, source)
        elif self.in_bytes:
            held = bytearray()
            async for piece in source.pieces():
                held += piece
                del held[: max(0, len(held) - self.count)]
            await emit(ctx, bytes(held))
        else:
            lines: deque[bytes] = deque(maxlen=self.count)
            async for batch in source.batches(self.end):
                if self.count > FEW_LINES:
                    ctx.spend_bytes(HELD_LINE_BYTES * len(batch))
                lines.extend(batch)
            await emit(ctx, b"".join(lines))

    async def _skip(self, ctx: Context, source: Source) -> None:
        left = max(0, self.count - 1)
        async for piece in source.pieces():
            cut = 0
            if self.in_bytes:
                cut = min(left, len(piece))
                left -= cut
            else:
                while left > 0 and (found := piece.find(self.end, cut)) >= 0:
                    cut = found + 1
                    left -= 1
                if left > 0:
                    cut = len(piece)
            await emit(ctx, piece[cut:])


def _portion(ctx: Context, options: Options) -> _Portion:
    portion = _Portion(10, in_bytes=False, from_start=False, end=b"\0" if "z" in options else b"\n")
    for name, value in options.given:
        if name.isdigit():
            fail(ctx, f"option used in invalid context -- {name}")
        if name in ("c", "n"):
            portion.in_bytes = name == "c"
            portion.from_start = value.startswith("+")
            unit = "bytes" if portion.in_bytes else "lines"
            text = value[1:] if value.startswith("-") else value
            portion.count = number(ctx, text, f"invalid number of {unit}", suffixes=SIZE_SUFFIXES)
    return portion
