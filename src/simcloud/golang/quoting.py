"""Go's quoted strings: quoting and unquoting."""

from __future__ import annotations

_SHORT = {
    "\a": "\\a", "\b": "\\b", "\f": "\\f", "\n": "\\n", "\r": "\\r", "\t": "\\t", "\v": "\\v", "\\": "\\\\",
}  # fmt: skip
_MEANT = {short[1]: char for char, short in _SHORT.items()}
_HEX_DIGITS = {"x": 2, "u": 4, "U": 8}


def quote(text: str, mark: str = '"') -> str:
    """Quote a text as ``%q`` does."""
    if text.isprintable():
        return mark + text.replace("\\", "\\\\").replace(mark, "\\" + mark) + mark
    return mark + "".join(_escape_char(char, mark) for char in text) + mark


def _escape_char(char: str, mark: str) -> str:
    if char == mark:
        return "\\" + char
    if char in _SHORT:
        return _SHORT[char]
    if char.isprintable():
        return char
    number = ord(char)
    if 0xDC80 <= number <= 0xDCFF:  # a byte that is no text, as Python carries it
        return f"\\x{number - 0xDC00:02x}"
    if number < 0x80:
        return f"\\x{number:02x}"
    return f"\\u{number:04x}" if number < 0x10000 else f"\\U{number:08x}"


def unquote(body: str, mark: str) -> str:
    """Resolve the escapes of the text between two quotation marks. Raises ``ValueError``."""
    if "\\" not in body and mark not in body:
        return body
    read: list[str] = []
    place = 0
    while place < len(body):
        char = body[place]
        if char == mark:
            raise ValueError("invalid syntax")
        if char != "\\":
            read.append(char)
            place += 1
            continue
        resolved, place = _escape(body, place + 1, mark)
        read.append(resolved)
    return _join_bytes("".join(read))


def _escape(body: str, place: int, mark: str) -> tuple[str, int]:
    """Return the character of the escape at a place, and the end of the escape."""
    letter = body[place : place + 1]
    if letter in _MEANT and letter:
        return _MEANT[letter], place + 1
    if letter == mark:
        return mark, place + 1
    if letter in _HEX_DIGITS and letter:
        count, base, start = _HEX_DIGITS[letter], 16, place + 1
    elif letter in tuple("01234567"):
        count, base, start = 3, 8, place
    else:
        raise ValueError("invalid syntax")
    digits = body[start : start + count]
    allowed = "0123456789abcdefABCDEF" if base == 16 else "01234567"
    if len(digits) != count or any(digit not in allowed for digit in digits):
        raise ValueError("invalid syntax")
    number = int(digits, base)
    whole_character = letter in ("u", "U")
    if number > (0x10FFFF if whole_character else 0xFF) or (whole_character and 0xD800 <= number < 0xE000):
        raise ValueError("invalid syntax")
    if not whole_character and number >= 0x80:
        return chr(0xDC00 + number), start + count
    return chr(number), start + count


def _join_bytes(text: str) -> str:
    """Join escaped bytes that together are one character."""
    if not any(0xDC80 <= ord(char) <= 0xDCFF for char in text):
        return text
    return text.encode("utf-8", "surrogateescape").decode("utf-8", "surrogateescape")
