"""Decodes bytes as jq does: each invalid sequence becomes one U+FFFD.

Python's own replacement makes a different number of them for an overlong or truncated sequence.
"""

from __future__ import annotations

REPLACEMENT = "\ufffd"


def decode(data: bytes) -> str:
    """The text of some bytes, whatever they are."""
    try:
        return data.decode()
    except UnicodeDecodeError:
        return _decode_broken(data)


def encode(text: str) -> bytes:
    """The bytes of a text that came from a command line, broken ones included."""
    return text.encode("utf-8", "surrogateescape")


def _decode_broken(data: bytes) -> str:
    parts: list[str] = []
    place = 0
    while place < len(data):
        try:
            parts.append(data[place:].decode())
            break
        except UnicodeDecodeError as error:
            broken = place + error.start
            parts.append(data[place:broken].decode())
            parts.append(REPLACEMENT)
            place = broken + _invalid_length(data, broken)
    return "".join(parts)


def _invalid_length(data: bytes, start: int) -> int:
    first = data[start]
    length = 2 if 0xC2 <= first <= 0xDF else 3 if 0xE0 <= first <= 0xEF else 4 if 0xF0 <= first <= 0xF4 else 1
    if start + length > len(data):
        return len(data) - start
    for place in range(1, length):
        if data[start + place] & 0xC0 != 0x80:
            return place
    return length
