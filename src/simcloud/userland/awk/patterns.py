"""Regular expressions as awk programs use them, over the shell's own engine.

The engine works on bytes and awk on characters; the difference shows only in text that is not ASCII.
Most patterns that people type are plain words: those are found without the engine.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import Final

from simcloud.patterns import Match, Regex, RegexError, TooMuchWorkError, compile_regex
from simcloud.userland.awk.errors import Fatal
from simcloud.userland.awk.locale import Locale

Span = tuple[int, int]
Pay = Callable[[int], None]

MATCH_BYTES: Final = 256
MATCHES_AT_ONCE: Final = 256
"""Charge for a match where a text may have very many, and the number of matches charged together."""

_GNU_ANCHORS: Final = {"y": "\\b", "B": "\\B", "<": "\\<", ">": "\\>", "`": "\\`", "'": "\\'"}
_GNU_CLASSES: Final = {"w": "[[:alnum:]_]", "W": "[^[:alnum:]_]", "s": "[[:space:]]", "S": "[^[:space:]]"}
_CONTROLS: Final = {"a": "\a", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v"}
_OPERATORS: Final = frozenset("\\^$.[]|()*+?{}")
_QUIET_ESCAPES: Final = frozenset("\\^$.[]|()*+?{}/-abfnrtv01234567x") | set(_GNU_ANCHORS) | set(_GNU_CLASSES)
_ESCAPE: Final = re.compile(r"\\(x[0-9A-Fa-f]{1,2}|[0-7]{1,3}|.)", re.DOTALL)
_SIMPLE_SET: Final = re.compile(r"(?:\[([^]\[^\\-][^]\[\\-]*)\]|(?:\\)?([^\\^$.\[\]|()*+?{}A-Za-z0-9]))(\+?)")


class Pattern:
    """A compiled pattern. Offsets are in characters."""

    __slots__ = ("_anchored", "_literal", "_locale", "_regex")

    def __init__(self, source: str, locale: Locale, *, ignore_case: bool) -> None:
        self._locale = locale
        literal = None if ignore_case else _literal_of(source)
        self._anchored = source.startswith("^") and literal is not None
        self._literal = literal
        self._regex: Regex | None = _compile(source, locale, ignore_case) if literal is None else None

    def matches_in(self, text: str) -> bool:
        """Whether it matches anywhere."""
        literal = self._literal
        if literal is not None:
            return text.startswith(literal) if self._anchored else literal in text
        return self._search(self._locale.encode(text), 0) is not None

    def first(self, text: str) -> Span | None:
        """Return the span of the first match."""
        return next(self.matches(text), None)

    def groups(self, text: str, start: int = 0) -> list[Span]:
        """The first match from ``start`` on and its groups ((-1, -1): took no part); empty if there is none."""
        regex = self._regex
        if regex is None:
            return [span for span in self._literal_matches(text) if span[0] >= start][:1]
        data = self._locale.encode(text)
        plain = len(data) == len(text)
        found = self._search(data, start if plain else len(self._locale.encode(text[:start])))
        if found is None:
            return []
        spans = [found.span(number) for number in range(regex.groups + 1)]
        return spans if plain else [self._in_characters(data, span) for span in spans]

    def matches(self, text: str) -> Iterator[Span]:
        """Every match from left to right, as ``gsub`` takes them: no empty one right after another."""
        if self._regex is None:
            yield from self._literal_matches(text)
            return
        data = self._locale.encode(text)
        plain = len(data) == len(text)
        position, last_end = 0, -1
        bytes_counted = characters_counted = 0
        while position <= len(data):
            found = self._search(data, position)
            if found is None:
                return
            begin, end = found.span(0)
            if begin == end and begin == last_end:
                position = _next_character(data, end)
                continue
            if plain:
                yield begin, end
            else:
                start = characters_counted + len(self._locale.decode(data[bytes_counted:begin]))
                characters_counted = start + len(self._locale.decode(data[begin:end]))
                bytes_counted = end
                yield start, characters_counted
            last_end = end
            position = end if end > begin else _next_character(data, end)

    def _literal_matches(self, text: str) -> Iterator[Span]:
        literal = self._literal or ""
        if self._anchored:
            if text.startswith(literal):
                yield 0, len(literal)
            return
        begin = text.find(literal)
        while begin >= 0:
            yield begin, begin + len(literal)
            begin = text.find(literal, begin + len(literal))

    def _search(self, data: bytes, start: int) -> Match | None:
        regex = self._regex
        assert regex is not None
        try:
            return regex.search(data, start)
        except TooMuchWorkError as error:
            raise Fatal(str(error)) from None

    def _in_characters(self, data: bytes, span: Span) -> Span:
        begin, end = span
        if begin < 0:
            return span
        start = len(self._locale.decode(data[:begin]))
        return start, start + len(self._locale.decode(data[begin:end]))

    @property
    def literal(self) -> str | None:
        """The plain text that this pattern is, if it is no more than that."""
        return None if self._anchored else self._literal


def charge_matches(spans: Iterator[Span], pay: Pay) -> Iterator[Span]:
    """Yield the spans and charge for them, because a huge text may have very many."""
    for count, span in enumerate(spans, 1):
        if count % MATCHES_AT_ONCE == 0:
            pay(MATCHES_AT_ONCE * MATCH_BYTES)
        yield span


@lru_cache(maxsize=512)
def compile_pattern(source: str, locale: Locale, ignore_case: bool = False) -> Pattern:
    """Compile a pattern; raises ``RegexError`` with the words of the C library."""
    return Pattern(source, locale, ignore_case=ignore_case)


def unknown_escapes(source: str) -> list[str]:
    """Warnings about backslashes that mean nothing in a regular expression."""
    warnings = []
    for found in _ESCAPE.finditer(source):
        char = found.group(1)[0]
        if found.group(1) == "x":
            warnings.append("no hex digits in `\\x' escape sequence")
        elif char in "89":
            warnings.append(f"regexp escape sequence `\\{char}' treated as plain `{char}'")
        elif char not in _QUIET_ESCAPES:
            warnings.append(f"regexp escape sequence `\\{char}' is not a known regexp operator")
    return warnings


def simple_set(source: str) -> tuple[str, bool] | None:
    """For ``[,;]``, ``,`` and the like: the characters, and whether a run of them counts as one."""
    found = _SIMPLE_SET.fullmatch(source)
    if found is None:
        return None
    return found.group(1) or found.group(2), found.group(3) == "+"


def _literal_of(source: str) -> str | None:
    """The text a pattern without operators stands for (after ``^``, if it begins so), or None."""
    if not source:
        return None
    body = source[1:] if source[0] == "^" else source
    if not _OPERATORS & set(body):
        return body or None
    plain = []
    position = 0
    while position < len(body):
        char = body[position]
        if char == "\\":
            char = body[position + 1 : position + 2]
            if char in _CONTROLS and char != "b":
                char = _CONTROLS[char]
            elif char not in _OPERATORS and char not in ("/", "-"):
                return None
            position += 1
        elif char in _OPERATORS:
            return None
        plain.append(char)
        position += 1
    return "".join(plain) or None


def _compile(source: str, locale: Locale, ignore_case: bool) -> Regex:
    translated, has_anchors = _translate(source)
    try:
        return compile_regex(
            locale.encode(translated),
            "extended",
            ignore_case=ignore_case,
            utf8=locale.utf8,
            dialect="grep" if has_anchors else "awk",
        )
    except RecursionError:
        raise RegexError("Regular expression too big") from None


def _translate(source: str) -> tuple[str, bool]:
    """Spell gawk's own operators in those of the engine; whether there are any anchors among them.

    Only the GNU tools' dialect of the engine knows word anchors, and only awk's knows escapes such as
    ``\\t``: a pattern with both gets its escapes resolved here.
    """
    has_anchors = any(found.group(1) in _GNU_ANCHORS for found in _ESCAPE.finditer(source))
    parts: list[str] = []
    position, bracket_start = 0, -1
    while position < len(source):
        char = source[position]
        if char == "\\" and position + 1 < len(source):
            sequence = _ESCAPE.match(source, position)
            assert sequence is not None
            parts.append(_escape(sequence.group(1), inside=bracket_start >= 0, resolve=has_anchors))
            position = sequence.end()
            continue
        if bracket_start < 0 and char == "[":
            bracket_start = position + 2 if source.startswith("^", position + 1) else position + 1
        elif bracket_start >= 0 and source.startswith("[:", position) and ":]" in source[position + 2 :]:
            end = source.index(":]", position + 2) + 2
            parts.append(source[position:end])
            position = end
            continue
        elif bracket_start >= 0 and char == "]" and position > bracket_start:
            bracket_start = -1
        parts.append(char)
        position += 1
    return "".join(parts), has_anchors


def _escape(sequence: str, *, inside: bool, resolve: bool) -> str:
    char = sequence[0]
    if not inside:
        if char in _GNU_ANCHORS:
            return _GNU_ANCHORS[char]
        if char in _GNU_CLASSES:
            return _GNU_CLASSES[char]
    if len(sequence) > 1 and char == "x":
        resolved = chr(int(sequence[1:], 16))
        return resolved if resolved not in _OPERATORS else "\\" + resolved
    if not resolve:
        return "\\" + sequence
    if char in _CONTROLS:
        return _CONTROLS[char]
    if char in "01234567":
        resolved = chr(int(sequence, 8) & 0xFF)
        return resolved if inside or resolved not in _OPERATORS else "\\" + resolved
    return char if inside or char not in _OPERATORS else "\\" + char


def _next_character(data: bytes, position: int) -> int:
    position += 1
    while position < len(data) and data[position] & 0xC0 == 0x80:
        position += 1
    return position
