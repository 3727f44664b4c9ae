"""Segments of expanded text, and the string operations ``${x#p}``, ``${x/p/r}``, ``${x^^}`` and ``${x@Q}``."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

from simcloud.userland.bash.escapes import decode_ansi_c, quote_single
from simcloud.userland.bash.patterns import compile_pattern

QUOTED: Final = 0
"""Stands for itself: neither split nor a pattern."""
LITERAL: Final = 1
"""Written without quotes: may be a pattern."""
SPLIT: Final = 2
"""The result of an unquoted expansion: split at IFS, may be a pattern."""
BREAK: Final = 3
"""A boundary between fields, from ``$@`` and its like."""

Segment = tuple[int, str]


_AMPERSAND = re.compile(r"\\([\\&])|&")

MATCH_BYTES = 64
"""Charge for a match in addition to its copy: a long value may match at each of its characters."""


def remove_match(value: str, pattern: str, operator: str, extglob: bool) -> str:
    """Cut the shortest (``#``, ``%``) or longest (``##``, ``%%``) match off the front or the end."""
    compiled = compile_pattern(pattern, extglob)
    longest = len(operator) == 2
    if operator[0] == "#":
        size = compiled.prefix(value, longest)
        return value if size is None else value[size:]
    size = compiled.suffix(value, longest)
    return value if size is None else value[: len(value) - size]


def replace_matches(
    value: str,
    pattern: str,
    replacement: list[Segment],
    operator: str,
    extglob: bool,
    nocase: bool,
    spend: Callable[[int], None],
) -> str:
    """Replace the first match, all (``//``), or one at the front (``/#``) or the end (``/%``)."""
    compiled = compile_pattern(pattern, extglob, nocase)
    if operator in ("/#", "/%"):
        if operator == "/#":
            size = compiled.prefix(value, longest=True)
            return value if size is None else _fill(replacement, value[:size]) + value[size:]
        size = compiled.suffix(value, longest=True)
        if size is None:
            return value
        cut = len(value) - size
        return value[:cut] + _fill(replacement, value[cut:])
    if not pattern:
        return value
    done: list[str] = []
    position = 0
    while position <= len(value):
        found = compiled.find(value, position)
        if found is None or (found[0] == found[1] == len(value) and position):
            break
        start, end = found
        text = _fill(replacement, value[start:end])
        done += (value[position:start], text)
        spend(MATCH_BYTES + len(text) + end - position)
        position = end
        if start == end:
            done.append(value[position : position + 1])
            position += 1
        if operator == "/":
            break
    done.append(value[position:])
    return "".join(done)


def _fill(replacement: list[Segment], matched: str) -> str:
    """The replacement with ``&`` standing for what matched, unless it was quoted."""
    return "".join(
        text
        if kind == QUOTED or ("&" not in text and "\\" not in text)
        else _AMPERSAND.sub(lambda found: found[1] or matched, text)
        for kind, text in replacement
    )


def change_case(value: str, pattern: str, operator: str, extglob: bool) -> str:
    """Change the case of the first character, or of all (``^^``), that match the pattern."""
    change = {"^": str.upper, ",": str.lower, "~": str.swapcase}[operator[0]]
    matches = compile_pattern(pattern, extglob).matches if pattern else None
    count = len(value) if len(operator) == 2 else 1
    head = "".join(
        change(character) if matches is None or matches(character) else character
        for character in value[:count]
    )
    return head + value[count:]


def transform(value: str, operator: str) -> str:
    """``${x@operator}`` for the operators that need nothing but the value; ``KeyError`` for no operator."""
    if operator in ("Q", "K", "k"):
        return quote_single(value)
    if operator == "E":
        return decode_ansi_c(value)
    if operator == "P":
        return value
    return {
        "U": value.upper(),
        "L": value.lower(),
        "u": value[:1].upper() + value[1:],
    }[operator]
