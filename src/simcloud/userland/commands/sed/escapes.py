r"""Escapes that sed resolves itself: ``\t``, ``\n``, ``\x41``, ``\o101``, ``\d065``, ``\cA``.

Text is bytes as characters here.
"""

from __future__ import annotations

_SIMPLE = {"a": "\a", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v"}
_NUMBERS = {"x": (16, 2), "o": (8, 3), "d": (10, 3)}


def read_escape(text: str, position: int) -> tuple[str, int] | None:
    """The character that the escape behind a backslash stands for, and where it ends; None if none."""
    letter = text[position : position + 1]
    if letter in _SIMPLE and letter:
        return _SIMPLE[letter], position + 1
    if letter in _NUMBERS and letter:
        return _number(text, position + 1, *_NUMBERS[letter])
    if letter == "c" and position + 1 < len(text):
        width = 2 if text.startswith("\\\\", position + 1) else 1
        return chr(ord(text[position + 1].upper()) ^ 0x40), position + 1 + width
    return None


def _number(text: str, position: int, base: int, limit: int) -> tuple[str, int] | None:
    end = position
    while end < len(text) and end - position < limit and text[end].lower() in "0123456789abcdef"[:base]:
        end += 1
    return (chr(int(text[position:end], base) & 0xFF), end) if end > position else None


def resolve_in_regex(text: str) -> str:
    """A pattern with these escapes resolved; what they make keeps the meaning it has in patterns."""
    out: list[str] = []
    position = 0
    while position < len(text):
        char = text[position]
        position += 1
        if char == "\\" and position < len(text):
            escape = read_escape(text, position)
            if escape is None:
                out.append(char + text[position])
                position += 1
            else:
                out.append(escape[0])
                position = escape[1]
        else:
            out.append(char)
    return "".join(out)


def resolve_in_text(text: str) -> str:
    """The text of ``a``, ``i`` or ``c``: escapes resolved, other backslashes gone."""
    out: list[str] = []
    position = 0
    while position < len(text):
        char = text[position]
        position += 1
        if char != "\\":
            out.append(char)
            continue
        escape = read_escape(text, position)
        if escape is None:
            out.append(text[position : position + 1])
            position += 1
        else:
            out.append(escape[0])
            position = escape[1]
    return "".join(out)
