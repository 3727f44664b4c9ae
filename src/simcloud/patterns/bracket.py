"""Bracket expressions: ``[a-z]``, ``[^[:space:]]``, ``[[.-.]]``, ``[[=a=]]``."""

from __future__ import annotations

from typing import NamedTuple

from simcloud.patterns.charset import CharSet, posix_class
from simcloud.patterns.errors import RegexError

_UNMATCHED = "Unmatched [, [^, [:, [., or [="
_AWK_ESCAPES = {"a": "\a", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v"}


class Bracket(NamedTuple):
    """The set, the end position, and whether ``[:space:]`` was written for ``[[:space:]]``."""

    chars: CharSet
    end: int
    suspicious: bool


class _Element(NamedTuple):
    """One member: a character that may begin or end a range, or a whole class."""

    char: str
    chars: CharSet | None
    end: int


def parse_bracket(text: str, start: int, *, fold: bool, utf8: bool, escapes: bool) -> Bracket:
    """Parse what follows a ``[``. ``escapes`` lets a backslash quote inside, as awk does."""
    return _BracketParser(text, fold, utf8, escapes).parse(start)


class _BracketParser:
    def __init__(self, text: str, fold: bool, utf8: bool, escapes: bool) -> None:
        self.text = text
        self.fold = fold
        self.utf8 = utf8
        self.escapes = escapes

    def parse(self, start: int) -> Bracket:
        position = start
        negated = self.text[position : position + 1] == "^"
        position += negated
        if position >= len(self.text):
            raise RegexError("Invalid regular expression" if not self.escapes else _UNMATCHED)
        first = position
        plain = True
        ranges: list[tuple[int, int]] = []
        categories: list[str] = []
        while position == first or self._at(position) != "]":
            element = self._element(position, first_round=position == first)
            position = element.end
            if element.chars is not None:
                plain = False
                ranges.extend(element.chars.ranges)
                categories.extend(element.chars.categories)
            elif self._at(position) == "-" and self._at(position + 1) != "]":
                plain = False
                last = self._element(position + 1, first_round=True)
                position = last.end
                ranges.append(_range(element, last))
            else:
                ranges.append((ord(element.char), ord(element.char)))
            if self._at(position) == "-" and element.chars is not None and self._at(position + 1) != "]":
                raise RegexError("Invalid range end")
        content = self.text[first:position]
        suspicious = plain and len(content) > 2 and content[0] == content[-1] == ":" and set(content) != {":"}
        return Bracket(CharSet(tuple(ranges), tuple(categories), negated), position + 1, suspicious)

    def _at(self, position: int) -> str:
        if position >= len(self.text):
            raise RegexError(_UNMATCHED)
        return self.text[position]

    def _element(self, position: int, *, first_round: bool) -> _Element:
        char = self._at(position)
        following = self.text[position + 1 : position + 2]
        if char == "[" and following and following in ".=:":
            return self._symbol(position + 2, following)
        if char == "\\" and self.escapes and following:
            return _Element(_AWK_ESCAPES.get(following, following), None, position + 2)
        if char == "-" and not first_round and self._at(position + 1) != "]":
            raise RegexError("Invalid range end")
        return _Element(char, None, position + 1)

    def _symbol(self, position: int, delimiter: str) -> _Element:
        end = self.text.find(delimiter + "]", position)
        if end < 0:
            raise RegexError(_UNMATCHED)
        name = self.text[position:end]
        if delimiter != ":":
            if len(name) != 1:
                raise RegexError("Invalid collation character")
            only = CharSet(((ord(name), ord(name)),))
            return _Element(name, only if delimiter == "=" else None, end + 2)
        if self.fold and name in ("upper", "lower"):
            name = "alpha"
        chars = posix_class(name, utf8=self.utf8)
        if chars is None:
            raise RegexError("Invalid character class name")
        return _Element("", chars, end + 2)


def _range(first: _Element, last: _Element) -> tuple[int, int]:
    if last.chars is not None or ord(first.char) > ord(last.char):
        raise RegexError("Invalid range end")
    return ord(first.char), ord(last.char)
