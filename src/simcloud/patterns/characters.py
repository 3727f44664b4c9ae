"""Characters in lines of bytes, in UTF-8 or in the C locale.

In UTF-8 a byte outside of any valid character is not a character: no pattern matches it, and it is
not part of a word.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

from simcloud.patterns.charset import word_set

NONE = -1


def is_utf8_locale(env: Mapping[str, str]) -> bool:
    """Whether the environment selects UTF-8; the default is the C locale."""
    locale = env.get("LC_ALL") or env.get("LC_CTYPE") or env.get("LANG") or ""
    codeset = locale.partition("@")[0].rpartition(".")[2]
    return codeset.lower().replace("-", "") == "utf8"


def char_at(line: bytes, position: int, *, utf8: bool) -> tuple[int, int]:
    """The character that begins at a position and its width, or NONE and 0."""
    if position >= len(line):
        return NONE, 0
    first = line[position]
    if first < 0x80 or not utf8:
        return first, 1
    width = 2 if first < 0xE0 else 3 if first < 0xF0 else 4
    try:
        return ord(line[position : position + width].decode("utf-8")), width
    except (UnicodeDecodeError, TypeError):
        return NONE, 0


def char_before(line: bytes, position: int, *, utf8: bool) -> tuple[int, int]:
    """The character that ends at a position and its width, or NONE and 0."""
    if position <= 0:
        return NONE, 0
    last = line[position - 1]
    if last < 0x80 or not utf8:
        return last, 1
    for width in (2, 3, 4):
        if position >= width:
            code, found = char_at(line, position - width, utf8=True)
            if found == width:
                return code, width
    return NONE, 0


@lru_cache(maxsize=4096)
def is_word(code: int, utf8: bool) -> bool:
    """Whether a character is part of a word; NONE is not."""
    return code >= 0 and word_set(utf8=utf8).contains(code)


def is_word_after(line: bytes, position: int, *, utf8: bool) -> bool:
    """Whether a word character begins at a position."""
    return is_word(char_at(line, position, utf8=utf8)[0], utf8)


def is_word_before(line: bytes, position: int, *, utf8: bool) -> bool:
    """Whether a word character ends at a position."""
    return is_word(char_before(line, position, utf8=utf8)[0], utf8)
