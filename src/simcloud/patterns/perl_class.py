"""Bracket expressions of Perl: ``[\\w.-]``, ``[^[:space:]]``, ``[\\Q[]\\E]``."""

from __future__ import annotations

from typing import NamedTuple

from simcloud.patterns.charset import CharSet, posix_class
from simcloud.patterns.errors import RegexError
from simcloud.patterns.perl_escape import MAX_CODE, complement, read_escape, read_octal

MAX_NAME_CHARS = 64

_MISSING = "missing terminating ] for character class"


class _Member(NamedTuple):
    """One character, or a set, which cannot be the end of a range."""

    code: int
    chars: CharSet | None
    end: int


def parse_class(text: str, start: int, *, utf8: bool) -> tuple[CharSet, int]:
    """Parse the text after a ``[``: return the set and the end position."""
    return _ClassParser(text, utf8).parse(start)


def is_posix_name(text: str, position: int) -> bool:
    """Whether ``[:name:]`` (or with dots or equals signs) stands at a position."""
    delimiter = text[position + 1 : position + 2]
    if text[position : position + 1] != "[" or not delimiter or delimiter not in ":.=":
        return False
    end = text.find(delimiter + "]", position + 2, position + MAX_NAME_CHARS)
    return end >= 0 and "]" not in text[position + 2 : end]


class _ClassParser:
    def __init__(self, text: str, utf8: bool) -> None:
        self.text = text
        self.utf8 = utf8
        self.quoting = False

    def parse(self, position: int) -> tuple[CharSet, int]:
        negated = self.text[position : position + 1] == "^"
        position += negated
        ranges: list[tuple[int, int]] = []
        categories: list[str] = []
        first = True
        while True:
            position = self._quotes(position)
            if self._at(position) == "]" and not first and not self.quoting:
                return CharSet(tuple(ranges), tuple(categories), negated), position + 1
            first = False
            member = self._member(position)
            position = self._quotes(member.end)
            if self._is_range(position):
                last = self._member(self._quotes(position + 1))
                position = last.end
                ranges.append(_range(member, last))
            elif member.chars is not None:
                ranges.extend(member.chars.ranges)
                categories.extend(member.chars.categories)
            else:
                ranges.append((member.code, member.code))

    def _at(self, position: int) -> str:
        if position >= len(self.text):
            raise RegexError(_MISSING)
        return self.text[position]

    def _quotes(self, position: int) -> int:
        r"""Step over ``\Q`` and ``\E``."""
        while self.text.startswith("\\E", position) or (
            not self.quoting and self.text.startswith("\\Q", position)
        ):
            self.quoting = self.text[position + 1] == "Q"
            position += 2
        return position

    def _is_range(self, position: int) -> bool:
        return not self.quoting and self._at(position) == "-" and self._at(position + 1) != "]"

    def _member(self, position: int) -> _Member:
        char = self._at(position)
        if not self.quoting and is_posix_name(self.text, position):
            return self._posix(position)
        if char == "\\" and not self.quoting:
            return self._escape(position + 1)
        return _Member(ord(char), None, position + 1)

    def _posix(self, position: int) -> _Member:
        delimiter = self.text[position + 1]
        end = self.text.index(delimiter + "]", position + 2)
        name = self.text[position + 2 : end]
        if delimiter != ":":
            raise RegexError("POSIX collating elements are not supported")
        chars = posix_class(name.removeprefix("^"), utf8=False) if name.removeprefix("^") != "word" else None
        if name.removeprefix("^") == "word":
            word = read_escape("w", 0, utf8=self.utf8)
            chars = word.chars if word else None
        if chars is None:
            raise RegexError("unknown POSIX class name")
        if name.startswith("^"):
            chars = CharSet(complement(chars.ranges, MAX_CODE if self.utf8 else 0xFF))
        return _Member(-1, chars, end + 2)

    def _escape(self, position: int) -> _Member:
        char = self._at(position)
        if char == "b":
            return _Member(8, None, position + 1)
        if char.isascii() and char.isdigit():
            octal = read_octal(self.text, position, 3)
            if octal.end > position:
                return _Member(octal.code or 0, None, octal.end)
            return _Member(ord(char), None, position + 1)
        escape = read_escape(self.text, position, utf8=self.utf8)
        if escape is None:
            known = char in "BRXNKAGZzkgEQ"
            raise RegexError(
                "escape sequence is invalid in character class"
                if known
                else "unrecognized character follows \\"
            )
        return _Member(-1 if escape.code is None else escape.code, escape.chars, escape.end)


def _range(first: _Member, last: _Member) -> tuple[int, int]:
    if first.chars is not None or last.chars is not None:
        raise RegexError("invalid range in character class")
    if first.code > last.code:
        raise RegexError("range out of order in character class")
    return first.code, last.code
