"""du: report the space that files take."""

from __future__ import annotations

from typing import Final

from msgspec import Struct

from simcloud.machine.files import FileError, Stat
from simcloud.machine.process import Context
from simcloud.userland.bash.patterns import compile_pattern
from simcloud.userland.commands.file.names import base_name, complain, join
from simcloud.userland.commands.file.sizes import HUMAN, KIB, SI, BlockSize, block_size
from simcloud.userland.commands.options import Options
from simcloud.userland.commands.system.dates import Moment, format_moment, zone_of
from simcloud.userland.commands.text.counts import parse_number
from simcloud.userland.commands.text.quoting import quote, quote_name_always
from simcloud.userland.commands.text.tool import fail, misuse, tool

NO_LIMIT: Final = 1 << 62


class _Tally(Struct):
    """The totals of a file or folder."""

    size: int = 0
    newest: float = 0.0

    def add(self, other: _Tally) -> None:
        self.size += other.size
        self.newest = max(self.newest, other.newest)


class _Step(Struct):
    """Visit a path, or (``tally`` is set) sum up a folder whose entries were counted."""

    path: str
    level: int
    above: _Tally
    tally: _Tally | None = None
    alone: _Tally | None = None


@tool(
    "du",
    options="0,null a,all apparent-size B,block-size= b,bytes c,total D,dereference-args H d,max-depth= exclude= "
    "X,exclude-from= h,human-readable inodes k L,dereference l,count-links m P,no-dereference S,separate-dirs si "
    "s,summarize t,threshold= time=? time-style= x,one-file-system",
)
async def du(ctx: Context, options: Options) -> int:
    """Sum up the space that folders take, and with -a files."""
    counter = _Counter(ctx, options)
    status = 0
    for path in options.operands or ["."]:
        status = await counter.count(path) or status
    if options.any("c"):
        await counter.tell(counter.total, "total")
    return status


def _depth(ctx: Context, options: Options) -> int:
    if options.any("s") and options.any("a"):
        misuse(ctx, "cannot both summarize and show all entries")
    if not options.any("d"):
        return 0 if options.any("s") else NO_LIMIT
    depth = parse_number(options.last("d"))
    if depth is None or depth < 0:
        misuse(ctx, f"invalid maximum depth {quote(options.last('d'))}")
    if options.any("s") and depth > 0:
        misuse(ctx, f"warning: summarizing conflicts with --max-depth={depth}")
    return depth


def _block(ctx: Context, options: Options) -> BlockSize:
    chosen = KIB
    for option, value in options.given:
        if option == "B":
            block = block_size(value)
            if block is None:
                fail(ctx, f"invalid -B argument {quote(value)}")
            chosen = block
        elif option in ("b", "k", "m", "h", "si"):
            chosen = {"b": BlockSize(1), "k": KIB, "m": BlockSize(1024**2), "h": HUMAN, "si": SI}[option]
    return BlockSize(1, "", chosen.human_base) if options.any("inodes") else chosen


class _Counter:
    def __init__(self, ctx: Context, options: Options) -> None:
        self._ctx = ctx
        self._options = options
        self._depth = _depth(ctx, options)
        self._block = _block(ctx, options)
        self._apparent = options.any("b", "apparent-size")
        self._excluded = [compile_pattern(pattern) for pattern in options.all("exclude")]
        self._least, self._most = _threshold(ctx, options.last("t"))
        self._seen: set[tuple[int, int]] = set()
        self._device = 0
        self._status = 0
        self.total = _Tally()

    async def count(self, path: str) -> int:
        """Count what a word on the command line names; the status."""
        self._status = 0
        steps = [_Step(path, 0, self.total)]
        while steps:
            self._ctx.spend_turn()
            step = steps.pop()
            if step.tally is not None:
                step.above.add(step.tally)
                shown = step.alone if self._options.any("S") and step.alone is not None else step.tally
                await self._show(shown, step.path, step.level)
                continue
            try:
                await self._look(step, steps)
            except FileError as error:
                self._status = await complain(
                    self._ctx, f"cannot access {quote_name_always(step.path)}", error
                )
        return self._status

    async def _look(self, step: _Step, steps: list[_Step]) -> None:
        options = self._options
        if any(p.matches(base_name(step.path)) or p.matches(step.path) for p in self._excluded):
            return
        follow = options.any("L") or (options.any("D", "H") and step.level == 0)
        found = self._ctx.files.stat(step.path, follow)
        if step.level == 0:
            self._device = found.dev
        if options.any("x") and found.dev != self._device:
            return
        if not options.any("l") and (found.nlink > 1 or step.level == 0 or found.is_dir):
            if (found.dev, found.ino) in self._seen:
                return
            self._seen.add((found.dev, found.ino))
        own = _Tally(self._size(found), found.mtime)
        if not found.is_dir:
            step.above.add(own)
            if options.any("a") or step.level == 0:
                await self._show(own, step.path, step.level)
            return
        await self._enter(step, own, steps)

    async def _enter(self, step: _Step, own: _Tally, steps: list[_Step]) -> None:
        alone = _Tally(own.size, own.newest)
        steps.append(_Step(step.path, step.level, step.above, own, alone))
        try:
            names = self._ctx.files.listdir(step.path)
        except FileError as error:
            shown = quote_name_always(step.path)
            self._status = await complain(self._ctx, f"cannot read directory {shown}", error)
            return
        for name in reversed(names):
            path = join(step.path, name)
            steps.append(_Step(path, step.level + 1, own))
            if self._options.any("S") and self._ctx.files.node_kind(path, follow=False) != "directory":
                alone.size += self._size(self._ctx.files.stat(path, follow=False))

    def _size(self, found: Stat) -> int:
        if self._options.any("inodes"):
            return 1
        return found.size if self._apparent else found.blocks * 512

    async def _show(self, tally: _Tally, path: str, level: int) -> None:
        if level <= self._depth and self._least <= tally.size <= self._most:
            await self.tell(tally, path)

    async def tell(self, tally: _Tally, path: str) -> None:
        """One line of output."""
        time = ""
        if self._options.any("time"):
            time = format_moment(Moment.of(tally.newest), "%Y-%m-%d %H:%M", zone_of(self._ctx.env)) + "\t"
        end = "\0" if self._options.any("0") else "\n"
        await self._ctx.out(f"{self._block.show(tally.size)}\t{time}{path}{end}")


def _threshold(ctx: Context, text: str) -> tuple[int, int]:
    """The least and the most that is shown; a negative threshold is a most."""
    if not text:
        return 0, NO_LIMIT
    size = parse_number(text.removeprefix("-"), "bkKmMgGtTPEZY")
    if size is None or size < 0 or text == "-0":
        fail(ctx, f"invalid --threshold argument {quote(text)}")
    return (0, size) if text.startswith("-") else (size, NO_LIMIT)
