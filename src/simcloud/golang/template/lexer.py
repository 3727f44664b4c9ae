"""Splits a Go template into tokens."""

from __future__ import annotations

import re
from collections.abc import Iterator

from msgspec import Struct

from simcloud.golang.quoting import quote

KEYWORDS = frozenset(
    {"block", "break", "continue", "define", "else", "end", "if", "range", "nil", "template", "with"}
)
_SPACES = " \t\r\n"
_ENDS = frozenset(" \t\r\n.,|:)(")
_NUMBER = re.compile(
    r"[+-]?(?:0[xX][0-9a-fA-F_]*(?:\.[0-9a-fA-F_]*)?(?:[pP][+-]?[0-9_]*)?|0[oO][0-7_]*(?:\.[0-7_]*)?"
    r"|0[bB][01_]*(?:\.[01_]*)?|[0-9_]*(?:\.[0-9_]*)?(?:[eE][+-]?[0-9_]*)?)i?"
)


class Token(Struct, frozen=True):
    """A piece of a template: its kind, text, place and line."""

    kind: str
    text: str
    place: int
    line: int

    def __str__(self) -> str:
        if self.kind == "eof":
            return "EOF"
        if self.kind == "error":
            return self.text
        if self.kind in KEYWORDS:
            return f"<{self.text}>"
        return f"{quote(self.text[:10])}..." if len(self.text) > 10 else quote(self.text)


def tokens(text: str) -> Iterator[Token]:
    """The tokens of a template; the last is ``eof`` or an ``error``."""
    return _Lexer(text).run()


class _Stop(Exception):
    pass


class _Lexer:
    def __init__(self, text: str) -> None:
        self._text = text
        self._place = 0
        self._depth = 0

    def run(self) -> Iterator[Token]:
        text = self._text
        trimmed = False
        try:
            while True:
                opening = text.find("{{", self._place)
                words = text[self._place : opening if opening >= 0 else None]
                start = self._place
                if trimmed:
                    kept = words.lstrip(_SPACES)
                    start += len(words) - len(kept)
                    words = kept
                trims = opening >= 0 and self._trims(opening + 2)
                if trims:
                    words = words.rstrip(_SPACES)
                if words:
                    yield self._token("text", words, start)
                if opening < 0:
                    yield self._token("eof", "", len(text))
                    return
                self._place = opening + 2 + (2 if trims else 0)
                if text.startswith("/*", self._place):
                    trimmed = self._comment(opening)
                    continue
                yield self._token("left", "{{", opening)
                self._depth = 0
                trimmed = False
                while not (closing := self._closing()):
                    yield self._inside()
                if self._depth:
                    self._fail("unclosed left paren", self._place)
                trimmed = closing > 2
                yield self._token("right", "}}", self._place + closing - 2)
                self._place += closing
        except _Stop as stop:
            yield stop.args[0]

    def _token(self, kind: str, text: str, place: int) -> Token:
        return Token(kind, text, place, 1 + self._text.count("\n", 0, place))

    def _fail(self, message: str, place: int) -> None:
        raise _Stop(self._token("error", message, place))

    def _trims(self, place: int) -> bool:
        return self._text[place : place + 1] == "-" and self._text[place + 1 : place + 2] in tuple(_SPACES)

    def _closing(self) -> int:
        """The length of what closes an action here, with its trimming; 0 if nothing does."""
        if self._text.startswith("}}", self._place):
            return 2
        trimming = self._text[self._place : self._place + 1] in tuple(_SPACES)
        return 4 if trimming and self._text.startswith("-}}", self._place + 1) else 0

    def _comment(self, opening: int) -> bool:
        end = self._text.find("*/", self._place)
        if end < 0:
            self._fail("unclosed comment", self._place)
        self._place = end + 2
        closing = self._closing()
        if not closing:
            self._fail("comment ends before closing delimiter", self._place)
        self._place += closing
        return closing > 2

    def _inside(self) -> Token:
        start = self._place
        char = self._text[start : start + 1]
        if not char:
            self._fail("unclosed action", start)
        if char in _SPACES:
            return self._spaces(start)
        self._place += 1
        if char == ":":
            if self._text[self._place : self._place + 1] != "=":
                self._fail("expected :=", start)
            self._place += 1
            return self._token("declare", ":=", start)
        if char in "=|":
            return self._token("assign" if char == "=" else "pipe", char, start)
        if char in "\"'":
            return self._lex_quoted(char, start)
        if char == "`":
            end = self._text.find("`", self._place)
            if end < 0:
                self._fail("unterminated raw quoted string", start)
            self._place = end + 1
            return self._token("string", self._text[start : self._place], start)
        digit = self._text[self._place : self._place + 1] in tuple("0123456789")
        if char == "$" or (char == "." and not digit):
            return self._name("variable" if char == "$" else "field", start)
        if char in "+-.0123456789":
            return self._number(start)
        if char == "_" or char.isalnum():
            return self._name("identifier", start)
        if char in "()":
            self._depth += 1 if char == "(" else -1
            if self._depth < 0:
                self._fail("unexpected right paren", start)
            return self._token(char, char, start)
        if char.isascii() and char.isprintable():
            return self._token("char", char, start)
        self._fail(f"unrecognized character in action: {_format_char(char)}", start)
        raise AssertionError

    def _spaces(self, start: int) -> Token:
        while self._text[self._place : self._place + 1] in tuple(_SPACES) and not self._closing():
            self._place += 1
        return self._token("space", self._text[start : self._place], start)

    def _lex_quoted(self, mark: str, start: int) -> Token:
        while (char := self._text[self._place : self._place + 1]) != mark:
            if char == "\\":
                self._place += 1
                char = self._text[self._place : self._place + 1]
            if char in ("", "\n"):
                self._fail(
                    "unterminated quoted string" if mark == '"' else "unterminated character constant", start
                )
            self._place += 1
        self._place += 1
        return self._token("string" if mark == '"' else "character", self._text[start : self._place], start)

    def _number(self, start: int) -> Token:
        match = _NUMBER.match(self._text, start)
        assert match is not None
        self._place = match.end()
        after = self._text[self._place : self._place + 1]
        if after == "_" or after.isalnum():
            self._place += 1
            self._fail(f"bad number syntax: {quote(self._text[start : self._place])}", start)
        return self._token("number", match.group(), start)

    def _name(self, kind: str, start: int) -> Token:
        if kind != "identifier" and self._ends():
            return self._token("dot" if kind == "field" else kind, self._text[start : self._place], start)
        while (char := self._text[self._place : self._place + 1]) == "_" or char.isalnum():
            self._place += 1
        if not self._ends():
            self._fail(f"bad character {_format_char(char)}", start)
        text = self._text[start : self._place]
        if kind == "identifier":
            kind = text if text in KEYWORDS else "bool" if text in ("true", "false") else kind
        return self._token(kind, text, start)

    def _ends(self) -> bool:
        after = self._text[self._place : self._place + 1]
        return not after or after in _ENDS or self._text.startswith("}}", self._place)


def _format_char(char: str) -> str:
    return f"U+{ord(char):04X}" + (f" '{char}'" if char.isprintable() else "")
