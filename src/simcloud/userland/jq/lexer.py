"""Splits a jq program into tokens.

It works on bytes, since jq reports positions in bytes. Brackets are tracked here, as in jq: a closing one that does
not match the open one is no token, and a closing parenthesis may end an interpolation and return to the string around
it. Literals are parsed by the JSON reader, which also has the messages for invalid ones.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from msgspec import Struct

from simcloud.userland.jq.json_reader import JsonError, parse_text
from simcloud.userland.jq.rules import KEYWORDS
from simcloud.userland.jq.tree import Value
from simcloud.userland.jq.utf8 import decode

END = "$end"
INVALID = "INVALID_CHARACTER"

_CODE = re.compile(
    rb"""
    (?P<blank>[ \t\r\n]+|\#[^\n]*)
  | (?P<field>\.(?![eE](?:[0-9]+(?![a-zA-Z_0-9])|[+-][0-9]))[a-zA-Z_][a-zA-Z_0-9]*)
  | (?P<number>(?!\.\.?(?![0-9.]|[eE][+-]?[0-9]))[0-9.]+(?:[eE][+-]?[0-9]+)?)
  | (?P<word>(?:[a-zA-Z_][a-zA-Z_0-9]*::)*[a-zA-Z_][a-zA-Z_0-9]*)
  | (?P<format>@[a-zA-Z0-9_]+)
  | (?P<quote>")
  | (?P<operator>\.\.|\?//|//=|!=|==|//|\|=|\+=|-=|\*=|/=|%=|<=|>=|[.?=;,:|+\-*/%$<>])
  | (?P<open>[\[{(])
  | (?P<close>[\]})])
  | (?P<other>[\x00-\xff])
    """,
    re.VERBOSE,
)
"""Numbers are anything of digits and dots: ``.e1`` is one to jq, and a wrong one, unlike ``.e1x``."""
_TEXT = re.compile(
    rb"""
    (?P<interpolation>\\\()
  | (?P<quote>")
  | (?P<escapes>(?:\\[^u(]|\\u[a-zA-Z0-9]{0,4})+)
  | (?P<plain>[^\\"]+)
  | (?P<other>[\x00-\xff])
    """,
    re.VERBOSE | re.DOTALL,
)
_CLOSES = {b"[": b"]", b"{": b"}", b"(": b")", b"\\(": b")"}


class Token(Struct, frozen=True):
    """A token: its kind, its value, and its start and end."""

    kind: str
    value: Value
    start: int
    end: int
    complaint: str = ""


def tokens(source: bytes) -> Iterator[Token]:
    """The tokens of a program, ``$end`` last. It stands where the last thing was read, blanks included."""
    place = start = 0
    inside: list[bytes] = []
    while place < len(source):
        in_string = bool(inside) and inside[-1] == b'"'
        match = (_TEXT if in_string else _CODE).match(source, place)
        assert match is not None
        start, place = match.span()
        token = _text_token(match, inside) if in_string else _code_token(match, inside)
        if token is not None:
            yield token
    yield Token(END, None, start, place)


def _code_token(match: re.Match[bytes], inside: list[bytes]) -> Token | None:
    text, (start, end) = match.group(), match.span()
    kind = match.lastgroup
    if kind == "blank":
        return None
    if kind == "number":
        return _literal("LITERAL", text, start, end)
    if kind == "field":
        return Token("FIELD", text[1:].decode(), start, end)
    if kind == "word":
        word = text.decode()
        return Token(word if word in KEYWORDS else "IDENT", word, start, end)
    if kind == "format":
        return Token("FORMAT", text[1:].decode(), start, end)
    if kind == "operator":
        return Token(text.decode(), None, start, end)
    if kind == "quote":
        inside.append(b'"')
        return Token("QQSTRING_START", None, start, end)
    if kind == "open":
        inside.append(text)
        return Token(text.decode(), None, start, end)
    if kind == "close" and inside and _CLOSES.get(inside[-1]) == text:
        interpolation = inside.pop() == b"\\("
        return Token("QQSTRING_INTERP_END" if interpolation else text.decode(), None, start, end)
    return Token(INVALID, None, start, end)


def _text_token(match: re.Match[bytes], inside: list[bytes]) -> Token:
    text, (start, end) = match.group(), match.span()
    match match.lastgroup:
        case "interpolation":
            inside.append(b"\\(")
            return Token("QQSTRING_INTERP_START", None, start, end)
        case "quote":
            inside.pop()
            return Token("QQSTRING_END", None, start, end)
        case "escapes":
            return _literal("QQSTRING_TEXT", b'"' + text + b'"', start, end)
        case "plain":
            return Token("QQSTRING_TEXT", decode(text), start, end)
    return Token(INVALID, None, start, end)


def _literal(kind: str, text: bytes, start: int, end: int) -> Token:
    readable = decode(text)
    try:
        return Token(kind, parse_text(readable.encode()), start, end)
    except JsonError as error:
        return Token(kind, None, start, end, f"{error} (while parsing '{readable}')")
