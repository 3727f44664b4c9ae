"""The lexer: text to names, numbers, strings and operators."""

from __future__ import annotations

import re
from typing import Any

from msgspec import Struct

from simcloud.kubernetes.api.cel.values import CelSyntaxError, Uint

MAX_CHARS = 100_000
_TOKEN = re.compile(
    r"""
    (?P<space>[\s]+|//[^\n]*)
  | (?P<float>(?:[0-9]+\.[0-9]+(?:[eE][+-]?[0-9]+)?|[0-9]+[eE][+-]?[0-9]+|\.[0-9]+(?:[eE][+-]?[0-9]+)?))
  | (?P<int>0[xX][0-9a-fA-F]+|[0-9]+)(?P<unsigned>[uU]?)
  | (?P<string>[rRbB]{0,2}(?:\"\"\"|'''|"|'))
  | (?P<name>[A-Za-z_][A-Za-z0-9_]*|`[^`\n]*`)
  | (?P<operator>\|\||&&|==|!=|<=|>=|[-+*/%<>!?:.,()\[\]{}])
    """,
    re.VERBOSE,
)
_ESCAPE = re.compile(
    r"\\(?:x([0-9a-fA-F]{2})|X([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|([0-3][0-7]{2})|(.))",
    re.DOTALL,
)
_SIMPLE = {"a": "\a", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v"} | {
    c: c for c in "\\?\"'`"
}


class Token(Struct, frozen=True):
    """A piece of text: ``name``, ``value`` (a literal), ``operator`` or ``end``."""

    kind: str
    text: str
    at: int
    value: Any = None


def tokens(text: str) -> list[Token]:
    """All tokens, an ``end`` last."""
    if len(text) > MAX_CHARS:
        raise CelSyntaxError(
            f"expression code point size exceeds limit: size: {len(text)}, limit {MAX_CHARS}"
        )
    found: list[Token] = []
    at = 0
    while at < len(text):
        match = _TOKEN.match(text, at)
        if match is None:
            raise CelSyntaxError(f"Syntax error: token recognition error at: '{text[at]}'")
        if match.lastgroup == "string":
            token, at = _string(text, match)
            found.append(token)
            continue
        if match.lastgroup != "space":
            found.append(_token(match))
        at = match.end()
    found.append(Token("end", "<EOF>", at))
    return found


def _token(match: re.Match[str]) -> Token:
    text, at = match.group(), match.start()
    if match["float"]:
        return Token("value", text, at, float(text))
    if match["int"]:
        number = int(match["int"], 0) if match["int"][:2] in ("0x", "0X") else _decimal(match["int"])
        return Token("value", text, at, Uint(number) if match["unsigned"] else number)
    if match["name"]:
        return Token("name", text.strip("`"), at)
    return Token("operator", text, at)


def _decimal(text: str) -> int:
    if len(text) > 20:
        raise CelSyntaxError("invalid int literal")
    return int(text)


def _string(text: str, opening: re.Match[str]) -> tuple[Token, int]:
    prefix = opening.group().rstrip("\"'").lower()
    quote = opening.group()[len(prefix) :]
    at = opening.end()
    while not text.startswith(quote, at):
        if at >= len(text) or (text[at] == "\n" and len(quote) == 1):
            raise CelSyntaxError(f"Syntax error: token recognition error at: '{text[opening.start() :]}'")
        at += 2 if text[at] == "\\" and "r" not in prefix else 1
    inner = text[opening.end() : at]
    value: str | bytes = inner if "r" in prefix else _unescape_text(inner)
    if "b" in prefix:
        value = str(value).encode(errors="replace")
    return Token("value", text[opening.start() : at], opening.start(), value), at + len(quote)


def _unescape_text(text: str) -> str:
    return _ESCAPE.sub(_unescape, text) if "\\" in text else text


def _unescape(match: re.Match[str]) -> str:
    *coded, octal, simple = match.groups()
    if octal:
        return chr(int(octal, 8))
    if simple is not None:
        if simple not in _SIMPLE:
            raise CelSyntaxError(f"Syntax error: unable to unescape string: \\{simple}")
        return _SIMPLE[simple]
    number = int(next(digits for digits in coded if digits), 16)
    if number > 0x10FFFF or 0xD800 <= number < 0xE000:
        raise CelSyntaxError("Syntax error: unable to unescape string")
    return chr(number)
