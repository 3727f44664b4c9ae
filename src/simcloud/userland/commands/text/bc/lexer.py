"""The words of ``bc`` programs."""

from __future__ import annotations

from typing import NamedTuple

KEYWORDS = frozenset(
    [
        "auto",
        "break",
        "continue",
        "define",
        "else",
        "for",
        "halt",
        "ibase",
        "if",
        "last",
        "length",
        "obase",
        "print",
        "quit",
        "read",
        "return",
        "scale",
        "sqrt",
        "void",
        "while",
    ]
)
_SYMBOLS = (
    "<=", ">=", "==", "!=", "&&", "||", "++", "--", "+=", "-=", "*=", "/=", "%=", "^=",
    "+", "-", "*", "/", "%", "^", "(", ")", "[", "]", "{", "}", ",", ";", "=", "<", ">", "!", "\n", ".",
)  # fmt: skip
_DIGITS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"


class BcSyntaxError(Exception):
    """A line cannot be compiled. ``skipped`` says that the rest of it has been read over already."""

    def __init__(self, message: str, line: int, skipped: bool = False) -> None:
        super().__init__(message)
        self.line = line
        self.skipped = skipped


class Token(NamedTuple):
    """``kind`` is number, name, word (reserved), string, symbol, bad or end."""

    kind: str
    text: str


class Lexer:
    """Splits a text into tokens, one ahead, and counts its lines."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0
        self._ahead: Token | None = None
        self.line = 1
        self.unclosed_comment = False

    def peek(self) -> Token:
        """The next token, which stays."""
        if self._ahead is None:
            self._ahead = self._scan()
        return self._ahead

    def take(self) -> Token:
        """The next token."""
        token = self.peek()
        self._ahead = None
        return token

    def line_at_peek(self) -> int:
        """The line that a mistake at the next token is reported for: a newline belongs to the line after it."""
        return 1 if self.peek().kind == "end" else self.line

    def skip_line(self) -> None:
        """Go on after the next newline."""
        while self.peek().kind != "end":
            if self.take().text == "\n":
                return

    def _scan(self) -> Token:
        self._skip_blanks()
        text, at = self._text, self._at
        if at >= len(text):
            return Token("end", "")
        if text[at] == '"':
            return self._string()
        if text[at] in _DIGITS or (text[at] == "." and text[at + 1 : at + 2] and text[at + 1] in _DIGITS):
            return self._number()
        if "a" <= text[at] <= "z":
            end = at
            while end < len(text) and (
                (text[end].isascii() and (text[end].islower() or text[end].isdigit())) or text[end] == "_"
            ):
                end += 1
            self._at = end
            word = text[at:end]
            return Token("word" if word in KEYWORDS else "name", word)
        symbol = next((symbol for symbol in _SYMBOLS if text.startswith(symbol, at)), None)
        self._at += len(symbol) if symbol else 1
        if symbol == "\n":
            self.line += 1
        return Token("symbol", symbol) if symbol else Token("bad", text[at])

    def _skip_blanks(self) -> None:
        text = self._text
        while self._at < len(text):
            if text[self._at] in " \t\r":
                self._at += 1
            elif text.startswith("\\\n", self._at):
                self._at += 2
                self.line += 1
            elif text[self._at] == "#":
                end = text.find("\n", self._at)
                self._at = len(text) if end < 0 else end
            elif text.startswith("/*", self._at):
                end = text.find("*/", self._at + 2)
                self.unclosed_comment = end < 0
                stop = len(text) if end < 0 else end + 2
                self.line += text.count("\n", self._at, stop)
                self._at = stop
            else:
                return

    def _string(self) -> Token:
        end = self._text.find('"', self._at + 1)
        if end < 0:
            self._at += 1
            return Token("bad", '"')
        body = self._text[self._at + 1 : end]
        self.line += body.count("\n")
        self._at = end + 1
        return Token("string", body)

    def _number(self) -> Token:
        digits, seen_point = "", False
        while self._at < len(self._text):
            letter = self._text[self._at]
            if self._text.startswith("\\\n", self._at):
                self._at += 2
                self.line += 1
                continue
            if letter == "." and not seen_point:
                seen_point = True
            elif letter not in _DIGITS:
                break
            digits += letter
            self._at += 1
        return Token("number", digits)
