"""``split``: one input into several files."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count, product

from simcloud.machine.files import FileError
from simcloud.machine.process import Context, Stream
from simcloud.userland.commands.options import Options
from simcloud.userland.commands.text.counts import SIZE_SUFFIXES, number, whole
from simcloud.userland.commands.text.inputs import Inputs, Source, emit
from simcloud.userland.commands.text.lines.chunks import chunk_ends, parse_chunks
from simcloud.userland.commands.text.quoting import always_quoted_name, quote, quoted_name
from simcloud.userland.commands.text.tool import at_most, fail, historical, misuse, tool

_FILE_TURNS = 10
_ALPHABETS = {"letters": "abcdefghijklmnopqrstuvwxyz", "digits": "0123456789", "hex": "0123456789abcdef"}


@tool(
    "split",
    options="a,suffix-length= additional-suffix= b,bytes= C,line-bytes= d numeric-suffixes=? x hex-suffixes=? "
    "e,elide-empty-files filter= l,lines= n,number= t,separator= u,unbuffered verbose",
    usage="[OPTION]... [FILE [PREFIX]]",
    rewrite=historical("l", "-a", "-b", "-C", "-l", "-n", "-t"),
)
async def split(ctx: Context, options: Options) -> int:
    """Write pieces of a file to files of their own."""
    kinds = [(name, value) for name, value in options.given if name in ("b", "C", "l", "n")]
    if len(kinds) > 1:
        misuse(ctx, "cannot split in more than one way")
    kind, value = kinds[0] if kinds else ("l", "1000")
    names = _names(ctx, options, chunks=parse_chunks(ctx, value).total if kind == "n" else None)
    words = {"b": "bytes", "C": "bytes", "l": "lines"}
    limit = 0
    if kind != "n":
        limit = number(
            ctx, value, f"invalid number of {words[kind]}", low=1, high=2**63, suffixes=SIZE_SUFFIXES
        )
    if "filter" in options:
        fail(ctx, "the --filter option is not supported")
    at_most(ctx, options.operands, 2)
    end = _separator(ctx, options)
    inputs = Inputs(ctx, options.operands[:1], "cannot open {quoted} for reading: {why}")
    source = await inputs.open(inputs.operands[0])
    if source is None:
        return 1
    prefix = options.operands[1] if len(options.operands) > 1 else "x"
    output = _Output(ctx, prefix, names, options)
    if kind == "n":
        await _by_number(ctx, value, source, output, end, "e" in options)
    elif kind == "l":
        await _by_lines(source, output, limit, end)
    elif kind == "b":
        await _by_bytes(source, output, limit)
    else:
        await _by_line_bytes(source, output, limit, end)
    return inputs.status


def _separator(ctx: Context, options: Options) -> bytes:
    text = options.last("t", default="\n")
    end = b"\0" if text == "\\0" else text.encode("utf-8", "surrogateescape")
    if not end:
        fail(ctx, "empty record separator")
    if len(end) > 1:
        fail(ctx, f"multi-character separator {quote(text)}")
    return end


def _names(ctx: Context, options: Options, chunks: int | None) -> Iterator[str]:
    """Suffixes in order: of a fixed length, or growing so that they always sort."""
    alphabet, start = "letters", 0
    for name, value in options.given:
        if name in ("d", "numeric-suffixes", "x", "hex-suffixes"):
            alphabet = "digits" if name in ("d", "numeric-suffixes") else "hex"
            if value:
                base = 16 if alphabet == "hex" else 10
                if not all(digit in _ALPHABETS[alphabet] for digit in value.lower()):
                    word = "hexadecimal" if alphabet == "hex" else "numerical"
                    misuse(ctx, f"{quote(value)}: invalid start value for {word} suffix")
                start = whole(value, base)
    letters = _ALPHABETS[alphabet]
    length = 0
    if "a" in options:
        length = number(ctx, options.last("a"), "invalid suffix length", high=2**31)
    extra = options.last("additional-suffix")
    if "/" in extra:
        misuse(ctx, f"invalid suffix {quote(extra)}, contains directory separator")
    ctx.spend_bytes(length)
    if chunks is not None or start:
        needed = len(_digits(chunks + start - 1 if chunks else start, letters))
        if length and chunks is not None and length < needed:
            fail(ctx, f"the suffix length needs to be at least {needed}")
        width = length or max(2, needed)
        return (
            _digits(value, letters).rjust(width, letters[0]) + extra
            for value in range(start, len(letters) ** width)
        )
    if length:
        return ("".join(word) + extra for word in product(letters, repeat=length))
    return (word + extra for word in _growing(letters))


def _digits(value: int, letters: str) -> str:
    shown = ""
    while True:
        shown = letters[value % len(letters)] + shown
        value //= len(letters)
        if value == 0:
            return shown


def _growing(letters: str) -> Iterator[str]:
    """aa … yz, zaaa … zyzz, zzaaaa …: what begins with the last letter is longer by two."""
    for step in count():
        lead = letters[-1] * step
        for first in letters[:-1]:
            for rest in product(letters, repeat=1 + step):
                yield lead + first + "".join(rest)


class _Output:
    """The file being written; ``begin`` goes on to the next."""

    def __init__(self, ctx: Context, prefix: str, names: Iterator[str], options: Options) -> None:
        self.ctx = ctx
        self._prefix = prefix
        self._names = names
        self._verbose = "verbose" in options
        self._stream: Stream | None = None

    async def begin(self) -> None:
        self.end()
        suffix = next(self._names, None)
        if suffix is None:
            fail(self.ctx, "output file suffixes exhausted")
        name = self._prefix + suffix
        if self._verbose:
            await self.ctx.out(f"creating file {always_quoted_name(name)}\n")
        self.ctx.spend_turn(_FILE_TURNS)
        try:
            self._stream = await self.ctx.open(name, read=False, write=True, create=True, truncate=True)
        except FileError as error:
            fail(self.ctx, f"{quoted_name(name)}: {error.strerror}")

    async def write(self, data: bytes) -> None:
        if self._stream is not None:
            await self._stream.write(data)

    def end(self) -> None:
        if self._stream is not None:
            self._stream.close()
            self._stream = None


async def _by_lines(source: Source, output: _Output, limit: int, end: bytes) -> None:
    left = 0
    async for batch in source.batches(end):
        at = 0
        while at < len(batch):
            if left == 0:
                await output.begin()
                left = limit
            taken = batch[at : at + left]
            await output.write(b"".join(taken))
            at += len(taken)
            left -= len(taken)
    output.end()


async def _by_bytes(source: Source, output: _Output, limit: int) -> None:
    left = 0
    async for piece in source.pieces():
        at = 0
        while at < len(piece):
            if left == 0:
                await output.begin()
                left = limit
            taken = piece[at : at + left]
            await output.write(taken)
            at += len(taken)
            left -= len(taken)
    output.end()


async def _by_line_bytes(source: Source, output: _Output, limit: int, end: bytes) -> None:
    """As many whole lines as fit; a line that is too long alone is divided."""
    left = 0
    async for line in source.lines(end):
        rest = line
        while rest:
            if left == 0 or (len(rest) > left and left < limit):
                await output.begin()
                left = limit
            taken = rest[:left]
            await output.write(taken)
            rest = rest[len(taken) :]
            left -= len(taken)
    output.end()


async def _by_number(
    ctx: Context, text: str, source: Source, output: _Output, end: bytes, skip_empty: bool
) -> None:
    chunks = parse_chunks(ctx, text)
    data = await source.read_all()
    parts: list[bytes] = []
    if chunks.kind == "r":
        lines = data.split(end)
        lines = [line + end for line in lines[:-1]] + ([lines[-1]] if lines[-1] else [])
        parts = [b"".join(lines[number :: chunks.total]) for number in range(chunks.total)]
    else:
        start = 0
        for stop in chunk_ends(data, chunks.total, end if chunks.kind == "l" else b""):
            parts.append(data[start:stop])
            start = stop
    if chunks.chosen:
        await emit(ctx, parts[chunks.chosen - 1])
        return
    for part in parts:
        if part or not skip_empty:
            await output.begin()
            await output.write(part)
    output.end()
