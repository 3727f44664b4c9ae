"""Splits a stream of bytes into records at RS, while they arrive.

A separator splits the data so far into complete records and a rest, which waits for more bytes. Data that is still
unread when RS changes is split again.
"""

from __future__ import annotations

import codecs
from collections.abc import Callable
from typing import NamedTuple, Protocol

from simcloud.machine.process import Stream
from simcloud.userland.awk.locale import Locale
from simcloud.userland.awk.patterns import compile_pattern


class Cut(NamedTuple):
    """Complete records, the terminator of each, and the text after the last."""

    records: list[str]
    terminators: list[str]
    rest: str


class Separator(Protocol):
    """Separates records. ``char`` is set if it is a single character."""

    @property
    def char(self) -> str | None:
        """The character."""

    def cut(self, text: str, final: bool) -> Cut:
        """Cut off the whole records; when ``final``, the rest is a record too."""


class CharSeparator:
    """One character, usually the newline."""

    def __init__(self, char: str) -> None:
        self.char = char

    def cut(self, text: str, final: bool) -> Cut:
        """Cut off the whole records; when ``final``, the rest is a record too."""
        records = text.split(self.char)
        rest = records.pop()
        terminators = [self.char] * len(records)
        if final and rest:
            records.append(rest)
            terminators.append("")
            rest = ""
        return Cut(records, terminators, rest)


class ParagraphSeparator:
    """For an empty RS: blank lines separate records; those at the beginning and the end are ignored."""

    char = None

    def cut(self, text: str, final: bool) -> Cut:
        """Cut off the whole records; when ``final``, the rest is a record too."""
        records: list[str] = []
        terminators: list[str] = []
        position = _skip_newlines(text, 0)
        while (end := text.find("\n\n", position)) >= 0:
            following = _skip_newlines(text, end)
            if following == len(text) and not final:
                break
            records.append(text[position:end])
            terminators.append(text[end:following])
            position = following
        rest = text[position:]
        if final and rest:
            record = rest.removesuffix("\n")
            records.append(record)
            terminators.append(rest[len(record) :])
            rest = ""
        return Cut(records, terminators, rest)


def _skip_newlines(text: str, position: int) -> int:
    while text.startswith("\n", position):
        position += 1
    return position


class PatternSeparator:
    """A regular expression. A match at the end of the data may grow, so it waits for more data."""

    def __init__(self, source: str, locale: Locale, *, ignore_case: bool) -> None:
        self._pattern = compile_pattern(source, locale, ignore_case)

    char = None

    def cut(self, text: str, final: bool) -> Cut:
        """Cut off the whole records; when ``final``, the rest is a record too."""
        records: list[str] = []
        terminators: list[str] = []
        position = 0
        may_grow = self._pattern.literal is None
        for begin, end in self._pattern.matches(text):
            if end == begin:
                continue
            if end == len(text) and may_grow and not final:
                break
            records.append(text[position:begin])
            terminators.append(text[begin:end])
            position = end
        rest = text[position:]
        if final and rest:
            records.append(rest)
            terminators.append("")
            rest = ""
        return Cut(records, terminators, rest)


def separator_for(value: str, locale: Locale, *, ignore_case: bool) -> Separator:
    """Return the separator for a value of RS."""
    if value == "":
        return ParagraphSeparator()
    if len(value) == 1:
        return CharSeparator(value)
    return PatternSeparator(value, locale, ignore_case=ignore_case)


class RecordReader:
    """Reads records from one stream. Calls ``pay`` for buffered text that does not complete a record yet."""

    def __init__(
        self, stream: Stream, separator: Separator, locale: Locale, pay: Callable[[int], None]
    ) -> None:
        self.stream = stream
        self._separator = separator
        self._decoder = codecs.getincrementaldecoder(locale.encoding)("surrogateescape")
        self._pay = pay
        self._records: list[str] = []
        self._terminators: list[str] = []
        self._next = 0
        self._rest: list[str] = []
        self._ended = False

    def pop(self) -> str | None:
        """The next record if it is there already."""
        position = self._next
        if position >= len(self._records):
            return None
        self._next = position + 1
        return self._records[position]

    @property
    def terminator(self) -> str:
        """The terminator of the last record."""
        return self._terminators[self._next - 1] if self._next else ""

    async def fill(self) -> bool:
        """Read until there is a record; False at the end.

        Looking for a pattern begins at the last record's end, so in a long record it is done only
        each time the text has doubled.
        """
        held = sum(map(len, self._rest))
        grown = 0
        char = self._separator.char
        while not self._ended:
            data = await self.stream.read()
            self._ended = not data
            piece = self._decoder.decode(data, self._ended)
            self._rest.append(piece)
            grown += len(piece)
            if self._ended or (grown >= held if char is None else char in piece):
                self._cut()
                if self._records:
                    return True
                held, grown = held + grown, 0
            self._pay(len(piece))
        return False

    def change(self, separator: Separator) -> None:
        """Go on with another separator: what was read and not yet taken is cut anew."""
        self._separator = separator
        unread = [
            record + terminator
            for record, terminator in zip(
                self._records[self._next :], self._terminators[self._next :], strict=True
            )
        ]
        self._rest = ["".join(unread) + "".join(self._rest)]
        self._cut()

    def _cut(self) -> None:
        self._records, self._terminators, rest = self._separator.cut("".join(self._rest), self._ended)
        self._rest = [rest] if rest else []
        self._next = 0
