"""The lexer: names, numbers, strings, templates, regular expressions and punctuation.

The previous token decides whether a slash begins a regular expression, which is wrong only for a division right
after the closing brace of a block.
"""

from __future__ import annotations

import re
from typing import Final

from msgspec import Struct, field

from simcloud.datastores.mongodb.shell.javascript.error_messages import ErrorMessages

MAX_SOURCE_CHARACTERS: Final = 1 << 20
MAX_TEMPLATE_DEPTH: Final = 16

KEYWORDS: Final = frozenset({
    "break", "case", "catch", "class", "const", "continue", "debugger", "default", "delete", "do", "else", "export",
    "extends", "finally", "for", "function", "if", "import", "in", "instanceof", "new", "return", "super", "switch",
    "this", "throw", "try", "typeof", "var", "void", "while", "with", "null", "true", "false",
})  # fmt: skip
_SIGNS = sorted(
    [
        "{",
        "}",
        "(",
        ")",
        "[",
        "]",
        ";",
        ",",
        "<",
        ">",
        "<=",
        ">=",
        "==",
        "!=",
        "===",
        "!==",
        "+",
        "-",
        "*",
        "/",
        "%",
        "**",
        "++",
        "--",
        "<<",
        ">>",
        ">>>",
        "&",
        "|",
        "^",
        "!",
        "~",
        "&&",
        "||",
        "??",
        "?",
        "?.",
        ":",
        "=",
        "+=",
        "-=",
        "*=",
        "/=",
        "%=",
        "**=",
        "<<=",
        ">>=",
        ">>>=",
        "&=",
        "|=",
        "^=",
        "=>",
        ".",
        "...",
    ],
    key=len,
    reverse=True,
)
_BLANK = re.compile(r"(?:[\s\ufeff]|//[^\n]*|/\*(?:[^*]|\*(?!/))*\*/)+")
_NAME = re.compile(r"[^\W\d][\w$]*|\$[\w$]*")
_NUMBER = re.compile(
    r"0[xX][0-9a-fA-F_]+|0[oO][0-7_]+|0[bB][01_]+|(?:\d[\d_]*\.?[\d_]*|\.\d[\d_]*)(?:[eE][+-]?\d+)?"
)
_SIGN = re.compile("|".join(re.escape(sign) for sign in _SIGNS))
_REGEX = re.compile(r"/((?:\\[^\n]|\[(?:\\[^\n]|[^\]\\\n])*\]|[^/\\\[\n])+)/([A-Za-z]*)")
_PLAIN = {'"': re.compile(r'[^"\\\n]*'), "'": re.compile(r"[^'\\\n]*"), "`": re.compile(r"[^`\\$]*|\$(?!\{)")}
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", "v": "\v", "0": "\0", "\n": ""}
_HEX = re.compile(r"x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|u\{([0-9a-fA-F]{1,6})\}")
_VALUES_END = frozenset([")", "]", "}"])
_BEFORE_REGEX = frozenset(
    ["return", "typeof", "case", "in", "of", "delete", "void", "throw", "new", "instanceof", "else", "do"]
)


class SyntaxFailure(Exception):
    """A syntax error. ``incomplete``: more text could complete the script."""

    def __init__(self, message: str, at: int, *, incomplete: bool = False) -> None:
        super().__init__(message)
        self.at = at
        self.incomplete = incomplete


class Token(Struct):
    """A token. ``kind``: name, keyword, number, string, template, regex, sign or end."""

    kind: str
    text: str
    at: int
    end: int
    newline_before: bool
    number: float = 0.0
    texts: list[str] = field(default_factory=list)
    parts: list[list[Token]] = field(default_factory=list)


class Lexer:
    """Splits a text into tokens."""

    def __init__(self, text: str, messages: ErrorMessages) -> None:
        self._text = text
        self._messages = messages
        self._at = 0
        self._depth = 0

    def tokens(self) -> list[Token]:
        """Split the whole text into tokens; the last one is the end."""
        if len(self._text) > MAX_SOURCE_CHARACTERS:
            raise SyntaxFailure(self._messages.too_long(), 0)
        if self._text.startswith("#!"):
            self._at = self._text.find("\n") if "\n" in self._text else len(self._text)
        return self._until("")

    def _until(self, closing: str) -> list[Token]:
        found: list[Token] = []
        braces = 0
        while True:
            token = self._next(found[-1] if found else None)
            if token.kind == "sign" and closing:
                braces += {"{": 1, "}": -1}.get(token.text, 0)
                if braces < 0:
                    self._at = token.end
                    found.append(Token("end", "", token.at, token.at, False))
                    return found
            if token.kind == "end" and closing:
                raise SyntaxFailure(self._messages.no_end("template"), token.at, incomplete=True)
            found.append(token)
            if token.kind == "end":
                return found

    def _next(self, before: Token | None) -> Token:
        text, start = self._text, self._at
        newline = False
        blank = _BLANK.match(text, start)
        if blank is not None:
            newline = "\n" in blank[0]
            start = self._at = blank.end()
        if start >= len(text):
            return Token("end", "", start, start, newline)
        if text.startswith("/*", start):
            raise SyntaxFailure(self._messages.no_end("comment"), start, incomplete=True)
        character = text[start]
        if (name := _NAME.match(text, start)) is not None:
            kind = "keyword" if name[0] in KEYWORDS else "name"
            return self._token(kind, name[0], start, name.end(), newline)
        if character in "\"'":
            return self._string(character, start, newline)
        if character == "`":
            return self._template(start, newline)
        if character.isdigit() or (character == "." and text[start + 1 : start + 2].isdigit()):
            return self._number(start, newline)
        if character == "/" and _regex_may_stand(before):
            regex = _REGEX.match(text, start)
            if regex is None:
                raise SyntaxFailure(self._messages.no_end("regex"), start)
            token = self._token("regex", regex[1], start, regex.end(), newline)
            token.texts = [regex[2]]
            return token
        sign = _SIGN.match(text, start)
        if sign is None:
            raise SyntaxFailure(self._messages.illegal_character(character), start)
        end = sign.end()
        if sign[0] == "?." and text[end : end + 1].isdigit():
            end -= 1
        return self._token("sign", text[start:end], start, end, newline)

    def _token(self, kind: str, text: str, start: int, end: int, newline: bool) -> Token:
        self._at = end
        return Token(kind, text, start, end, newline)

    def _number(self, start: int, newline: bool) -> Token:
        match = _NUMBER.match(self._text, start)
        assert match is not None
        digits = match[0].replace("_", "")
        if match.end() - start > 1000 or _NAME.match(self._text, match.end()) is not None:
            raise SyntaxFailure(self._messages.bad_number(), match.end())
        token = self._token("number", match[0], start, match.end(), newline)
        base = {"x": 16, "o": 8, "b": 2}.get(digits[1:2].lower(), 10) if digits[0] == "0" else 10
        try:
            token.number = float(int(digits[2:], base)) if base != 10 else float(digits)
        except OverflowError:
            token.number = float("inf")
        return token

    def _string(self, quote: str, start: int, newline: bool) -> Token:
        self._at = start + 1
        value = self._characters(quote, start)
        if self._text[self._at : self._at + 1] != quote:
            raise SyntaxFailure(self._messages.no_end("string"), start)
        return self._token("string", value, start, self._at + 1, newline)

    def _template(self, start: int, newline: bool) -> Token:
        if self._depth > MAX_TEMPLATE_DEPTH:
            raise SyntaxFailure(self._messages.too_deep(), start)
        self._at = start + 1
        texts: list[str] = []
        parts: list[list[Token]] = []
        while True:
            texts.append(self._characters("`", start))
            if self._text.startswith("${", self._at):
                self._at += 2
                self._depth += 1
                parts.append(self._until("}"))
                self._depth -= 1
                continue
            if self._text[self._at : self._at + 1] != "`":
                raise SyntaxFailure(self._messages.no_end("template"), start, incomplete=True)
            token = self._token("template", "", start, self._at + 1, newline)
            token.texts, token.parts = texts, parts
            return token

    def _characters(self, quote: str, start: int) -> str:
        text, plain, pieces = self._text, _PLAIN[quote], []
        while True:
            match = plain.match(text, self._at)
            if match is not None and match[0]:
                pieces.append(match[0])
                self._at = match.end()
            elif text[self._at : self._at + 1] == "\\":
                pieces.append(self._escape(start))
            else:
                return "".join(pieces)

    def _escape(self, start: int) -> str:
        text, at = self._text, self._at + 1
        if at >= len(text):
            raise SyntaxFailure(self._messages.no_end("string"), start)
        code = _HEX.match(text, at)
        if code is not None:
            self._at = code.end()
            number = int(code[1] or code[2] or code[3], 16)
            if number > 0x10FFFF:
                raise SyntaxFailure(self._messages.bad_escape(), at)
            return chr(number)
        if text[at] in "xu":
            raise SyntaxFailure(self._messages.bad_escape(), at)
        self._at = at + 1
        return _ESCAPES.get(text[at], text[at])


def _regex_may_stand(before: Token | None) -> bool:
    if before is None:
        return True
    if before.kind == "sign":
        return before.text not in _VALUES_END
    return before.kind in ("keyword", "name") and before.text in _BEFORE_REGEX
