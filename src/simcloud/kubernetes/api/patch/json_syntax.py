"""What Go says of text that is not JSON: ``invalid character 'x' looking for beginning of value``.

Used only once a fast parser has refused the text. It follows the same grammar step by step and names
the first byte that cannot be, and what was expected there.
"""

from __future__ import annotations

_SPACE = b" \t\r\n"
_DIGITS = b"0123456789"
_HEX = b"0123456789abcdefABCDEF"
_ENDED = "unexpected end of JSON input"
_WORDS = {ord("t"): b"true", ord("f"): b"false", ord("n"): b"null"}


class _Wrong(Exception):
    """The sentence about the first wrong byte."""


def syntax_error(text: bytes) -> str:
    """Go's sentence about text that is not JSON; empty if it is JSON after all."""
    try:
        _Scanner(text).document()
    except _Wrong as wrong:
        return str(wrong)
    return ""


class _Scanner:
    """A walk along the text; ``at`` is the next byte."""

    def __init__(self, text: bytes) -> None:
        self.text = text
        self.at = 0

    def document(self) -> None:
        """One value and nothing after it."""
        self._value()
        self._spaces()
        if self.at < len(self.text):
            raise self._wrong("after top-level value")

    def _value(self) -> None:
        """Values in values, kept on a list of its own: hostile text may be nested deeper than Python calls."""
        open_ends: list[int] = []
        while True:
            first = self._byte()
            if first in b"{[":
                open_ends.append(ord("}") if first == ord("{") else ord("]"))
                self._spaces()
                if self._peek() == open_ends[-1]:
                    self.at += 1
                    open_ends.pop()
                else:
                    if first == ord("{"):
                        self._key()
                    continue
            else:
                self._scalar(first)
            while open_ends:
                message = (
                    "after object key:value pair" if open_ends[-1] == ord("}") else "after array element"
                )
                mark = self._byte()
                if mark == open_ends[-1]:
                    open_ends.pop()
                    continue
                if mark != ord(","):
                    raise self._wrong(message, back=1)
                if open_ends[-1] == ord("}"):
                    self._key()
                break
            if not open_ends:
                return

    def _key(self) -> None:
        message = "looking for beginning of object key string"
        if self._byte() != ord('"'):
            raise self._wrong(message, back=1)
        self._string()
        if self._byte() != ord(":"):
            raise self._wrong("after object key", back=1)

    def _scalar(self, first: int) -> None:
        if first == ord('"'):
            self._string()
        elif first in _WORDS:
            word = _WORDS[first].decode()
            for letter in word[1:]:
                message = f"in literal {word} (expecting '{letter}')"
                if self._raw() != ord(letter):
                    raise self._wrong(message, back=1)
        elif first == ord("-") or first in _DIGITS:
            self._number(first)
        else:
            raise self._wrong("looking for beginning of value", back=1)

    def _string(self) -> None:
        while (byte := self._raw()) != ord('"'):
            if byte < 0x20:
                raise self._wrong("in string literal", back=1)
            if byte != ord("\\"):
                continue
            escape = self._raw()
            if escape == ord("u"):
                for _ in range(4):
                    if self._raw() not in _HEX:
                        raise self._wrong("in \\u hexadecimal character escape", back=1)
            elif escape not in b'"\\/bfnrt':
                raise self._wrong("in string escape code", back=1)

    def _number(self, first: int) -> None:
        if first == ord("-"):
            first = self._digit("in numeric literal")
        if first != ord("0"):
            self._digits()
        if self._peek() == ord("."):
            self.at += 1
            self._digit("after decimal point in numeric literal")
            self._digits()
        if self._peek() in (ord("e"), ord("E")):
            self.at += 1
            if self._peek() in (ord("+"), ord("-")):
                self.at += 1
            self._digit("in exponent of numeric literal")
            self._digits()

    def _digit(self, message: str) -> int:
        byte = self._raw()
        if byte not in _DIGITS:
            raise self._wrong(message, back=1)
        return byte

    def _digits(self) -> None:
        while self._peek() >= 0 and self._peek() in _DIGITS:
            self.at += 1

    def _spaces(self) -> None:
        while self._peek() >= 0 and self._peek() in _SPACE:
            self.at += 1

    def _peek(self) -> int:
        return self.text[self.at] if self.at < len(self.text) else -1

    def _raw(self) -> int:
        if self.at >= len(self.text):
            raise _Wrong(_ENDED)
        self.at += 1
        return self.text[self.at - 1]

    def _byte(self) -> int:
        """The next byte that is no white space."""
        self._spaces()
        return self._raw()

    def _wrong(self, message: str, back: int = 0) -> _Wrong:
        return _Wrong(f"invalid character {_quote_byte(self.text[self.at - back])} {message}")


def _quote_byte(byte: int) -> str:
    """One byte as Go quotes a character."""
    char = chr(byte)
    named = {"'": "\\'", "\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t", "\a": "\\a", "\b": "\\b"}
    named |= {"\f": "\\f", "\v": "\\v"}
    if char in named:
        return f"'{named[char]}'"
    if char.isprintable():
        return f"'{char}'"
    return f"'\\x{byte:02x}'" if byte < 0x80 else f"'\\u{byte:04x}'"
