"""Strings as Go's YAML library (the second version, which kubectl uses) writes them.

A string goes plain unless it would be read back as something else (``"123"``, ``"yes"``, a date) or has
characters that mean something to YAML; several lines make a ``|`` block; lines are broken at the first
space after column 80.
"""

from __future__ import annotations

import re
from datetime import datetime
from functools import lru_cache

_WIDTH = 80
_LONGEST_KEY = 128

_WORDS = frozenset(
    word
    for base in ("y", "yes", "on", "n", "no", "off", "true", "false", "null")
    for word in (base, base.capitalize(), base.upper())
) | {
    "",
    "~",
    "<<",
    *(sign + dot for sign in ("", "+", "-") for dot in (".inf", ".Inf", ".INF")),
    ".nan",
    ".NaN",
    ".NAN",
}
_FLOAT = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?\Z")
_WHOLE = re.compile(r"[-+]?(?:0[xX][0-9a-fA-F]+|0[bB][01]+|0[oO]?[0-7]+|0|[1-9][0-9]*)\Z")
_BASE_60 = re.compile(r"[-+]?[0-9][0-9_]*(?::[0-5]?[0-9])+(?:\.[0-9_]*)?\Z")
_TIME = re.compile(
    r"(\d{4})-(\d{1,2})-(\d{1,2})"
    r"(?:[Tt ](\d{1,2}):(\d{1,2}):(\d{1,2})(?:[.,]\d+)?(Z|[+-]\d{2}:\d{2})?)?\Z",
    re.ASCII,
)
_UNPRINTABLE = re.compile("[\0-\x09\x0b-\x1f\x7f-\x9f\ud800-\udfff\ufeff\ufffe-\U0010ffff]")
_BREAKS = "\n\r\x85\u2028\u2029"
_BREAK = re.compile(f"[{_BREAKS}]")
_STARTS_BADLY = re.compile(r"[#,\[\]{}&*!|>'\"%@`]|---|\.\.\.|[?:-](?:[ \t\n\r\x85\u2028\u2029]|\Z)")
_MEANS_SOMETHING = re.compile(r":(?:[ \t\n\r\x85\u2028\u2029]|\Z)|[ \t\n\r\x85\u2028\u2029]#")
_FORBIDDEN = re.compile("[\x7f-\x84\x86-\x9f\ufffe\uffff]")
ESCAPES = {
    0x00: "0", 0x07: "a", 0x08: "b", 0x09: "t", 0x0A: "n", 0x0B: "v", 0x0C: "f", 0x0D: "r", 0x1B: "e",
    0x22: '"', 0x5C: "\\", 0x85: "N", 0xA0: "_", 0x2028: "L", 0x2029: "P",
}  # fmt: skip


class ControlCharacter(Exception):
    """A string with characters that YAML cannot hold."""


def forbidden(text: str) -> bool:
    """Whether a string has characters that YAML cannot hold."""
    return not text.isprintable() and _FORBIDDEN.search(text) is not None


def scalar(text: str, column: int, indent: int) -> str:
    """A string as a value that begins at a column; further lines stand at an indent."""
    style, written = _choose_style(text)
    if style == "|":
        return _block(text, indent)
    if column + len(written) <= _WIDTH or " " not in text or written.startswith('"\\uFEFF'):
        return written
    if style == '"':
        return _fold_double(text, column, indent)
    return _fold(text, style, column, indent)


@lru_cache(maxsize=8192)
def key(text: str) -> str | None:
    """A string as the key of a map; None if it is too long for one or of several lines."""
    if (len(text) > 32 and len(text.encode()) > _LONGEST_KEY) or _BREAK.search(text):
        return None
    return _choose_style(text)[1]


@lru_cache(maxsize=16384)
def _choose_style(text: str) -> tuple[str, str]:
    """How a string is written (plain, ``'``, ``"`` or ``|``), and what it is when it fits the line."""
    if forbidden(text):
        raise ControlCharacter
    odd = _UNPRINTABLE.search(text) is not None
    if "\n" in text:
        blocks = not odd and not text.endswith(" ") and " \n" not in text and not _space_break(text)
        return ("|", "") if blocks else ('"', _double(text))
    if reads_otherwise(text):
        return '"', _double(text)
    broken = _BREAK.search(text) is not None
    if odd or (broken and _space_break(text)):
        return '"', _double(text)
    edges = text[0] in _BREAKS + " " or text[-1] in _BREAKS + " "
    if not (edges or broken or _STARTS_BADLY.match(text) or _MEANS_SOMETHING.search(text)):
        return "", text
    if broken:
        return '"', _double(text)
    return "'", "'" + text.replace("'", "''") + "'"


def _space_break(text: str) -> bool:
    return any(text[match.start() - 1] == " " for match in _BREAK.finditer(text) if match.start())


def reads_otherwise(text: str) -> bool:
    """Whether a string, written plain, would be read back as a number, a date, a truth or null."""
    if text in _WORDS:
        return text != "<<"
    first = text[0]
    if first not in "+-.0123456789":
        return False
    if first == ".":
        return _is_float(text)
    plain = text.replace("_", "")
    if _WHOLE.match(plain) and _fits(plain):
        return True
    return _is_float(plain) or _BASE_60.match(text) is not None or _is_time(text)


def _is_float(text: str) -> bool:
    return _FLOAT.match(text) is not None and abs(float(text)) != float("inf")


def _fits(whole: str) -> bool:
    """Whether a whole number is of 64 bits."""
    digits = whole.lstrip("+-").lower()
    if len(digits) > 80:
        return False
    base = {"0x": 16, "0b": 2, "0o": 8}.get(digits[:2], 8 if digits.startswith("0") else 10)
    number = int(digits[2:] if digits[1:2].isalpha() else digits, base)
    return number < 2**64 if not whole.startswith("-") else number <= 2**63


def _is_time(text: str) -> bool:
    match = _TIME.match(text)
    if match is None:
        return False
    year, month, day, hour, minute, second = (int(part) if part else 0 for part in match.groups()[:6])
    if (" " in text) == (match[7] is not None) and match[4]:
        return False
    try:
        datetime(year or 4, month, day, hour, minute, second)
    except ValueError:
        return False
    return True


def _double(text: str) -> str:
    if text.startswith("\ufeff"):  # the library then takes every character for one to escape
        return '"' + "".join(_escape(ord(char)) for char in text) + '"'
    return '"' + "".join(map(_escape_character, text)) + '"'


@lru_cache(maxsize=1024)
def _escape_character(char: str) -> str:
    if char not in '"\\' and char != "\n" and not _UNPRINTABLE.match(char) and char not in _BREAKS:
        return char
    return _escape(ord(char))


def _escape(number: int) -> str:
    if number in ESCAPES:
        return "\\" + ESCAPES[number]
    if number <= 0xFF:
        return f"\\x{number:02X}"
    return f"\\u{number:04X}" if number <= 0xFFFF else f"\\U{number:08X}"


def _block(text: str, indent: int) -> str:
    mark = "|2" if text[0] in _BREAKS + " " else "|"
    if text[-1] not in _BREAKS:
        mark += "-"
    elif len(text) == 1 or text[-2] in _BREAKS:
        mark += "+"
    lead = "\n" + " " * indent
    lines = text.removesuffix("\n").split("\n")
    return mark + "".join(lead + line if line else "\n" for line in lines)


def _fold(text: str, mark: str, column: int, indent: int) -> str:
    """Plain or between ``'``: broken at a single space that comes after the last column."""
    written = [mark]
    column += len(mark)
    last = len(text) - 1
    after_space = False
    for place, char in enumerate(text):
        if char == " ":
            inside = not mark or 0 < place < last
            alone = not after_space and text[place + 1 : place + 2] != " "
            if column > _WIDTH and inside and alone:
                written.append("\n" + " " * indent)
                column = indent
            else:
                written.append(" ")
                column += 1
            after_space = True
            continue
        piece = "''" if mark and char == mark else char
        written.append(piece)
        column += len(piece)
        after_space = False
    return "".join(written) + mark


def _fold_double(text: str, column: int, indent: int) -> str:
    written = ['"']
    column += 1
    last = len(text) - 1
    after_space = False
    for place, char in enumerate(text):
        if char == " " and not after_space and column > _WIDTH and 0 < place < last:
            more = text[place + 1] == " "
            written.append("\n" + " " * indent + ("\\" if more else ""))
            column = indent + more
        else:
            piece = _escape_character(char)
            written.append(piece)
            column += len(piece)
        after_space = char == " "
    return "".join(written) + '"'
