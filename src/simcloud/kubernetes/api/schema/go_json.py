"""Go's error message for text that is not JSON: the first wrong character and what was expected there.

It runs only after a fast decoder has refused the text, so it favours simplicity over speed. It uses its own stack, so
that deep nesting needs no recursion.
"""

from __future__ import annotations

from typing import NoReturn

_SPACE = b" \t\r\n"
_DIGITS = b"0123456789"
_HEX = b"0123456789abcdefABCDEF"
_ESCAPES = b'bfnrt\\/"'
_LITERALS = {ord("t"): b"true", ord("f"): b"false", ord("n"): b"null"}
_CLOSING = {ord("{"): ord("}"), ord("["): ord("]")}


class _Fault(Exception):
    """The sentence that ends the reading."""


def find_syntax_error(body: bytes) -> str | None:
    """Return Go's message for malformed JSON, or None if Go accepts the text."""
    try:
        _Scanner(body).document()
    except _Fault as found:
        return str(found)
    return None


class _Scanner:
    def __init__(self, body: bytes) -> None:
        self.body = body
        self.at = 0
        self.open: list[int] = []  # the closing brackets that are awaited, the next one last

    def document(self) -> None:
        self.value()
        while self.open:
            self.after_value()
        self.skip_space()
        if self.at < len(self.body):
            self.wrong("after top-level value")

    def value(self) -> None:
        """A scalar, or an opening bracket with all that opens right behind it."""
        while (char := self.visible()) in _CLOSING:
            self.at += 1
            self.open.append(_CLOSING[char])
            if self.visible() == self.open[-1]:
                return
            if char == ord("{"):
                self.key()
        if char == ord('"'):
            self.string()
        elif char == ord("-") or char in _DIGITS:
            self.number()
        elif char in _LITERALS:
            self.literal(_LITERALS[char])
        else:
            self.wrong("looking for beginning of value")

    def key(self) -> None:
        if self.visible() != ord('"'):
            self.wrong("looking for beginning of object key string")
        self.string()
        if self.visible() != ord(":"):
            self.wrong("after object key")
        self.at += 1

    def after_value(self) -> None:
        closing = self.open[-1]
        char = self.visible()
        if char not in (closing, ord(",")):
            self.wrong("after object key:value pair" if closing == ord("}") else "after array element")
        self.at += 1
        if char == closing:
            self.open.pop()
            return
        if closing == ord("}"):
            self.key()
        self.value()

    def string(self) -> None:
        self.at += 1
        while (char := self.char()) != ord('"'):
            if char < 0x20:
                self.wrong("in string literal")
            self.at += 1
            if char == ord("\\"):
                self.escape()
        self.at += 1

    def escape(self) -> None:
        char = self.char()
        if char not in _ESCAPES and char != ord("u"):
            self.wrong("in string escape code")
        self.at += 1
        if char == ord("u"):
            for _ in range(4):
                self.one_of(_HEX, "in \\u hexadecimal character escape")

    def number(self) -> None:
        if self.char() == ord("-"):
            self.at += 1
        first = self.char()
        self.one_of(_DIGITS, "in numeric literal")
        if first != ord("0"):
            self.digits()
        if self.is_next(b"."):
            self.at += 1
            self.one_of(_DIGITS, "after decimal point in numeric literal")
            self.digits()
        if self.is_next(b"eE"):
            self.at += 1
            if self.char() in b"+-":
                self.at += 1
            self.one_of(_DIGITS, "in exponent of numeric literal")
            self.digits()

    def literal(self, word: bytes) -> None:
        for letter in word:
            if self.char() != letter:
                self.wrong(f"in literal {word.decode()} (expecting {_quote_byte(letter)})")
            self.at += 1

    def digits(self) -> None:
        while self.is_next(_DIGITS):
            self.at += 1

    def one_of(self, chars: bytes, context: str) -> None:
        if self.char() not in chars:
            self.wrong(context)
        self.at += 1

    def is_next(self, chars: bytes) -> bool:
        return self.at < len(self.body) and self.body[self.at] in chars

    def skip_space(self) -> None:
        while self.is_next(_SPACE):
            self.at += 1

    def visible(self) -> int:
        self.skip_space()
        return self.char()

    def char(self) -> int:
        if self.at >= len(self.body):
            raise _Fault("unexpected end of JSON input")
        return self.body[self.at]

    def wrong(self, context: str) -> NoReturn:
        raise _Fault(f"invalid character {_quote_byte(self.body[self.at])} {context}")


_QUOTED = {
    ord("'"): r"'\''",
    ord('"'): "'\"'",
    ord("\\"): r"'\\'",
    7: r"'\a'",
    8: r"'\b'",
    9: r"'\t'",
    10: r"'\n'",
    11: r"'\v'",
    12: r"'\f'",
    13: r"'\r'",
}


def _quote_byte(char: int) -> str:
    """A byte as Go's errors show it: as the Latin-1 character of that number."""
    if char in _QUOTED:
        return _QUOTED[char]
    if chr(char).isprintable():
        return f"'{chr(char)}'"
    return f"'\\x{char:02x}'" if char < 0x80 else f"'\\u{char:04x}'"
