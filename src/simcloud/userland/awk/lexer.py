"""Splits the text of an awk program into tokens.

A slash divides or begins a regular expression, and only the grammar knows which. So tokens are read
one at a time, and the parser asks for a regular expression (``regex``) where one may stand.
"""

from __future__ import annotations

import math
import re
from typing import Final

from msgspec import Struct

from simcloud.userland.awk.errors import ProgramError
from simcloud.userland.awk.locale import Locale

KEYWORDS: Final = frozenset(
    (
        "BEGIN", "END", "break", "case", "continue", "default", "delete", "do", "else", "exit", "for", "func",
        "function", "getline", "if", "in", "next", "nextfile", "print", "printf", "return", "switch", "while",
    )
)  # fmt: skip

BUILTINS: Final[dict[str, tuple[int, int]]] = {
    "asort": (1, 3), "asorti": (1, 3), "atan2": (2, 2), "close": (1, 2),
    "cos": (1, 1), "exp": (1, 1), "fflush": (0, 1), "gensub": (3, 4), "gsub": (2, 3), "index": (2, 2),
    "int": (1, 1), "length": (0, 1), "log": (1, 1), "match": (2, 3),
    "mktime": (1, 2), "rand": (0, 0), "sin": (1, 1),
    "split": (2, 3), "sprintf": (0, 99), "sqrt": (1, 1), "srand": (0, 1), "strftime": (0, 3),
    "strtonum": (1, 1), "sub": (2, 3), "substr": (2, 3), "system": (1, 1), "systime": (0, 0),
    "tolower": (1, 1), "toupper": (1, 1),
}  # fmt: skip
"""The language's functions and how many arguments each may take."""

_SPACE: Final = re.compile(r"(?:[ \t\r\f\v]|\\\r?\n)+")
_NUMBER: Final = re.compile(r"0[xX][0-9a-fA-F]+|(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z_0-9]*")
_OPERATOR: Final = re.compile(
    r"\*\*=|\*\*|[-+*/%^=!<>]=|\+\+|--|&&|\|\||\|&|>>|!~|[-+*/%^=!<>|&~?:,()\[\]{};$.@]"
)
_SIMPLE_ESCAPES: Final = {
    "a": "\a", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v", "\\": "\\", '"': '"',
}  # fmt: skip
_ESCAPE: Final = re.compile(r"\\(x[0-9A-Fa-f]{1,2}|[0-7]{1,3}|\n|.)", re.DOTALL)


class Source(Struct, frozen=True):
    """One piece of program text and its name in messages."""

    name: str
    text: str
    is_file: bool = False


class Token(Struct, frozen=True):
    """``kind`` is number, string, regex, name, call (a name before a parenthesis), builtin, newline,
    end, or the keyword or operator itself."""

    kind: str
    value: str
    start: int
    line: int
    source: Source

    @property
    def place(self) -> str:
        """The place for messages."""
        return f"{self.source.name}:{self.line}"


class Lexer:
    """Splits one source into tokens."""

    def __init__(self, source: Source, locale: Locale, warnings: list[str]) -> None:
        self.source = source
        self.locale = locale
        self._text = source.text
        self._position = 0
        self._line = 1
        self._last = Token("newline", "", 0, 1, source)
        self._last_word_start = 0
        self._warnings = warnings

    def next(self) -> Token:
        """The next token; after the last line comes a newline even if it had none."""
        self._last = self._scan()
        if self._last.kind not in ("newline", "end"):
            self._last_word_start = self._last.start
        return self._last

    def _scan(self) -> Token:
        text = self._text
        self._skip_blank()
        start, line = self._position, self._line
        if start >= len(text):
            return Token("end" if self._last.kind == "newline" else "newline", "", start, line, self.source)
        first = text[start]
        if first == "\n":
            self._position += 1
            self._line += 1
            return Token("newline", "\n", start, line, self.source)
        if first == '"':
            return self._string(start)
        if found := _NUMBER.match(text, start):
            self._position = found.end()
            return Token("number", found.group(), start, line, self.source)
        if found := _NAME.match(text, start):
            self._position = found.end()
            return Token(
                self._kind_of_name(found.group(), found.end()), found.group(), start, line, self.source
            )
        if found := _OPERATOR.match(text, start):
            self._position = found.end()
            return Token(found.group(), found.group(), start, line, self.source)
        if first == "\\":
            raise self.error("backslash not last character on line", start, line)
        byte = self.locale.decode(self.locale.encode(first)[:1])
        raise self.error(f"invalid char '{byte}' in expression", start, line)

    def _kind_of_name(self, name: str, end: int) -> str:
        if name in KEYWORDS:
            return "function" if name == "func" else name
        if name in BUILTINS:
            return "builtin"
        return "call" if self._text.startswith("(", end) else "name"

    def _skip_blank(self) -> None:
        text = self._text
        while True:
            if found := _SPACE.match(text, self._position):
                self._line += text.count("\n", self._position, found.end())
                self._position = found.end()
            if not text.startswith("#", self._position):
                return
            end = text.find("\n", self._position)
            self._position = len(text) if end < 0 else end

    def _string(self, start: int) -> Token:
        text, position, line = self._text, start + 1, self._line
        while position < len(text) and text[position] not in '"\n':
            if text[position] == "\\":
                self._line += text.startswith("\n", position + 1)
                position += 1
            position += 1
        if position >= len(text) or text[position] == "\n":
            raise self.error("unterminated string", start, line)
        self._position = position + 1
        place = f"{self.source.name}:{line}: "
        value = unescape(text[start + 1 : position], self.locale, self._warnings, place)
        return Token("string", value, start, line, self.source)

    def regex(self, slash: Token) -> Token:
        """Read again from a slash that turned out to begin a regular expression."""
        text, position = self._text, slash.start + 1
        bracket_start = -1
        while position < len(text) and text[position] != "\n":
            char = text[position]
            if char == "\\":
                position += 1
            elif bracket_start < 0 and char == "[":
                bracket_start = position + 2 if text.startswith("^", position + 1) else position + 1
            elif bracket_start >= 0 and text.startswith("[:", position):
                position = max(position, text.find(":]", position + 2) + 1)
            elif bracket_start >= 0 and char == "]" and position > bracket_start:
                bracket_start = -1
            elif bracket_start < 0 and char == "/":
                self._position = position + 1
                source = text[slash.start + 1 : position].replace("\\/", "/").replace("\\\n", "")
                self._last = Token("regex", source, slash.start, slash.line, self.source)
                return self._last
            position += 1
        empty = text[slash.start + 1 : slash.start + 2] in ("", "\n")
        complaint = "unexpected newline or end of string" if empty else "unterminated regexp"
        raise self.error(complaint, slash.start + 1, slash.line)

    def comes_getline(self) -> bool:
        """Whether the word ``getline`` stands next (after a ``|`` that was just read)."""
        self._skip_blank()
        found = _NAME.match(self._text, self._position)
        return found is not None and found.group() == "getline"

    # -- messages ------------------------------------------------------------------------------

    def syntax_error(self, token: Token) -> ProgramError:
        """Return the error for a token that the grammar does not allow there."""
        if token.kind == "newline":
            line = token.line + 1
            return self.error("unexpected newline or end of string", token.start, token.line, shown_line=line)
        if token.kind == "end":
            return self._end_error()
        return self.error("syntax error", token.start, token.line)

    def _end_error(self) -> ProgramError:
        text = self._text.removesuffix("\n")
        line = text.count("\n") + 1
        last_line = text.rpartition("\n")[2]
        comment = last_line.find("#")
        if self.source.is_file or comment >= 0:
            place = f"{self.source.name}:{line}: "
            last_word = max(self._last_word_start - (len(text) - len(last_line)), comment, 0)
            column = 0 if self._text.endswith("\n") else last_word
            complaint = "source files / command-line arguments must contain complete functions or rules"
            return ProgramError(place + "(END OF FILE)", f"{place}{' ' * column}^ {complaint}")
        return self.error("unexpected newline or end of string", len(text), line)

    def error(self, message: str, start: int, line: int, shown_line: int = 0) -> ProgramError:
        """A mistake at a place: the line of text, and a caret under the place."""
        text = self._text
        begin = text.rfind("\n", 0, start) + 1
        end = text.find("\n", start)
        # The genuine one counts bytes, so that its caret stands too far right after other letters.
        before = self.locale.encode(text[begin:start])
        margin = "".join("\t" if byte == ord("\t") else " " for byte in before)
        place = f"{self.source.name}:{shown_line or line}: "
        shown = text[begin : len(text) if end < 0 else end]
        return ProgramError(place + shown, f"{place}{margin}^ {message}")


def number_of(literal: str) -> float:
    """The value of a number in program text: decimal, hexadecimal (0x1f) or octal (017)."""
    try:
        if literal[:2] in ("0x", "0X"):
            return float(int(literal, 16))
        if literal[0] == "0" and literal.isdigit() and not set(literal) & set("89"):
            return float(int(literal, 8))
        return float(literal)
    except OverflowError:
        return math.inf


def unescape(text: str, locale: Locale, warnings: list[str], place: str) -> str:
    """Resolve the backslashes of a string; an unknown one is dropped, with a warning."""
    if "\\" not in text:
        return text

    def resolve(found: re.Match[str]) -> str:
        sequence = found.group(1)
        if sequence in _SIMPLE_ESCAPES:
            return _SIMPLE_ESCAPES[sequence]
        if sequence == "\n":
            return ""
        if sequence[0] in "01234567":
            return _byte(int(sequence, 8) & 0xFF)
        if sequence[0] == "x" and len(sequence) > 1:
            return _byte(int(sequence[1:], 16))
        message = f"warning: escape sequence `\\{sequence}' treated as plain `{sequence}'"
        if sequence == "x":
            message = "warning: no hex digits in `\\x' escape sequence"
        if not any(warning.endswith(message) for warning in warnings):
            warnings.append(place + message)
        return sequence

    return locale.settle(_ESCAPE.sub(resolve, text))


def _byte(code: int) -> str:
    return bytes([code]).decode("utf-8", "surrogateescape")
