"""The lexer of PromQL.

Tokens are read lazily, so that the first of several errors is reported. The tokens depend on the context: inside braces
there are no keywords, and a bracket begins with a duration.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from simcloud.golang import quote
from simcloud.telemetry.promql.errors import ParseError

AGGREGATORS: Final = frozenset(
    {"sum", "avg", "count", "min", "max", "group", "stddev", "stdvar"}
    | {"topk", "bottomk", "count_values", "quantile"}
)
KEYWORDS: Final = frozenset(
    {"offset", "by", "without", "on", "ignoring", "group_left", "group_right", "bool"}
)
WORD_OPERATORS: Final = frozenset({"and", "or", "unless", "atan2"})
OPERATORS: Final = frozenset(
    {"+", "-", "*", "/", "%", "^", "==", "!=", "<", "<=", ">", ">=", "=~", "!~", "@"}
)

_DIGITS: Final = "0123456789"
_HEX: Final = "0123456789abcdefABCDEF"
_DESCRIBED: Final = frozenset({"identifier", "metric identifier", "string", "number", "duration"})
_BASES: Final = {"x": (2, 16), "u": (4, 16), "U": (8, 16)}


class Token(NamedTuple):
    """A token: its kind, text and position."""

    kind: str
    """"identifier", "string", "number", "duration", "EOF", or the symbol or lower-case keyword itself."""
    text: str
    start: int

    @property
    def end(self) -> int:
        """Where the next word may begin."""
        return self.start + len(self.text)

    def describe(self) -> str:
        """Return its description in error messages."""
        kind, text = self.kind, self.text
        if kind == "EOF":
            return "end of input"
        if kind in KEYWORDS:
            return f"<{text}>"
        if kind in OPERATORS or kind in WORD_OPERATORS:
            return f"<op:{text}>"
        if kind in AGGREGATORS:
            return f"<aggr:{text}>"
        if "identifier" in kind:
            return f"{kind} {quote(text)}"
        quoted = quote(text[:10]) + "..." if len(text) > 10 else quote(text)
        return f"{kind} {quoted}" if kind in _DESCRIBED else quoted


class Lexer:
    """Splits a query into tokens."""

    def __init__(self, query: str) -> None:
        self.query = query
        self.position = 0
        self._start = 0
        self._parens = 0
        self._in_braces = False
        self._in_brackets = False
        self._after_bracket = False
        self._colon_seen = False

    def next(self) -> Token:
        """Return the next word; ``ParseError`` when none can be read."""
        self._skip_blanks()
        self._start = self.position
        if self._after_bracket:
            self._after_bracket = False
            return self._duration()
        if self._in_braces:
            return self._inside_braces()
        return self._statement()

    def _statement(self) -> Token:
        char = self._peek()
        following = self._peek(1)
        if not char:
            if self._parens:
                raise self._error("unclosed left parenthesis")
            if self._in_brackets:
                raise self._error("unclosed left bracket")
            return Token("EOF", "", self._start)
        if char in ",*/%+-^@":
            return self._symbol(char)
        if char == "=":
            if following == "~":
                raise self._error("unexpected character after '=': '~'")
            return self._symbol("==" if following == "=" else "=")
        if char == "!":
            if following != "=":
                raise self._error(f"unexpected character after '!': {_char(following)}")
            return self._symbol("!=")
        if char in "<>":
            return self._symbol(char + "=" if following == "=" else char)
        if char in _DIGITS or (char == "." and following and following in _DIGITS):
            return self._number_or_duration()
        if char in "\"'`":
            return self._string(char)
        if self._in_brackets and (char == ":" or _is_alpha(char)):
            if self._colon_seen:
                raise self._error(f"unexpected colon {_char(char)}")
            self._colon_seen = True
            self.position += 1
            return self._take(":")
        if _is_alpha(char) or char == ":":
            return self._word()
        return self._read_in_brackets(char)

    def _read_in_brackets(self, char: str) -> Token:
        if char == "(":
            self._parens += 1
        elif char == ")":
            self._parens -= 1
            if self._parens < 0:
                self._start += 1
                raise self._error("unexpected right parenthesis ')'")
        elif char == "{":
            self._in_braces = True
        elif char == "[":
            if self._in_brackets:
                raise self._error("unexpected left bracket '['")
            self._in_brackets = self._after_bracket = True
            self._colon_seen = False
        elif char == "]":
            if not self._in_brackets:
                raise self._error("unexpected right bracket ']'")
            self._in_brackets = False
        else:
            raise self._error(f"unexpected character: {_char(char)}")
        return self._symbol(char)

    def _inside_braces(self) -> Token:
        char = self._peek()
        following = self._peek(1)
        if not char:
            raise self._error("unexpected end of input inside braces")
        if _is_alpha(char):
            while _is_alphanumeric(self._peek()):
                self.position += 1
            return self._take("identifier")
        if char == ",":
            return self._symbol(char)
        if char in "\"'`":
            return self._string(char)
        if char == "=":
            return self._symbol("=~" if following == "~" else "=")
        if char == "!":
            if following and following in "=~":
                return self._symbol(char + following)
            raise self._error(f"unexpected character after '!' inside braces: {_char(following)}")
        if char == "{":
            raise self._error("unexpected left brace '{'")
        if char == "}":
            self._in_braces = False
            return self._symbol(char)
        raise self._error(f"unexpected character inside braces: {_char(char)}")

    def _word(self) -> Token:
        while _is_alphanumeric(self._peek()) or self._peek() == ":":
            self.position += 1
        text = self.query[self._start : self.position]
        lower = text.lower()
        if lower in AGGREGATORS or lower in KEYWORDS or lower in WORD_OPERATORS or lower in ("start", "end"):
            return self._take(lower)
        if lower in ("inf", "nan"):
            return self._take("number")
        return self._take("metric identifier" if ":" in text else "identifier")

    def _duration(self) -> Token:
        if self._scan_number():
            raise self._error("missing unit character in duration")
        if self._scan_units():
            return self._take("duration")
        raise self._error(f"bad duration syntax: {quote(self._read_so_far())}")

    def _number_or_duration(self) -> Token:
        if self._scan_number():
            return self._take("number")
        if self._scan_units():
            return self._take("duration")
        raise self._error(f"bad number or duration syntax: {quote(self._read_so_far())}")

    def _scan_number(self) -> bool:
        digits = _DIGITS
        if self._accept("0") and self._accept("xX"):
            digits = _HEX
        self._accept_all(digits)
        if self._accept("."):
            self._accept_all(digits)
        if self._accept("eE"):
            self._accept("+-")
            self._accept_all(_DIGITS)
        return not _is_alphanumeric(self._peek())

    def _scan_units(self) -> bool:
        """Return the rest of a duration, behind its first number."""
        if not self._accept("smhdwy"):
            return False
        self._accept("s")
        while self._accept(_DIGITS):
            self._accept_all(_DIGITS)
            if not self._accept("smhdw"):
                return False
            self._accept("s")
        return not _is_alphanumeric(self._peek())

    def _read_so_far(self) -> str:
        """Return a bad number for an error message, including the invalid character if it was read."""
        end = self.position
        if self.query[self._start : end][-1:].isalpha() and _is_alphanumeric(self._peek()):
            end += 1
        return self.query[self._start : end]

    def _string(self, mark: str) -> Token:
        self.position += 1
        while (char := self._peek()) != mark:
            if not char or (char == "\n" and mark != "`"):
                raise self._error("unterminated raw string" if mark == "`" else "unterminated quoted string")
            self.position += 1
            if char == "\\" and mark != "`":
                self._escape(mark)
        self.position += 1
        return self._take("string")

    def _escape(self, mark: str) -> None:
        char = self._peek()
        if char and (char in "abfnrtv\\" or char == mark):
            self.position += 1
            return
        if char and char in "01234567":
            count, base = 3, 8
        elif char in _BASES:
            count, base = _BASES[char]
            self.position += 1
        elif not char:
            raise self._error("escape sequence not terminated")
        else:
            raise self._error(f"unknown escape sequence {_code_point(char)}")
        allowed = _HEX if base == 16 else "01234567"
        first = self.position
        for _ in range(count):
            char = self._peek()
            if not char:
                raise self._error("escape sequence not terminated")
            if char not in allowed:
                raise self._error(f"illegal character {_code_point(char)} in escape sequence")
            self.position += 1
        code = int(self.query[first : self.position], base)
        if code > (0x10FFFF if count > 3 else 0xFF) or 0xD800 <= code < 0xE000:
            raise self._error("escape sequence is an invalid Unicode code point")

    def _skip_blanks(self) -> None:
        while self._peek() and self._peek() in " \t\n\r#":
            if self._peek() == "#":
                end = self.query.find("\n", self.position)
                self.position = len(self.query) if end < 0 else end
            else:
                self.position += 1

    def _peek(self, ahead: int = 0) -> str:
        return self.query[self.position + ahead : self.position + ahead + 1]

    def _accept(self, allowed: str) -> bool:
        char = self._peek()
        if char and char in allowed:
            self.position += 1
            return True
        return False

    def _accept_all(self, allowed: str) -> None:
        while self._accept(allowed):
            pass

    def _symbol(self, text: str) -> Token:
        self.position += len(text)
        return Token(text, text, self._start)

    def _take(self, kind: str) -> Token:
        return Token(kind, self.query[self._start : self.position], self._start)

    def _error(self, message: str) -> ParseError:
        return ParseError(self.query, self._start, message)


def _is_alpha(char: str) -> bool:
    return char == "_" or ("a" <= char <= "z") or ("A" <= char <= "Z")


def _is_alphanumeric(char: str) -> bool:
    return _is_alpha(char) or ("0" <= char <= "9")


def _char(char: str) -> str:
    """Return a character as Go quotes one; the end of the input is a character there."""
    if not char:
        return "'\\x00'"
    if char in "'\\":
        return f"'\\{char}'"
    return "'" + quote(char)[1:-1].replace('\\"', '"') + "'"


def _code_point(char: str) -> str:
    return f"U+{ord(char):04X} '{char}'"
