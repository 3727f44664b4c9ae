"""``uniq``: print adjacent duplicate lines once, count or select them."""

from __future__ import annotations

from collections.abc import Callable

from msgspec import Struct

from simcloud.machine.files import FileError
from simcloud.machine.process import Context, Stream
from simcloud.userland.commands.options import Options
from simcloud.userland.commands.text.counts import UINTMAX, parse_number, whole
from simcloud.userland.commands.text.inputs import Inputs
from simcloud.userland.commands.text.quoting import quote_name
from simcloud.userland.commands.text.tool import at_most, fail, misuse, one_of, tool

_GROUP_WORDS = ("prepend", "append", "separate", "both")
_REPEAT_WORDS = ("none", "prepend", "separate")


@tool(
    "uniq",
    options="c,count d,repeated D all-repeated=? f,skip-fields= group=? i,ignore-case s,skip-chars= u,unique "
    "z,zero-terminated w,check-chars= 0 1 2 3 4 5 6 7 8 9",
    usage="[OPTION]... [INPUT [OUTPUT]]",
)
async def uniq(ctx: Context, options: Options) -> int:
    """Write lines that differ from the line before."""
    at_most(ctx, options.operands, 2)
    end = b"\0" if "z" in options else b"\n"
    key = _key(ctx, options)
    style = _style(ctx, options, end)
    inputs = Inputs(ctx, options.operands[:1], cannot_read="error reading {quoted}")
    source = await inputs.open(inputs.operands[0])
    if source is None:
        return 1
    output = await _output(ctx, options.operands[1:])
    previous: bytes | None = None
    async for batch in source.batches(end):
        written: list[bytes] = []
        for raw in batch:
            line = raw.removesuffix(end)
            mark = key(line)
            style.take(line, repeated=mark == previous, out=written)
            previous = mark
        await _write(ctx, output, b"".join(written))
    rest: list[bytes] = []
    style.finish(rest)
    await _write(ctx, output, b"".join(rest))
    return inputs.status


async def _output(ctx: Context, operands: list[str]) -> Stream:
    if not operands or operands[0] == "-":
        return ctx.stdout
    try:
        return await ctx.open(operands[0], read=False, write=True, create=True, truncate=True)
    except FileError as error:
        fail(ctx, f"{quote_name(operands[0])}: {error.strerror}")


async def _write(ctx: Context, output: Stream, data: bytes) -> None:
    ctx.spend_bytes(len(data))
    try:
        await output.write(data)
    except FileError as error:
        fail(ctx, f"write error: {error.strerror}")


def _key(ctx: Context, options: Options) -> Callable[[bytes], bytes]:
    """The function from a line to the part of it that is compared."""

    def count(letter: str, what: str, default: int) -> int:
        value = parse_number(options.last(letter)) if letter in options else default
        if value is None or value < 0:
            fail(ctx, f"{options.last(letter)}: invalid number of {what}")
        return value

    historical = "".join(name for name, _ in options.given if name.isdigit())
    fields = count("f", "fields to skip", whole(historical or "0"))
    skipped = count("s", "bytes to skip", 0)
    compared = count("w", "bytes to compare", UINTMAX)
    fold = "i" in options

    def key(line: bytes) -> bytes:
        at = 0
        for _ in range(min(fields, len(line))):
            at += len(line) - at - len(line[at:].lstrip(b" \t"))
            blank = min(
                (found for found in (line.find(b" ", at), line.find(b"\t", at)) if found >= 0), default=-1
            )
            at = blank if blank >= 0 else len(line)
        part = line[at + skipped :][:compared]
        return part.upper() if fold else part

    return key


class _Groups(Struct):
    """Writes one line per group of equal lines: all groups, or those that repeat, or those that do not."""

    end: bytes
    single: bool = True
    repeats: bool = True
    counted: bool = False
    _line: bytes | None = None
    _count: int = 0

    def take(self, line: bytes, repeated: bool, out: list[bytes]) -> None:
        if repeated and self._line is not None:
            self._count += 1
            return
        self.finish(out)
        self._line, self._count = line, 1
        if self._at_once:
            out.append(line + self.end)

    def finish(self, out: list[bytes]) -> None:
        if self._line is None or self._at_once or not (self.repeats if self._count > 1 else self.single):
            return
        prefix = b"%7d " % self._count if self.counted else b""
        out.append(prefix + self._line + self.end)

    @property
    def _at_once(self) -> bool:
        """Whether a group's line can be written as soon as it is seen."""
        return self.single and self.repeats and not self.counted


class _AllRepeated(Struct):
    """Writes every line of the groups that repeat."""

    end: bytes
    method: str
    _line: bytes | None = None
    _inside: bool = False
    _first: bool = True

    def take(self, line: bytes, repeated: bool, out: list[bytes]) -> None:
        if repeated and self._line is not None:
            if not self._inside:
                gap = self.method == "prepend" or (self.method == "separate" and not self._first)
                out.append((self.end if gap else b"") + self._line + self.end)
                self._inside, self._first = True, False
            out.append(line + self.end)
        else:
            self._inside = False
        self._line = line

    def finish(self, out: list[bytes]) -> None:
        pass


class _Grouped(Struct):
    """Writes everything, with empty lines between groups of equal lines."""

    end: bytes
    method: str
    _any: bool = False

    def take(self, line: bytes, repeated: bool, out: list[bytes]) -> None:
        if (not self._any and self.method in ("prepend", "both")) or (self._any and not repeated):
            out.append(self.end)
        self._any = True
        out.append(line + self.end)

    def finish(self, out: list[bytes]) -> None:
        if self._any and self.method in ("append", "both"):
            out.append(self.end)


def _style(ctx: Context, options: Options, end: bytes) -> _Groups | _AllRepeated | _Grouped:
    if "group" in options:
        if options.any("c", "d", "D", "u", "all-repeated"):
            misuse(ctx, "--group is mutually exclusive with -c/-d/-D/-u")
        word = options.last("group")
        return _Grouped(end, one_of(ctx, "group", word, _GROUP_WORDS) if word else "separate")
    if options.any("D", "all-repeated"):
        if "c" in options:
            misuse(ctx, "printing all duplicated lines and repeat counts is meaningless")
        word = options.last("all-repeated")
        return _AllRepeated(end, one_of(ctx, "all-repeated", word, _REPEAT_WORDS) if word else "none")
    return _Groups(end, single="d" not in options, repeats="u" not in options, counted="c" in options)
