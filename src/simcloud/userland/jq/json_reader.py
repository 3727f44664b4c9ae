"""The JSON reader: parses value after value as bytes arrive, with jq's error messages.

A complete array or object goes to Python's fast decoder first. Whatever that rejects, and everything else, is parsed
token by token here: this reader accepts what jq accepts (``.5``, ``+1``, ``NaN``) and reports other input with jq's
messages, lines and columns.
"""

from __future__ import annotations

import json
import re
from typing import Final

from simcloud.userland.jq.json_strings import BadString, read_string
from simcloud.userland.jq.tree import Value

MAX_DEPTH: Final = 256
"""Places on jq's stack of open things; an array takes one, an object one and its key another."""

PIECE_BYTES: Final = 4095

BOM: Final = b"\xef\xbb\xbf"

_TOKEN = re.compile(
    rb"""
    [ \t\r\n\x1e]*+
    (?: ([\[\]{}:,]) | ("[^"\\]*+(?:\\.[^"\\]*+)*+") | (") | ([^ \t\r\n\x1e\[\]{}:,"]++) )
    """,
    re.DOTALL | re.VERBOSE,
)
_NEXT_BRACKET = re.compile(rb'[^"\[\]{}]*+(?:"[^"\\]*+(?:\\.[^"\\]*+)*+"[^"\[\]{}]*+)*+([\[\]{}])', re.DOTALL)
_SURROGATE = re.compile(rb"\\u[dD][89a-fA-F]")
_NUMBER = re.compile(
    rb"[+-]?(?:(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?|nan|inf|infinity)", re.IGNORECASE
)
_LITERALS: dict[bytes, tuple[bytes, Value]] = {
    b"t": (b"true", True),
    b"f": (b"false", False),
    b"n": (b"null", None),
}
_DECODER = json.JSONDecoder(parse_int=float)


class JsonError(ValueError):
    """The text is invalid JSON."""


class Signal:
    """The result of a reader that has no value."""


WAITING: Final = Signal()
"""More bytes are needed."""
ENDED: Final = Signal()
"""There is nothing more."""

NONE: Final = Signal()
"""There is no value at hand."""


class JsonReader:
    """Parses values from bytes that arrive in pieces."""

    def __init__(self) -> None:
        self._data = b""
        self._place = 0
        self._finished = False
        self._bom_checked = False
        self._lines = 0
        self._line_bytes = 0
        self._stack: list[Value] = []
        self._next: Value = NONE
        self._depth = self._deepest = 0
        self._scanned = 0
        self._seen = 0

    def feed(self, data: bytes) -> None:
        """More bytes have arrived."""
        self._count(self._place)
        self._scanned = max(0, self._scanned - self._place)
        self._seen = max(0, self._seen - self._place)
        self._data = self._data[self._place :] + data
        self._place = 0

    def finish(self) -> None:
        """No more bytes will come."""
        self._finished = True

    def next(self) -> Value | Signal:
        """The next value, ``WAITING`` or ``ENDED``. Raises ``JsonError``."""
        self._skip_bom()
        while True:
            if not self._stack and self._next is NONE:
                value = self._fast()
                if value is not NONE:
                    return value
            value = self._step()
            if value is not NONE:
                return value

    def _step(self) -> Value | Signal:
        """Read one token. A value, if that completes one, or ``NONE``, ``WAITING`` or ``ENDED``."""
        match = _TOKEN.match(self._data, self._place)
        if match is None:
            return self._at_end()
        mark, string, quote, literal = match.groups()
        if (quote or (literal and match.end() == len(self._data))) and not self._finished:
            return WAITING
        if quote:
            self._seen = len(self._data)
            raise self.fail("Unfinished string at EOF", len(self._data))
        return self._take(match, mark, string, literal)

    def _take(
        self, match: re.Match[bytes], mark: bytes | None, string: bytes | None, literal: bytes | None
    ) -> Value:
        """Digest one token; the value if it completes one at the top."""
        end = match.end()
        self._seen = end + (literal is not None)
        if mark:
            self._structure(mark, end)
            self._place = end
        elif string:
            self._value(self._string(string, end), end)
            self._place = end
        elif literal is not None:
            if end == len(self._data):
                return self._at_end(literal)
            follower = self._data[end : end + 1]
            self._value(self._literal(literal, end + 1), end + 1)
            self._place = end
            if not self._stack and follower in b"]}:,":
                self._structure_after_value(follower, end + 1)
        if self._stack:
            return NONE
        value, self._next = self._next, NONE
        return value

    def _structure_after_value(self, mark: bytes, end: int) -> None:
        """A mark that can only be wrong there; what stood before it is lost, as in jq."""
        self._next = NONE
        self._structure(mark, end)

    # -- the fast way ------------------------------------------------------------------------------------

    def _fast(self) -> Value | Signal:
        """A whole array or object by Python's decoder; ``NONE`` if that is not possible."""
        data = self._data
        place = self._place
        if self._scanned <= place:
            while data[place : place + 1] in (b" ", b"\n", b"\t", b"\r"):
                place += 1
            if data[place : place + 1] not in (b"{", b"["):
                return NONE
            self._depth = self._deepest = 0
            self._scanned = self._place = place
        end = self._find_end()
        if end == 0:
            self._scanned = 0
            return NONE
        if end < 0:
            return NONE if self._finished else WAITING
        self._scanned = 0
        text = data[self._place : end]
        if b"\x1e" in text or (b"\\u" in text and _SURROGATE.search(text)):
            return NONE
        try:
            value = _DECODER.decode(text.decode())
        except (ValueError, RecursionError):
            return NONE
        if self._deepest * 2 > MAX_DEPTH and _too_deep(value):
            return NONE
        self._place = self._seen = end
        return value

    def _find_end(self) -> int:
        """Just behind the bracket that closes the value at hand; -1 if it has not arrived, 0 if too much is open."""
        depth, scanned, data = self._depth, self._scanned, self._data
        while True:
            match = _NEXT_BRACKET.match(data, scanned)
            if match is None:
                self._depth, self._scanned = depth, scanned
                return -1
            scanned = match.end()
            if match[1] in b"[{":
                depth += 1
                self._deepest = max(self._deepest, depth)
                if depth > MAX_DEPTH:
                    return 0
            else:
                depth -= 1
                if depth <= 0:
                    return scanned

    # -- token by token ----------------------------------------------------------------------------------

    def _structure(self, mark: bytes, end: int) -> None:
        stack = self._stack
        match mark:
            case b"[" | b"{":
                if self._next is not NONE:
                    raise self.fail("Expected separator between values", end)
                if len(stack) >= MAX_DEPTH:
                    raise self.fail("Exceeds depth limit for parsing", end)
                stack.append([] if mark == b"[" else {})
            case b":":
                if self._next is NONE:
                    raise self.fail("Expected string key before ':'", end)
                if not stack or type(stack[-1]) is not dict:
                    raise self.fail("':' not as part of an object", end)
                if type(self._next) is not str:
                    raise self.fail("Object keys must be strings", end)
                stack.append(self._next)
                self._next = NONE
            case b",":
                if self._next is NONE:
                    raise self.fail("Expected value before ','", end)
                self._add(end)
            case b"]":
                if not stack or type(stack[-1]) is not list:
                    raise self.fail("Unmatched ']'", end)
                if self._next is not NONE:
                    self._add(end)
                elif stack[-1]:
                    raise self.fail("Expected another array element", end)
                self._next = stack.pop()
            case b"}":
                self._close_object(end)

    def _close_object(self, end: int) -> None:
        stack = self._stack
        if not stack:
            raise self.fail("Unmatched '}'", end)
        if self._next is not NONE:
            if type(stack[-1]) is not str:
                raise self.fail("Objects must consist of key:value pairs", end)
            self._add(end)
        elif type(stack[-1]) is not dict:
            raise self.fail("Unmatched '}'", end)
        elif stack[-1]:
            raise self.fail("Expected another key-value pair", end)
        self._next = stack.pop()

    def _add(self, end: int) -> None:
        """Put the value at hand into the array or object that is open."""
        stack = self._stack
        if type(stack[-1]) is list:
            stack[-1].append(self._next)
        elif type(stack[-1]) is str:
            key = stack.pop()
            self._stack[-1][key] = self._next
        else:
            raise self.fail("Objects must consist of key:value pairs", end)
        self._next = NONE

    def _value(self, value: Value, end: int, where: str = "") -> None:
        if self._next is not NONE:
            raise self.fail(f"Expected separator between values{where}", end)
        self._next = value

    def _string(self, token: bytes, end: int) -> str:
        try:
            return read_string(token)
        except BadString as error:
            raise self.fail(str(error), end) from None

    def _literal(self, text: bytes, end: int, where: str = "") -> Value:
        known = _LITERALS.get(text[:1])
        if known is not None:
            if text != known[0]:
                raise self.fail(f"Invalid literal{where}", end)
            return known[1]
        if not _NUMBER.fullmatch(text):
            raise self.fail(f"Invalid numeric literal{where}", end)
        return float(text)

    def _at_end(self, literal: bytes = b"") -> Value | Signal:
        """Handle the end of the tokens so far."""
        if not self._finished:
            return WAITING
        end = len(self._data)
        if literal:
            self._value(self._literal(literal, end, " at EOF"), end, " at EOF")
        self._place = self._seen = end
        if self._stack:
            raise self.fail("Unfinished JSON term at EOF", end)
        if self._next is NONE:
            return ENDED
        value, self._next = self._next, NONE
        return value

    # -- places ------------------------------------------------------------------------------------------

    def _skip_bom(self) -> None:
        if self._bom_checked:
            return
        if len(self._data) < len(BOM) and not self._finished and BOM.startswith(self._data):
            return
        self._bom_checked = True
        if self._data[:1] == BOM[:1]:
            if not self._data.startswith(BOM):
                raise JsonError("Malformed BOM")
            self._place = len(BOM)

    def _count(self, end: int) -> None:
        """Remember the lines and columns of the bytes that are about to be forgotten."""
        lines = self._data.count(b"\n", 0, end)
        if lines:
            self._lines += lines
            self._line_bytes = end - self._data.rfind(b"\n", 0, end) - 1
        else:
            self._line_bytes += end

    @property
    def drained(self) -> bool:
        """Whether every byte that arrived has been looked at."""
        return self._seen >= len(self._data)

    @property
    def lines(self) -> int:
        """The number of lines read for the last value: jq reads a line, or 4095 bytes of one, at a time."""
        seen = min(self._seen, len(self._data))
        start = self._data.rfind(b"\n", 0, max(0, seen - 1)) + 1
        whole = self._lines + self._data.count(b"\n", 0, start)
        if start == 0:
            start = -self._line_bytes
        piece_end = start + ((max(seen, 1) - 1 - start) // PIECE_BYTES + 1) * PIECE_BYTES
        return whole + (self._data.find(b"\n", max(0, seen - 1), max(0, piece_end)) >= 0)

    def _where(self, end: int) -> tuple[int, int]:
        lines = self._data.count(b"\n", 0, end)
        if lines:
            return self._lines + lines + 1, end - self._data.rfind(b"\n", 0, end) - 1
        return self._lines + 1, self._line_bytes + end

    def fail(self, message: str, end: int) -> JsonError:
        """The error to raise for what was noticed after ``end`` bytes of what is at hand."""
        line, column = self._where(end)
        return JsonError(f"{message} at line {line}, column {column}")


def _too_deep(value: Value) -> bool:
    """Whether jq's stack would have been too small for a value."""
    level: list[tuple[Value, int]] = [(value, 0)]
    while level:
        if any(depth >= MAX_DEPTH for _, depth in level):
            return True
        level = [
            (child, depth + 1 + (type(parent) is dict))
            for parent, depth in level
            for child in (parent.values() if type(parent) is dict else parent)
            if type(child) is dict or type(child) is list
        ]
    return False


def parse_text(data: bytes) -> Value:
    """The one value in a text. Raises ``JsonError``."""
    reader = JsonReader()
    reader.feed(data)
    reader.finish()
    value = reader.next()
    if value is ENDED:
        raise JsonError("Expected JSON value")
    if reader.next() is not ENDED:
        raise JsonError("Unexpected extra JSON values")
    return value
