"""Quotes names in messages as GNU tools do, so that they can be pasted into a shell.

This is the quoting of the C locale: bytes that are not printable ASCII appear as octal escapes.
"""

from __future__ import annotations

_NEEDS_QUOTES = frozenset(b" !\"$&'()*;<=>?[\\^`|")
_LETTER_ESCAPES = {7: "\\a", 8: "\\b", 9: "\\t", 10: "\\n", 11: "\\v", 12: "\\f", 13: "\\r"}


def quote(text: str) -> str:
    """Always in single quotes, as a C string would be inside."""
    return "'" + "".join(_escape_byte(byte) for byte in _bytes(text)) + "'"


def quote_name(name: str) -> str:
    """A file name in quotes only if a shell would need them."""
    data = _bytes(name)
    plain = (
        data
        and not any(byte in _NEEDS_QUOTES or not _printable(byte) for byte in data)
        and data[0] not in b"#~"
        and data not in (b"{", b"}")
    )
    return name if plain else quote_name_always(name)


def quote_name_always(name: str) -> str:
    """A file name in quotes whatever it holds."""
    data = _bytes(name)
    if all(_printable(byte) for byte in data):
        if b"'" in data and not any(byte in b'"$`\\!' for byte in data):
            return f'"{name}"'
        return "'" + name.replace("'", "'\\''") + "'"
    return _dollar_quoted(data)


def _dollar_quoted(data: bytes) -> str:
    """Printable runs in ``'…'``, the others in ``$'…'``."""
    shown, escaping = "'", False
    for byte in data:
        if _printable(byte):
            if escaping:
                shown, escaping = shown + "''", False
            shown += "'\\''" if byte == 0x27 else chr(byte)
        else:
            if not escaping:
                shown, escaping = shown + "'$'", True
            shown += _LETTER_ESCAPES.get(byte, f"\\{byte:03o}")
    return shown + "'"


def _escape_byte(byte: int) -> str:
    if byte in b"'\\":
        return "\\" + chr(byte)
    if _printable(byte):
        return chr(byte)
    return _LETTER_ESCAPES.get(byte, f"\\{byte:03o}")


def _printable(byte: int) -> bool:
    return 0x20 <= byte < 0x7F


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")
