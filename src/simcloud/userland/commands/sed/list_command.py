"""The ``l`` command: a line in an unmistakable form, folded at a width."""

from __future__ import annotations

_NAMES = {7: b"\\a", 8: b"\\b", 9: b"\\t", 10: b"\\n", 11: b"\\v", 12: b"\\f", 13: b"\\r", 92: b"\\\\"}


def unmistakable(text: bytes, width: int, end: bytes) -> bytes:
    """The text with everything unprintable escaped, in lines of that width (0: one line)."""
    out = bytearray()
    column = 0
    for byte in text:
        shown = _NAMES.get(byte) or (bytes((byte,)) if 0x20 <= byte < 0x7F else b"\\%03o" % byte)
        if width and column + len(shown) > width - 1:
            out += b"\\" + end
            column = 0
        out += shown
        column += len(shown)
    return bytes(out + b"$" + end)
