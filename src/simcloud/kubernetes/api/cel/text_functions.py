"""The functions on text: search, substrings, joins, patterns and formats. Their results are limited in size."""

from __future__ import annotations

import re
from typing import Any

from simcloud.golang import BadRegex, compile_regexp
from simcloud.kubernetes.api.cel.conversions import as_list, as_text, as_whole, to_string
from simcloud.kubernetes.api.cel.values import CelError, CostExceeded

MAX_TEXT = 1_000_000


def _pattern(value: Any) -> Any:
    try:
        return compile_regexp(as_text(value))
    except BadRegex as fault:
        raise CelError(str(fault)) from None


def matches(text: Any, pattern: Any) -> bool:
    """Whether a pattern is found anywhere in a text."""
    return _pattern(pattern).search(as_text(text)) is not None


def find(text: Any, pattern: Any) -> str:
    """The first piece that a pattern matches; nothing if none does."""
    found = _pattern(pattern).search(as_text(text))
    return found.group() if found else ""


def find_all(text: Any, pattern: Any, limit: int = -1) -> list[str]:
    """Return the matches of a pattern, at most ``limit`` of them."""
    found = [match.group() for match in _pattern(pattern).finditer(as_text(text))]
    return found if limit < 0 else found[: as_whole(limit)]


def replace(text: Any, old: Any, new: Any, limit: int = -1) -> str:
    """A text with other text in some places."""
    if len(as_text(text)) * max(1, len(as_text(new))) > MAX_TEXT:
        raise CostExceeded
    return as_text(text).replace(as_text(old), as_text(new), as_whole(limit))


def split(text: Any, separator: Any, limit: int = -1) -> list[str]:
    """The pieces between separators."""
    if limit == 0:
        return []
    if separator == "":
        return list(as_text(text))
    return as_text(text).split(as_text(separator), -1 if limit < 0 else as_whole(limit) - 1)


def substring(text: Any, start: Any, end: Any = None) -> str:
    """A piece of a text, by the places of its characters."""
    stop = len(as_text(text)) if end is None else as_whole(end)
    if not 0 <= as_whole(start) <= stop <= len(text):
        raise CelError(f"index out of range: {start if start > len(text) or start < 0 else stop}")
    return as_text(text)[start:stop]


def char_at(text: Any, index: Any) -> str:
    """The character at a place; nothing just behind the last."""
    if not 0 <= as_whole(index) <= len(as_text(text)):
        raise CelError(f"index out of range: {index}")
    return as_text(text)[index : index + 1]


def lower(text: Any) -> str:
    """Small letters for the capitals of ASCII."""
    return "".join(char.lower() if char.isascii() else char for char in as_text(text))


def upper(text: Any) -> str:
    """Capitals for the small letters of ASCII."""
    return "".join(char.upper() if char.isascii() else char for char in as_text(text))


def join(items: Any, separator: Any = "") -> str:
    """Texts one after the other, with something in between."""
    if sum(len(as_text(item)) + len(as_text(separator)) for item in as_list(items)) > MAX_TEXT:
        raise CostExceeded
    return as_text(separator).join(items)


def format_text(text: Any, arguments: Any) -> str:
    """A text with values in place of its verbs."""
    longest = max((len(argument) for argument in as_list(arguments) if isinstance(argument, str)), default=0)
    if len(as_text(text)) * (1 + longest) > MAX_TEXT:
        raise CostExceeded
    waiting = iter(arguments)

    def fill(match: re.Match[str]) -> str:
        if match.group() == "%%":
            return "%"
        try:
            value = next(waiting)
        except StopIteration:
            raise CelError("index out of range") from None
        if match[1] and match[2] in "fe":
            return f"{float(value):{match[1]}{match[2]}}"
        return to_string(value)

    return re.sub(r"%(\.[0-9]{1,2})?([sdfeboxX])|%%", fill, as_text(text))
