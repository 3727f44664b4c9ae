"""Splits the input of xargs into arguments as it arrives."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from typing import Final, NamedTuple

from simcloud.machine.process import Context, Stream
from simcloud.userland.commands.records import RecordCutter, read_chunk

BLANKS: Final = b" \t"
QUOTES: Final = {ord("'"): "single", ord('"'): "double"}
BACKSLASH: Final = ord("\\")
NEWLINE: Final = ord("\n")
SPECIAL: Final = re.compile(rb"""[ \t\n'"\\]""")
GAP: Final = re.compile(rb"[ \t\n]+")
MAX_LINE_BYTES: Final = 128 * 1024
"""Maximum length of a command line."""

NUL_WARNING: Final = (
    "WARNING: a NUL character occurred in the input.  It cannot be passed through in the argument list.  "
    "Did you mean to use the --null option?"
)


class Item(NamedTuple):
    """An argument; ``ends_line`` is true for the last one of a line (that no blank continues)."""

    text: str
    ends_line: bool = False


class TooLong(Exception):
    """One argument is longer than the maximum command line."""


class UnmatchedQuote(Exception):
    """A quote is not closed on its line; the text is its kind."""


def _text(data: bytes | bytearray) -> str:
    return bytes(data).decode("utf-8", "surrogateescape")


async def split_at(ctx: Context, stream: Stream, separator: bytes) -> AsyncIterator[Item]:
    """Yield the items between separators, unchanged."""
    cutter = RecordCutter(separator)
    while data := await read_chunk(ctx, stream):
        for record in cutter.cut(data):
            yield Item(_text(record), ends_line=True)
    rest = cutter.last()
    if rest is not None:
        yield Item(_text(rest), ends_line=True)


async def whole_lines(ctx: Context, stream: Stream) -> AsyncIterator[Item]:
    """Lines without the blanks they begin with and without quotes; empty ones do not count."""
    cutter = RecordCutter(b"\n")
    ended = False
    while not ended:
        data = await read_chunk(ctx, stream)
        ended = not data
        last = cutter.last() if ended else None
        for line in cutter.cut(data) if data else [last] if last is not None else []:
            item = _unquote(line.lstrip(BLANKS))
            if item:
                yield Item(_text(item), ends_line=True)


def _unquote(line: bytes) -> bytes:
    """A line with its quotes and backslashes taken away, blanks kept."""
    out, at = bytearray(), 0
    while at < len(line):
        byte = line[at]
        if byte in QUOTES:
            end = line.find(bytes([byte]), at + 1)
            if end < 0:
                raise UnmatchedQuote(QUOTES[byte])
            out += line[at + 1 : end]
            at = end + 1
        elif byte == BACKSLASH and at + 1 < len(line):
            out.append(line[at + 1])
            at += 2
        else:
            out.append(byte)
            at += 1
    return bytes(out)


async def blank_separated(ctx: Context, stream: Stream, end_word: str) -> AsyncIterator[Item]:
    """Words between blanks and newlines, with quotes and backslashes; ``end_word`` ends the input."""
    words = _Words()
    ended = warned = False
    while not ended:
        data = await read_chunk(ctx, stream)
        ended = not data
        if b"\0" in data and not warned:
            warned = True
            await ctx.err(f"{ctx.args[0]}: {NUL_WARNING}\n")
        words.feed(data) if data else words.finish()
        for item in words.ready:
            if end_word and item.text == end_word:
                return
            yield item
        words.ready.clear()
        if words.broken:
            raise UnmatchedQuote(words.broken)


class _Words:
    """Splits bytes into words; complete words are in ``ready``."""

    def __init__(self) -> None:
        self.ready: list[Item] = []
        self.broken = ""
        self._word = bytearray()
        self._inside = False
        self._quote = 0
        self._escaped = False

    def feed(self, data: bytes) -> None:
        """Take what has arrived: runs of plain bytes at once, the others one by one."""
        at = 0
        while at < len(data) and not self.broken:
            end = at
            if not self._quote and not self._escaped:
                special = SPECIAL.search(data, at)
                end = special.start() if special is not None else len(data)
                gap = GAP.match(data, at) if not self._inside else None
                if gap is not None:
                    at = gap.end()
                    continue
            if end > at:
                self._word += data[at:end]
                self._inside = True
                self._check_length()
                at = end
            else:
                self._take(data[at])
                at += 1

    def finish(self) -> None:
        """The input is over."""
        if self._quote:
            self.broken = QUOTES[self._quote]
        elif self._inside:
            self._end_word(ends_line=True)

    def _take(self, byte: int) -> None:
        if self._quote:
            if byte == self._quote:
                self._quote = 0
            elif byte == NEWLINE:
                self.broken = QUOTES[self._quote]
            else:
                self._word.append(byte)
                self._check_length()
        elif self._escaped:
            self._word.append(byte)
            self._escaped = False
        elif byte in QUOTES:
            self._quote, self._inside = byte, True
        elif byte == BACKSLASH:
            self._escaped = self._inside = True
        elif self._inside:
            self._end_word(ends_line=byte == NEWLINE)

    def _check_length(self) -> None:
        if len(self._word) > MAX_LINE_BYTES:
            raise TooLong

    def _end_word(self, ends_line: bool) -> None:
        self.ready.append(Item(_text(self._word).partition("\0")[0], ends_line))
        self._word = bytearray()
        self._inside = False
