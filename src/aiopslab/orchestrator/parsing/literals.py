"""Reads one value as models write it: Python's literals and JSON's, mixed as they come.

Our own reader rather than Python's `ast`, because it must take what Python refuses (line breaks in plain strings,
`true` and `null`, octal-looking references of `sed`), never execute anything, and stay linear and shallow on hostile
input. Sets and tuples are read as lists. What it does not promise: to refuse all that Python would refuse.
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
_BLANK = re.compile(r"(?:\s++|\#[^\n]*+|\\\r?\n)*+")
_WORD = re.compile(r"[^\W\d]\w*+")
_NUMBER = re.compile(
    r"[-+]?+(?:0[xX][0-9a-fA-F_]++|0[oO][0-7_]++|0[bB][01_]++"
    r"|(?:\d[\d_]*+(?:\.[\d_]*+)?+|\.\d[\d_]*+)(?:[eE][-+]?+\d++)?+)"
)
_STRING_START = re.compile(r"([rRuUfF]{0,2})(\"\"\"|'''|\"|')")
_STRING_REST = {
    quote: re.compile(rf"((?:[^{quote[0]}\\]++|\\.{'' if len(quote) == 1 else f'|{quote[0]}(?!{quote[:2]}(?!{quote[0]}))'})*+){quote}", re.DOTALL)
    for quote in ('"', "'", '"""', "'''")
}  # fmt: skip
"""Of more than three quotes in a row the last three close, unlike in Python, where such a text is an error."""
_VARIABLE = re.compile(r"(?<!\{)\{([^\W\d]\w*+)\}(?!\})")
_ESCAPE = re.compile(
    r"\\(?:u([dD][89abAB][0-9a-fA-F]{2})\\u([dD][c-fC-F][0-9a-fA-F]{2})"
    r"|x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|([0-3][0-7]{2}|0)|(\r?\n)|(.))",
    re.DOTALL,
)
_SIMPLE = {"n": "\n", "t": "\t", "r": "\r", "\\": "\\", "'": "'", '"': '"'}
_JSON_ONLY = {"b": "\b", "f": "\f", "/": "/"}


class Unreadable(Exception):
    """The text is no value here; `reason` goes on after "because", `at` is the place."""

    def __init__(self, reason: str, at: int) -> None:
        super().__init__(reason)
        self.reason = reason
        self.at = at


def unescape(text: str, *, json: bool = False) -> str:
    """The text with its escapes resolved.

    As in Python, with one difference: `\\b`, `\\1` and their like stay as they are, because in a command they are
    meant for grep and sed; nobody sends a backspace.
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
    """A place in a text that moves on as values are read; nothing at or after `end` is looked at."""

    def __init__(self, text: str, at: int = 0, end: int | None = None, *, json: bool = False) -> None:
        self.text = text
        self.at = at
        self.end = len(text) if end is None else min(end, len(text))
        self._json = json
        self._depth = 0

    def skip_blank(self) -> None:
        """Go past white space, comments and continued lines."""
        found = _BLANK.match(self.text, self.at, self.end)
        self.at = found.end() if found else self.at

    def peek(self) -> str:
        """The next character that is not blank, or nothing at the end."""
        self.skip_blank()
        return self.text[self.at] if self.at < self.end else ""

    def take(self, char: str) -> bool:
        """Go past this character if it is the next one."""
        if self.peek() != char:
            return False
        self.at += 1
        return True

    def word(self) -> str:
        """The word that stands here, without moving."""
        self.skip_blank()
        found = _WORD.match(self.text, self.at, self.end)
        return found[0] if found else ""

    def value(self) -> Any:
        """One value, or `Unreadable`."""
        char = self.peek()
        if not char:
            raise Unreadable("it breaks off before its end", self.at)
        if _STRING_START.match(self.text, self.at, self.end):
            return self._strings()
        if char in _CLOSING:
            return self._nested(char)
        if char in "+-." or char.isdigit():
            return self._number()
        word = self.word()
        if word in _CONSTANTS:
            self.at += len(word)
            return _CONSTANTS[word]
        if word:
            raise Unreadable(f"{word[:40]} is neither in quotes nor a number, a list or a dict", self.at)
        raise Unreadable(f"no value begins with {char}", self.at)

    def items(self, close: str, read: Callable[[], None]) -> None:
        """What stands between commas up to the closing bracket, a trailing comma allowed."""
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

    def _strings(self) -> str:
        """A string, or several with blanks or a + between them, as Python joins them.

        Without a blank between them they are not joined: there somebody forgot to escape a quote.
        """
        parts = [self._string()]
        while True:
            after = self.at
            self.take("+")
            self.skip_blank()
            if self.at == after or not _STRING_START.match(self.text, self.at, self.end):
                self.at = after
                return "".join(parts)
            parts.append(self._string())

    def _string(self) -> str:
        start = _STRING_START.match(self.text, self.at, self.end)
        assert start is not None
        found = _STRING_REST[start[2]].match(self.text, start.end(), self.end)
        if not found:
            raise Unreadable(f"the text that begins with {start[2]} is not closed by {start[2]}", self.at)
        prefix = start[1].lower()
        if "f" in prefix and (variable := _VARIABLE.search(found[1])):
            raise Unreadable(f"there is no variable {variable[1][:40]} to fill in", self.at)
        self.at = found.end()
        written = found[1] if "r" in prefix else unescape(found[1], json=self._json)
        return written.replace("{{", "{").replace("}}", "}") if "f" in prefix else written

    def _number(self) -> int | float:
        found = _NUMBER.match(self.text, self.at, self.end)
        if not found or found.end() - self.at > _MAX_NUMBER_CHARS:
            raise Unreadable("a number in it cannot be read", self.at)
        following = self.text[found.end() : found.end() + 1]
        if following.isalnum() or following in ("_", "."):
            raise Unreadable("a number in it cannot be read; put text in quotes", self.at)
        try:
            number = self._as_number(found[0].replace("_", ""))
        except ValueError:
            raise Unreadable("a number in it cannot be read", self.at) from None
        self.at = found.end()
        return number

    @staticmethod
    def _as_number(digits: str) -> int | float:
        if digits.lstrip("+-")[:2].lower() in ("0x", "0o", "0b"):
            return int(digits, 0)
        return float(digits) if any(mark in digits for mark in ".eE") else int(digits)

    def _nested(self, opening: str) -> Any:
        if self._depth >= MAX_DEPTH:
            raise Unreadable(f"its lists and dicts are nested more than {MAX_DEPTH} deep", self.at)
        self._depth += 1
        self.at += 1
        try:
            if opening == "{":
                return self._braces()
            found: list[Any] = []
            start = self.at
            self.items(_CLOSING[opening], lambda: found.append(self.value()))
            if opening == "(" and len(found) == 1 and not self._comma_between(start):
                return found[0]
            return found
        finally:
            self._depth -= 1

    def _comma_between(self, start: int) -> bool:
        """Whether the last bracket closed after a comma: `("a",)` is a list, `("a")` is not."""
        return self.text[start : self.at - 1].rstrip().endswith(",")

    def _braces(self) -> Any:
        pairs: dict[Any, Any] = {}
        alone: list[Any] = []

        def read() -> None:
            at = self.at
            key = self.value()
            if not self.take(":"):
                alone.append(key)
            elif isinstance(key, list | dict):
                raise Unreadable("a list or a dict cannot be the key of a dict", at)
            else:
                pairs[key] = self.value()

        self.items("}", read)
        if pairs and alone:
            raise Unreadable("a dict in it has a key without a value", self.at)
        return alone or pairs
