"""Backslash escapes in Perl expressions: characters, classes and properties.

As in ``grep -P`` of Debian 12, ``\\d``, ``\\w`` and ``\\s`` know ASCII only. Properties are Unicode's general
categories (``\\p{Lu}``); scripts (``\\p{Greek}``) are not known.
"""

from __future__ import annotations

import unicodedata
from functools import lru_cache
from typing import NamedTuple

from simcloud.patterns.charset import CharSet, Ranges, space_set, word_set
from simcloud.patterns.errors import RegexError

MAX_CODE = 0x10FFFF

_SINGLE = {"a": 7, "e": 27, "f": 12, "n": 10, "r": 13, "t": 9}
_HORIZONTAL: Ranges = (
    (0x09, 0x09), (0x20, 0x20), (0xA0, 0xA0), (0x1680, 0x1680), (0x180E, 0x180E),
    (0x2000, 0x200A), (0x202F, 0x202F), (0x205F, 0x205F), (0x3000, 0x3000),
)  # fmt: skip
_VERTICAL: Ranges = ((0x0A, 0x0D), (0x85, 0x85), (0x2028, 0x2029))
_CLASSES: dict[str, CharSet] = {
    "d": CharSet(((0x30, 0x39),)),
    "w": word_set(utf8=False),
    "s": space_set(utf8=False),
    "h": CharSet(_HORIZONTAL),
    "v": CharSet(_VERTICAL),
}


class Escape(NamedTuple):
    """The escaped character or set, and the end position."""

    code: int | None
    chars: CharSet | None
    end: int


def complement(ranges: Ranges, last: int = MAX_CODE) -> Ranges:
    """All code points outside the ranges."""
    result: list[tuple[int, int]] = []
    expected = 0
    for low, high in sorted(ranges):
        if low > expected:
            result.append((expected, low - 1))
        expected = max(expected, high + 1)
    if expected <= last:
        result.append((expected, last))
    return tuple(result)


def read_escape(text: str, position: int, *, utf8: bool) -> Escape | None:
    """Read what follows a backslash at ``position``; None if it is no character and no class."""
    char = text[position]
    following = position + 1
    if not char.isascii() or not char.isalnum():
        return Escape(ord(char), None, following)
    if char in _SINGLE:
        return Escape(_SINGLE[char], None, following)
    if char.lower() in _CLASSES:
        return Escape(None, _class(char, utf8), following)
    if char in "pP":
        return _property(text, following, negated=char == "P")
    if char == "x":
        return _hexadecimal(text, following, utf8)
    if char == "o":
        if text[following : following + 1] != "{":
            raise RegexError("missing opening brace after \\o")
        return _read_braced_code(text, following + 1, 8, utf8)
    if char == "c":
        return _control(text, following)
    if char in "FLlUu":
        raise RegexError("PCRE2 does not support \\F, \\L, \\l, \\N{name}, \\U, or \\u")
    return None


def _class(char: str, utf8: bool) -> CharSet:
    chars = _CLASSES[char.lower()]
    last = MAX_CODE if utf8 else 0xFF
    ranges = tuple((low, min(high, last)) for low, high in chars.ranges if low <= last)
    return CharSet(ranges if char.islower() else complement(ranges, last))


def read_octal(text: str, position: int, limit: int) -> Escape:
    """Up to ``limit`` octal digits."""
    end = position
    while end < len(text) and end - position < limit and text[end] in "01234567":
        end += 1
    return Escape(int(text[position:end] or "0", 8), None, end)


def _hexadecimal(text: str, position: int, utf8: bool) -> Escape:
    if text[position : position + 1] == "{":
        return _read_braced_code(text, position + 1, 16, utf8)
    end = position
    while end < len(text) and end - position < 2 and text[end] in "0123456789abcdefABCDEF":
        end += 1
    return Escape(int(text[position:end] or "0", 16), None, end)


def _read_braced_code(text: str, position: int, base: int, utf8: bool) -> Escape:
    digits, closed, _ = text[position:].partition("}")
    if not digits:
        raise RegexError("digits missing in \\x{} or \\o{} or \\N{U+}")
    allowed = "0123456789abcdefABCDEF" if base == 16 else "01234567"
    if not closed or any(digit not in allowed for digit in digits):
        name = "non-hex character in \\x{}" if base == 16 else "non-octal character in \\o{}"
        raise RegexError(f"{name} (closing brace missing?)")
    code = int(digits, base)
    if code > (MAX_CODE if utf8 else 0xFF):
        raise RegexError("character code point value in \\x{} or \\o{} is too large")
    return Escape(code, None, position + len(digits) + 1)


def _control(text: str, position: int) -> Escape:
    char = text[position : position + 1]
    if not char:
        raise RegexError("\\c at end of pattern")
    if not 0x20 <= ord(char) <= 0x7E:
        raise RegexError("\\c must be followed by a printable ASCII character")
    return Escape(ord(char.upper()) ^ 64, None, position + 1)


def _property(text: str, position: int, *, negated: bool) -> Escape:
    if text[position : position + 1] == "{":
        name, closed, _ = text[position + 1 :].partition("}")
        end = position + len(name) + 2
    else:
        name, closed = text[position : position + 1], "}"
        end = position + 1
    if not name or not closed:
        raise RegexError("malformed \\P or \\p sequence")
    if name[0] == "^":
        negated, name = not negated, name[1:]
    if name == "Any":
        return Escape(None, CharSet(() if negated else ((0, MAX_CODE),)), end)
    if name not in _categories():
        raise RegexError("unknown property after \\P or \\p")
    return Escape(None, CharSet(categories=(f"^{name}" if negated else name,)), end)


@lru_cache(maxsize=1)
def _categories() -> frozenset[str]:
    full = {unicodedata.category(chr(code)) for code in range(0x3000)} | {"Cs", "Co", "Cn"}
    return frozenset(full | {name[0] for name in full})
