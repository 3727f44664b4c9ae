"""Decodes JSON strings, with jq's messages for invalid ones."""

from __future__ import annotations

import re

from simcloud.userland.jq.utf8 import decode

_ESCAPE = re.compile(r'\\(?:u([0-9a-fA-F]{4})|(["\\/bfnrt]))|[\x00-\x1f\\]')
_ESCAPED = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}
_NO_PAIR = "Invalid \\uXXXX\\uXXXX surrogate pair escape"


class BadString(ValueError):
    """The JSON string is invalid."""


def read_string(token: bytes) -> str:
    """The text of a string, which comes with its quotes. Raises ``BadString``."""
    text = decode(token[1:-1])
    if "\\" not in text and text.isprintable():
        return text
    parts: list[str] = []
    place = 0
    high = ""
    for match in _ESCAPE.finditer(text):
        if high and (match.start() != place or not match[1]):
            raise BadString(_NO_PAIR)
        parts.append(text[place : match.start()])
        place = match.end()
        if match[1]:
            unit = int(match[1], 16)
            if high:
                if not 0xDC00 <= unit < 0xE000:
                    raise BadString(_NO_PAIR)
                parts.append(chr(0x10000 + ((ord(high) - 0xD800) << 10) + unit - 0xDC00))
                high = ""
            elif 0xD800 <= unit < 0xDC00:
                high = chr(unit)
            else:
                parts.append(chr(unit) if not 0xDC00 <= unit < 0xE000 else "\ufffd")
        elif match[2]:
            parts.append(_ESCAPED.get(match[2], match[2]))
        else:
            raise BadString(_bad_escape(text, match.start()))
    if high:
        raise BadString(_NO_PAIR)
    parts.append(text[place:])
    return "".join(parts)


def _bad_escape(text: str, place: int) -> str:
    if text[place] != "\\":
        return "Invalid string: control characters from U+0000 through U+001F must be escaped"
    if text[place + 1 : place + 2] != "u":
        return "Invalid escape"
    if len(text) - place - 2 < 4:
        return "Invalid \\uXXXX escape"
    return "Invalid characters in \\uXXXX escape"
