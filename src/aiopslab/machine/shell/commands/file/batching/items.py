"""Cutting the input of xargs into arguments, as it arrives."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Final, NamedTuple

from aiopslab.machine.process import Context, Stream
from aiopslab.machine.shell.commands.records import RecordCutter, read_chunk

BLANKS: Final = b" \t"
QUOTES: Final = {ord("'"): "single", ord('"'): "double"}
BACKSLASH: Final = ord("\\")
NEWLINE: Final = ord("\n")


class Item(NamedTuple):
    """An argument; ``ends_line`` tells whether a line (that no blank continues) ends with it."""

    text: str
    ends_line: bool = False


class UnmatchedQuote(Exception):
    """The input has a quote that is not closed on its line; the text is its kind."""


def _text(data: bytes | bytearray) -> str:
    return bytes(data).decode("utf-8", "surrogateescape")


async def separated(ctx: Context, stream: Stream, separator: bytes) -> AsyncIterator[Item]:
    """What stands between separators, as it is."""
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
            item = _unquoted(line.lstrip(BLANKS))
            if item:
                yield Item(_text(item), ends_line=True)


def _unquoted(line: bytes) -> bytes:
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
    ended = False
    while not ended:
        data = await read_chunk(ctx, stream)
        ended = not data
        words.feed(data) if data else words.finish()
        for item in words.ready:
            if end_word and item.text == end_word:
                return
            yield item
        words.ready.clear()
        if words.broken:
            raise UnmatchedQuote(words.broken)


class _Words:
    """Takes bytes in any pieces; finished words gather in ``ready``."""

    def __init__(self) -> None:
        self.ready: list[Item] = []
        self.broken = ""
        self._word = bytearray()
        self._inside = False
        self._quote = 0
        self._escaped = False
        self._after_blank = False

    def feed(self, data: bytes) -> None:
        for byte in data:
            if self.broken:
                return
            self._take(byte)

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
        elif self._escaped:
            self._word.append(byte)
            self._escaped = False
        elif byte in QUOTES:
            self._quote, self._inside = byte, True
        elif byte == BACKSLASH:
            self._escaped = self._inside = True
        elif byte == NEWLINE:
            self._end_line()
        elif byte in BLANKS:
            if self._inside:
                self._end_word(ends_line=False)
            self._after_blank = True
        else:
            self._word.append(byte)
            self._inside, self._after_blank = True, False

    def _end_line(self) -> None:
        if self._inside:
            self._end_word(ends_line=True)
        self._after_blank = False

    def _end_word(self, ends_line: bool) -> None:
        self.ready.append(Item(_text(self._word), ends_line))
        self._word = bytearray()
        self._inside = False
