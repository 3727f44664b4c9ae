"""Sets of characters: bracket expressions, ``\\w``, ``[[:alpha:]]``.

A set is a list of ranges of code points (of bytes, in the C locale) and of Unicode categories,
possibly negated. The backtracking matcher tests membership; for RE2 a set is rendered in RE2's syntax.
Beyond ASCII the POSIX classes follow Unicode categories, which is very close to C.UTF-8.
"""

from __future__ import annotations

import unicodedata

from msgspec import Struct

Ranges = tuple[tuple[int, int], ...]

_UPPER, _LOWER, _DIGIT = (0x41, 0x5A), (0x61, 0x7A), (0x30, 0x39)
_PUNCTUATION = ((0x21, 0x2F), (0x3A, 0x40), (0x5B, 0x60), (0x7B, 0x7E))
_ASCII: dict[str, Ranges] = {
    "alpha": (_UPPER, _LOWER),
    "upper": (_UPPER,),
    "lower": (_LOWER,),
    "digit": (_DIGIT,),
    "alnum": (_DIGIT, _UPPER, _LOWER),
    "xdigit": (_DIGIT, (0x41, 0x46), (0x61, 0x66)),
    "space": ((0x09, 0x0D), (0x20, 0x20)),
    "blank": ((0x09, 0x09), (0x20, 0x20)),
    "punct": _PUNCTUATION,
    "cntrl": ((0x00, 0x1F), (0x7F, 0x7F)),
    "graph": ((0x21, 0x7E),),
    "print": ((0x20, 0x7E),),
}
# The no-break spaces U+00A0, U+2007 and U+202F are no white space in C.UTF-8.
_WIDE_BLANK: Ranges = (
    (0x1680, 0x1680),
    (0x2000, 0x2006),
    (0x2008, 0x200A),
    (0x205F, 0x205F),
    (0x3000, 0x3000),
)
_WIDE_RANGES: dict[str, Ranges] = {
    "space": (*_WIDE_BLANK, (0x2028, 0x2029)),
    "blank": _WIDE_BLANK,
    "cntrl": ((0x80, 0x9F), (0x2028, 0x2029)),
}
_WIDE_CATEGORIES: dict[str, tuple[str, ...]] = {
    "alpha": ("L", "M", "Nl"),
    "upper": ("Lu",),
    "lower": ("Ll",),
    "alnum": ("L", "M", "N"),
    "punct": ("P", "S"),
    "graph": ("L", "M", "N", "P", "S"),
    "print": ("L", "M", "N", "P", "S", "Zs"),
}


class CharSet(Struct, frozen=True):
    """Characters given by ranges and by Unicode categories (``Lu``, or ``^Lu`` for all others)."""

    ranges: Ranges = ()
    categories: tuple[str, ...] = ()
    negated: bool = False

    def union(self, other: CharSet) -> CharSet:
        """Both sets together. Neither may be negated."""
        return CharSet(self.ranges + other.ranges, self.categories + other.categories)

    def negate(self) -> CharSet:
        """All other characters."""
        return CharSet(self.ranges, self.categories, not self.negated)

    def contains(self, code: int, *, fold: bool = False) -> bool:
        """Whether a character is in the set; with ``fold``, in either case."""
        found = self._lists(code)
        if fold and not found:
            found = any(self._lists(variant) for variant in case_variants(code))
        return found != self.negated

    def _lists(self, code: int) -> bool:
        if any(low <= code <= high for low, high in self.ranges):
            return True
        return bool(self.categories) and any(_in_category(code, name) for name in self.categories)

    def re2(self) -> str:
        """The set in RE2's syntax."""
        ranges = "".join(_re2_range(low, high) for low, high in self.ranges)
        categories = "".join(f"\\P{{{c[1:]}}}" if c[0] == "^" else f"\\p{{{c}}}" for c in self.categories)
        if not ranges and not categories:
            return r"[\x{0}-\x{10FFFF}]" if self.negated else r"[^\x{0}-\x{10FFFF}]"
        return f"[{'^' if self.negated else ''}{ranges}{categories}]"


def _in_category(code: int, name: str) -> bool:
    category = unicodedata.category(chr(code))
    return not category.startswith(name[1:]) if name[0] == "^" else category.startswith(name)


def _re2_range(low: int, high: int) -> str:
    return f"\\x{{{low:X}}}" if low == high else f"\\x{{{low:X}}}-\\x{{{high:X}}}"


def case_variants(code: int) -> tuple[int, ...]:
    """The other-case forms of a character that are one character themselves."""
    character = chr(code)
    forms = (character.lower(), character.upper(), character.upper().lower(), character.lower().upper())
    return tuple({ord(form): None for form in forms if len(form) == 1 and form != character})


def posix_class(name: str, *, utf8: bool) -> CharSet | None:
    """The class behind ``[:name:]``, or None if there is none of that name."""
    if name not in _ASCII:
        return None
    if not utf8:
        return CharSet(_ASCII[name])
    return CharSet(_ASCII[name] + _WIDE_RANGES.get(name, ()), _WIDE_CATEGORIES.get(name, ()))


def word_set(*, utf8: bool) -> CharSet:
    """Letters, digits and the underscore: what ``\\w`` matches and words are made of."""
    letters = posix_class("alnum", utf8=utf8)
    assert letters is not None
    return letters.union(CharSet(((0x5F, 0x5F),)))


def space_set(*, utf8: bool) -> CharSet:
    """White space: what ``\\s`` matches."""
    spaces = posix_class("space", utf8=utf8)
    assert spaces is not None
    return spaces
