"""Compares two files according to the options of ``diff``."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator
from datetime import UTC, datetime, timedelta

from msgspec import Struct

from simcloud.machine.files import FileError
from simcloud.machine.process import Context, FileStream, Stream
from simcloud.patterns import RegexError, TooMuchWorkError, compile_regex
from simcloud.userland.commands.options import Options
from simcloud.userland.commands.text.counts import parse_number, whole
from simcloud.userland.commands.text.diffs.cmp import refuse
from simcloud.userland.commands.text.diffs.formats import (
    Pair,
    format_context,
    format_normal,
    format_unified,
    function_heading,
)
from simcloud.userland.commands.text.diffs.script import Change, Likeness, find_changes, split_lines
from simcloud.userland.commands.text.inputs import emit
from simcloud.userland.commands.text.quoting import quote_name

TROUBLE = 2
_BINARY_CHECK_BYTES = 4096
_OUTPUT_BATCH = 500
_STYLES = {
    "normal": "normal",
    "c": "context",
    "C": "context",
    "context": "context",
    "u": "unified",
    "U": "unified",
    "unified": "unified",
}


class _File(Struct):
    """A file's name, data and the time in its heading."""

    name: str
    data: bytes
    mtime: float


class Comparison:
    """Compares pairs of files with one set of options."""

    def __init__(self, ctx: Context, options: Options) -> None:
        self.ctx = ctx
        self.options = options
        self.style, self._context = _style(ctx, options)
        self._likeness = Likeness(
            ignore_case="i" in options,
            spaces="".join(letter for letter in "wbEZ" if letter in options),
            strip_cr="strip-trailing-cr" in options,
            blank_lines="B" in options,
            unimportant=[_matcher(ctx, pattern) for pattern in options.all("I")],
        )

    async def files(self, one: str, two: str, title: str = "") -> int:
        """Compare two files and show how they differ; 0 if they do not."""
        files = [await self._read(one, two), await self._read(two, one)]
        left, right = files
        if left is None or right is None:
            return TROUBLE
        if left.data == right.data:
            return await self._identical(one, two)
        binary = (
            any(b"\0" in file.data[:_BINARY_CHECK_BYTES] for file in (left, right))
            and "a" not in self.options
        )
        if binary:
            brief = "Files" if "q" in self.options else "Binary files"
            await self.ctx.out(f"{brief} {one} and {two} differ\n")
            return 1
        changes = self._changes(left, right)
        if all(change.ignorable for change in changes):
            return await self._identical(one, two)
        if "q" in self.options:
            await self.ctx.out(f"Files {one} and {two} differ\n")
            return 1
        await self._show(left, right, changes, title)
        return 1

    async def _read(self, name: str, other: str) -> _File | None:
        ctx = self.ctx
        try:
            stream = ctx.stdin if name == "-" else await ctx.open(name)
            data = b"".join([piece async for piece in _pieces(ctx, stream)])
            mtime = stream.file.stat().mtime if isinstance(stream, FileStream) else ctx.now
            if name != "-":
                stream.close()
            return _File(name, data, mtime)
        except FileError as error:
            absent = error.code == "ENOENT" and other != "-"
            if absent and "N" in self.options and ctx.files.exists(other):
                return _File(name, b"", 0.0)
            if absent and "unidirectional-new-file" in self.options and name == self.options.operands[0]:
                return _File(name, b"", 0.0)
            await ctx.err(f"{ctx.args[0]}: {quote_name(name)}: {error.strerror}\n")
            return None

    async def _identical(self, one: str, two: str) -> int:
        if "s" in self.options:
            await self.ctx.out(f"Files {one} and {two} are identical\n")
        return 0

    def _lines(self, file: _File) -> list[bytes]:
        data = file.data.replace(b"\r\n", b"\n") if self._likeness.strip_cr else file.data
        return split_lines(data)

    def _changes(self, one: _File, two: _File) -> list[Change]:
        horizon = self._context if self.style in ("unified", "context") else 0
        given = parse_number(self.options.last("horizon-lines", default="0")) or 0
        return find_changes(
            self._lines(one),
            self._lines(two),
            self._likeness,
            max(horizon, given),
            "d" in self.options,
            self.ctx.spend_turn,
        )

    async def _show(self, one: _File, two: _File, changes: list[Change], title: str) -> None:
        await self.ctx.out(title)
        batch: list[bytes] = []
        for piece in self._output(one, two, changes):
            batch.append(piece)
            if len(batch) == _OUTPUT_BATCH:
                await emit(self.ctx, b"".join(batch))
                batch = []
        await emit(self.ctx, b"".join(batch))

    def _output(self, one: _File, two: _File, changes: list[Change]) -> Iterator[bytes]:
        left, right = self._lines(one), self._lines(two)
        pair = Pair(left, right, expand_tabs="t" in self.options, tab_after_mark="T" in self.options)
        if self.style == "normal":
            yield from format_normal(pair, changes)
            return
        marks = (b"---", b"+++") if self.style == "unified" else (b"***", b"---")
        for number, file in enumerate((one, two)):
            yield marks[number] + b" " + self._heading(file, number) + b"\n"
        heading: Callable[[int], bytes] = (
            function_heading(left) if "p" in self.options else lambda _first: b""
        )
        form = format_unified if self.style == "unified" else format_context
        yield from form(pair, changes, self._context, heading)

    def _heading(self, file: _File, number: int) -> bytes:
        labels = self.options.all("L")
        if number < len(labels):
            return labels[number].encode("utf-8", "surrogateescape")
        shown = timestamp(file.mtime) if self.style == "unified" else _old_timestamp(file.mtime)
        return f"{file.name}\t{shown}".encode("utf-8", "surrogateescape")


async def _pieces(ctx: Context, stream: Stream) -> AsyncIterator[bytes]:
    while piece := await stream.read():
        ctx.spend_bytes(len(piece))
        yield piece


def timestamp(seconds: float) -> str:
    """A file's time as unified headings show it, in UTC."""
    nanoseconds = round((seconds - seconds // 1) * 1e9)
    return f"{_moment(seconds):%Y-%m-%d %H:%M:%S}.{nanoseconds:09} +0000"


def _old_timestamp(seconds: float) -> str:
    moment = _moment(seconds)
    return f"{moment:%a %b} {moment.day:2} {moment:%H:%M:%S %Y}"


def _moment(seconds: float) -> datetime:
    return datetime(1970, 1, 1, tzinfo=UTC) + timedelta(seconds=int(seconds // 1))


def _style(ctx: Context, options: Options) -> tuple[str, int]:
    """The output style and how many lines of context it has."""
    styles: list[str] = []
    context = 0
    for name, value in options.given:
        if name not in _STYLES:
            continue
        styles.append(_STYLES[name])
        if _STYLES[name] in ("context", "unified"):
            lines = parse_number(value) if value else 3
            if lines is None or lines < 0:
                refuse(ctx, f"invalid context length '{value}'")
            context = max(context, lines)
    historical = "".join(name for name, _ in options.given if name.isdigit())
    context = whole(historical) if historical and styles else context
    if len(set(styles)) > 1:
        refuse(ctx, "conflicting output style options")
    if not styles and "p" in options:
        return "context", 3
    return (styles[0] if styles else "normal"), context


def _matcher(ctx: Context, pattern: str) -> Callable[[bytes], bool]:
    try:
        regex = compile_regex(pattern.encode("utf-8", "surrogateescape"), "basic", utf8=False)
    except RegexError as error:
        refuse(ctx, f"{pattern}: {error}")

    def matches(line: bytes) -> bool:
        try:
            return regex.search(line) is not None
        except TooMuchWorkError:
            return False

    return matches
