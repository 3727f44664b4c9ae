"""Backslash escapes and quoting: ``$'..'``, ``echo -e``, ``printf %b`` and the reverse.

Bash quotes in three ways, and all three appear in its output: with backslashes (``printf %q``), with single quotes
(``${x@Q}``, ``set``) and with double quotes (``declare -p``).
"""

from __future__ import annotations

import re
from typing import Final

SIMPLE: Final = {
    "a": "\a", "b": "\b", "e": "\x1b", "E": "\x1b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v",
    "\\": "\\",
}  # fmt: skip

_ANSI = re.compile(
    r"\\(?:(?P<simple>[abeEfnrtv\\'\"?])|(?P<octal>[0-7]{1,3})|x(?P<hex>[0-9a-fA-F]{1,2})"
    r"|x\{(?P<long>[0-9a-fA-F]*)\}|u(?P<short>[0-9a-fA-F]{1,4})|U(?P<wide>[0-9a-fA-F]{1,8})|c(?P<control>.))",
    re.DOTALL,
)

_ECHO = re.compile(
    r"\\(?:(?P<simple>[abeEfnrtv\\])|(?P<stop>c)|0(?P<octal>[0-7]{0,3})|x(?P<hex>[0-9a-fA-F]{1,2})"
    r"|u(?P<short>[0-9a-fA-F]{1,4})|U(?P<wide>[0-9a-fA-F]{1,8}))"
)

_PRINTF_B = re.compile(
    r"\\(?:(?P<simple>[abeEfnrtv\\'\"?])|(?P<stop>c)|0?(?P<octal>[0-7]{1,3})|x(?P<hex>[0-9a-fA-F]{1,2})"
    r"|u(?P<short>[0-9a-fA-F]{1,4})|U(?P<wide>[0-9a-fA-F]{1,8}))"
)

_PRINTF_FORMAT = re.compile(
    r"\\(?:(?P<simple>[abeEfnrtv\\'\"?])|(?P<octal>[0-7]{1,3})|x(?P<hex>[0-9a-fA-F]{1,2})"
    r"|u(?P<short>[0-9a-fA-F]{1,4})|U(?P<wide>[0-9a-fA-F]{1,8}))"
)


def decode_ansi_c(text: str) -> str:
    """The value of ``$'text'``. A NUL ends it, as in C."""
    decoded = join_bytes(_ANSI.sub(_ansi_value, text)) if "\\" in text else text
    return decoded.partition("\0")[0]


def decode_echo(text: str) -> tuple[str, bool]:
    """The text that ``echo -e`` prints, and whether ``\\c`` asked to stop there."""
    return _decode_until_stop(_ECHO, text)


def decode_printf_b(text: str) -> tuple[str, bool]:
    """As ``decode_echo``, for ``printf %b``."""
    return _decode_until_stop(_PRINTF_B, text)


def decode_printf_format(text: str) -> str:
    """Escapes in a stretch of a printf format."""
    return join_bytes(_PRINTF_FORMAT.sub(_plain_value, text)) if "\\" in text else text


def join_bytes(text: str) -> str:
    """Bytes that were written one escape at a time become the character they spell together."""
    if any("\udc80" <= character <= "\udcff" for character in text):
        return text.encode("utf-8", "surrogateescape").decode("utf-8", "surrogateescape")
    return text


def _decode_until_stop(pattern: re.Pattern[str], text: str) -> tuple[str, bool]:
    if "\\" not in text:
        return text, False
    done: list[str] = []
    position = 0
    for match in pattern.finditer(text):
        done.append(text[position : match.start()])
        position = match.end()
        if match["stop"]:
            return join_bytes("".join(done)), True
        done.append(_plain_value(match))
    done.append(text[position:])
    return join_bytes("".join(done)), False


def _byte(value: int) -> str:
    return bytes([value & 0xFF]).decode("utf-8", "surrogateescape")


def _code_point(value: int) -> str:
    if value > 0x10FFFF or 0xD800 <= value <= 0xDFFF:
        return ""
    return chr(value)


def _plain_value(match: re.Match[str]) -> str:
    found = match.groupdict()
    if found["simple"]:
        return SIMPLE.get(found["simple"], found["simple"])
    if found["octal"] is not None:
        return _byte(int(found["octal"] or "0", 8))
    if found["hex"]:
        return _byte(int(found["hex"], 16))
    return _code_point(int(found["short"] or found["wide"], 16))


def _ansi_value(match: re.Match[str]) -> str:
    found = match.groupdict()
    if found["control"]:
        return "\x7f" if found["control"] == "?" else chr(ord(found["control"].upper()) & 0x1F)
    if found["long"] is not None:
        return _byte(int(found["long"] or "0", 16))
    return _plain_value(match)


# -- quoting -----------------------------------------------------------------------------------

_SAFE = re.compile(r"[A-Za-z0-9_@%+=:./-]*\Z")
_UNPRINTABLE = re.compile(r"[\x00-\x1f\x7f-\x9f\udc80-\udcff]")
_BACKSLASHED = re.compile(r"([\t !\"$&'()*,;<>?\[\\\]^`{|}])")
_NAMED = {
    "\a": "\\a", "\b": "\\b", "\x1b": "\\E", "\f": "\\f", "\n": "\\n", "\r": "\\r", "\t": "\\t", "\v": "\\v",
    "\\": "\\\\", "'": "\\'",
}  # fmt: skip


def quote_backslash(text: str) -> str:
    """As ``printf %q`` does it."""
    if not text:
        return "''"
    if _UNPRINTABLE.search(text):
        return quote_ansi_c(text)
    quoted = _BACKSLASHED.sub(r"\\\1", text)
    return "\\" + quoted if quoted[0] in "#~" else quoted


def quote_single(text: str) -> str:
    """As ``${x@Q}`` does it."""
    if _UNPRINTABLE.search(text):
        return quote_ansi_c(text)
    return "'" + text.replace("'", "'\\''") + "'"


def quote_if_needed(text: str) -> str:
    """As ``set`` and ``set -x`` do it: bare when that is safe."""
    if text and _SAFE.match(text):
        return text
    return quote_single(text)


def quote_double(text: str) -> str:
    """As ``declare -p`` does it."""
    if _UNPRINTABLE.search(text):
        return quote_ansi_c(text)
    return '"' + re.sub(r'(["$\\`])', r"\\\1", text) + '"'


def quote_ansi_c(text: str) -> str:
    """``$'...'``."""
    return "$'" + "".join(_escape_one(character) for character in text) + "'"


def _escape_one(character: str) -> str:
    if character in _NAMED:
        return _NAMED[character]
    if "\udc80" <= character <= "\udcff":
        return f"\\{ord(character) - 0xDC00:03o}"
    if character < " " or character == "\x7f":
        return f"\\{ord(character):03o}"
    if "\x80" <= character <= "\x9f":
        return "".join(f"\\{byte:03o}" for byte in character.encode())
    return character
