"""Parses one value as models write it: Python's and JSON's literals, in any mixture.

Not Python's `ast`, because the reader must accept what Python refuses (line breaks in plain strings, `true` and `null`,
octal-looking references of `sed`), never execute anything, and stay linear and shallow on hostile input. Sets and tuples
become lists. It does not refuse everything that Python would refuse.

Groups have no possessive quantifiers (`(...)*+`): up to Python 3.11.4 they miss matches if the group itself can match in
several ways.
"""

import re
from collections.abc import Callable
from typing import Any

MAX_DEPTH = 64
_MAX_NUMBER_CHARS = 400

_CONSTANTS: dict[str, object] = {
    "True": True, "true": True, "False": False, "false": False, "None": None, "null": None,
}  # fmt: skip
_CLOSING = {"(": ")", "[": "]", "{": "}"}
_BLANK = re.compile(r"(?:\s++|\#[^\n]*+|\\\r?\n)*")
_WORD = re.compile(r"[^\W\d]\w*+")
_NUMBER = re.compile(
    r"[-+]?(?:0[xX][0-9a-fA-F_]+|0[oO][0-7_]+|0[bB][01_]+"
    r"|(?:\d[\d_]*(?:\.[\d_]*)?|\.\d[\d_]*)(?:[eE][-+]?\d+)?)"
)
_STRING_START = re.compile(r"([rRuUfF]{0,2})(\"\"\"|'''|\"|')")
_STRING_REST = {
    quote: re.compile(rf"((?:[^{quote[0]}\\]++|\\.{'' if len(quote) == 1 else f'|{quote[0]}(?!{quote[:2]}(?!{quote[0]}))'})*){quote}", re.DOTALL)
    for quote in ('"', "'", '"""', "'''")
}  # fmt: skip
"""The last three of more than three quotes in a row close the string; in Python that is an error."""
_VARIABLE = re.compile(r"(?<!\{)\{([^\W\d]\w*+)\}(?!\})")
_ESCAPE = re.compile(
    r"\\(?:u([dD][89abAB][0-9a-fA-F]{2})\\u([dD][c-fC-F][0-9a-fA-F]{2})"
    r"|x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|([0-3][0-7]{2}|0)|(\r?\n)|(.))",
    re.DOTALL,
)
_SIMPLE = {"n": "\n", "t": "\t", "r": "\r", "\\": "\\", "'": "'", '"': '"'}
_JSON_ONLY = {"b": "\b", "f": "\f", "/": "/"}


class Unreadable(Exception):
    """The text is not a value here; `reason` completes "cannot be parsed:", `at` is the position."""

    def __init__(self, reason: str, at: int) -> None:
        super().__init__(reason)
        self.reason = reason
        self.at = at


def unescape(text: str, *, json: bool = False) -> str:
    """Return the text with its escapes resolved.

    As in Python, with one difference: `\\b`, `\\1` and the like stay unchanged, because in a command they are meant for
    grep and sed, not as a backspace.
    """
    if "\\" not in text:
        return text

    def resolve(found: re.Match[str]) -> str:
        high, low, *codes, octal, line_break, char = found.groups()
        if high:
            return chr(0x10000 + ((int(high, 16) - 0xD800) << 10) + int(low, 16) - 0xDC00)
        for code in codes:
            if code:
                return chr(int(code, 16)) if int(code, 16) <= 0x10FFFF else found[0]
        if octal:
            return chr(int(octal, 8))
        if line_break:
            return ""
        simple = _SIMPLE.get(char) or (_JSON_ONLY.get(char) if json else None)
        return found[0] if simple is None else simple

    return _ESCAPE.sub(resolve, text)


class Reader:
    """A position in a text that advances as values are read, and never reaches beyond `end`."""

    def __init__(self, text: str, at: int = 0, end: int | None = None, *, json: bool = False) -> None:
        self.text = text
        self.at = at
        self.end = len(text) if end is None else min(end, len(text))
        self._json = json
        self._depth = 0

    def skip_blank(self) -> None:
        """Skip white space, comments and continued lines."""
        found = _BLANK.match(self.text, self.at, self.end)
        self.at = found.end() if found else self.at

    def peek(self) -> str:
        """Return the next character that is not blank, or an empty string at the end."""
        self.skip_blank()
        return self.text[self.at] if self.at < self.end else ""

    def take(self, char: str) -> bool:
        """Skip this character if it is the next one; returns whether it was."""
        if self.peek() != char:
            return False
        self.at += 1
        return True

    def peek_word(self) -> str:
        """Return the word at this position, without advancing."""
        self.skip_blank()
        found = _WORD.match(self.text, self.at, self.end)
        return found[0] if found else ""

    def read_value(self) -> Any:
        """Read and return one value; raises `Unreadable`."""
        char = self.peek()
        if not char:
            raise Unreadable("it is incomplete", self.at)
        if _STRING_START.match(self.text, self.at, self.end):
            return self._read_strings()
        if char in _CLOSING:
            return self._read_nested(char)
        if char in "+-." or char.isdigit():
            return self._read_number()
        word = self.peek_word()
        if word in _CONSTANTS:
            self.at += len(word)
            return _CONSTANTS[word]
        if word:
            raise Unreadable(f"{word[:40]} is neither in quotes nor a number, a list or a dict", self.at)
        raise Unreadable(f"no value begins with {char}", self.at)

    def read_items(self, close: str, read: Callable[[], None]) -> None:
        """Call `read` for each comma-separated item up to the closing bracket; a trailing comma is allowed."""
        while not self.take(close):
            read()
            if not self.take(",") and self.peek() != close:
                seen = self.text[self.at] if self.at < self.end else ""
                raise Unreadable(
                    f"a comma or {close} is missing before {seen}"
                    if seen
                    else f"its closing {close} is missing",
                    self.at,
                )

    def _read_strings(self) -> str:
        """Read a string, or several joined by blanks or a +, as in Python.

        Adjacent strings without a blank are not joined: there a quote was probably not escaped.
        """
        parts = [self._read_string()]
        while True:
            after = self.at
            self.take("+")
            self.skip_blank()
            if self.at == after or not _STRING_START.match(self.text, self.at, self.end):
                self.at = after
                return "".join(parts)
            parts.append(self._read_string())

    def _read_string(self) -> str:
        start = _STRING_START.match(self.text, self.at, self.end)
        assert start is not None
        found = _STRING_REST[start[2]].match(self.text, start.end(), self.end)
        if not found:
            raise Unreadable(f"the text that begins with {start[2]} is not closed by {start[2]}", self.at)
        prefix = start[1].lower()
        if "f" in prefix and (variable := _VARIABLE.search(found[1])):
            raise Unreadable(f"the variable {variable[1][:40]} of the f-string is not defined", self.at)
        self.at = found.end()
        written = found[1] if "r" in prefix else unescape(found[1], json=self._json)
        return written.replace("{{", "{").replace("}}", "}") if "f" in prefix else written

    def _read_number(self) -> int | float:
        found = _NUMBER.match(self.text, self.at, self.end)
        if not found or found.end() - self.at > _MAX_NUMBER_CHARS:
            raise Unreadable("it contains an invalid number", self.at)
        following = self.text[found.end() : found.end() + 1]
        if following.isalnum() or following in ("_", "."):
            raise Unreadable("it contains an invalid number; put text in quotes", self.at)
        try:
            number = self._parse_number(found[0].replace("_", ""))
        except ValueError:
            raise Unreadable("it contains an invalid number", self.at) from None
        self.at = found.end()
        return number

    @staticmethod
    def _parse_number(digits: str) -> int | float:
        if digits.lstrip("+-")[:2].lower() in ("0x", "0o", "0b"):
            return int(digits, 0)
        return float(digits) if any(mark in digits for mark in ".eE") else int(digits)

    def _read_nested(self, opening: str) -> Any:
        if self._depth >= MAX_DEPTH:
            raise Unreadable(f"its lists and dicts are nested more than {MAX_DEPTH} deep", self.at)
        self._depth += 1
        self.at += 1
        try:
            if opening == "{":
                return self._read_braces()
            values: list[Any] = []
            start = self.at
            self.read_items(_CLOSING[opening], lambda: values.append(self.read_value()))
            if opening == "(" and len(values) == 1 and not self._has_trailing_comma(start):
                return values[0]
            return values
        finally:
            self._depth -= 1

    def _has_trailing_comma(self, start: int) -> bool:
        """Whether the last bracket closed after a comma: `("a",)` is a list, `("a")` is not."""
        return self.text[start : self.at - 1].rstrip().endswith(",")

    def _read_braces(self) -> Any:
        pairs: dict[Any, Any] = {}
        values: list[Any] = []

        def read() -> None:
            at = self.at
            key = self.read_value()
            if not self.take(":"):
                values.append(key)
            elif isinstance(key, list | dict):
                raise Unreadable("a list or a dict cannot be the key of a dict", at)
            else:
                pairs[key] = self.read_value()

        self.read_items("}", read)
        if pairs and values:
            raise Unreadable("a dict in it has a key without a value", self.at)
        return values or pairs
