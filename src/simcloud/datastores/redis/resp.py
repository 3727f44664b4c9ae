"""Reading requests: arrays of bulk strings, or a line as a person types it."""

from __future__ import annotations

from typing import Final

from simcloud.datastores.redis.messages import Words

ARRAY: Final = ord("*")
INLINE_MAX_BYTES: Final = 64 << 10
MULTIBULK_MAX: Final = 1 << 20
BULK_MAX_BYTES: Final = 512 << 20
UNAUTHENTICATED_MULTIBULK: Final = 10
UNAUTHENTICATED_BULK_BYTES: Final = 16384
ESCAPES: Final = {ord("n"): b"\n", ord("r"): b"\r", ord("t"): b"\t", ord("b"): b"\b", ord("a"): b"\a"}
SPACES: Final = b" \n\r\t\0\v\f"
HEX: Final = b"0123456789abcdefABCDEF"


class ProtocolError(Exception):
    """The bytes make no sense; the connection is closed after the error has been sent."""


class RequestReader:
    """Takes bytes as they come and gives whole commands. ``authenticated`` lifts the limits for strangers."""

    def __init__(self) -> None:
        self.authenticated = True
        self._buffer = b""
        self._at = 0
        self._words: Words = []
        self._missing = 0
        self._bulk_bytes = -1

    @property
    def pending_bytes(self) -> int:
        """What has come of a command that is not whole yet."""
        return len(self._buffer) - self._at + sum(map(len, self._words))

    def feed(self, data: bytes) -> None:
        """More bytes have come."""
        self._buffer = self._buffer[self._at :] + data
        self._at = 0

    def next(self) -> Words | None:
        """The next whole command; None when more bytes are needed. Raises ``ProtocolError``."""
        while True:
            if self._missing == 0:
                if self._at >= len(self._buffer):
                    return None
                if self._buffer[self._at] != ARRAY:
                    return self._inline()
                if not self._array():
                    return None
                if self._missing == 0:
                    continue
            if not self._bulk():
                return None
            if self._missing == 0:
                words, self._words = self._words, []
                return words

    def _array(self) -> bool:
        """The head of an array; False when it is not whole."""
        line = self._line("too big mbulk count string")
        if line is None:
            return False
        count = _length(line[1:])
        if count is None or count > MULTIBULK_MAX:
            raise ProtocolError("invalid multibulk length")
        if not self.authenticated and count > UNAUTHENTICATED_MULTIBULK:
            raise ProtocolError("unauthenticated multibulk length")
        self._missing = max(0, count)
        return True

    def _bulk(self) -> bool:
        if self._bulk_bytes < 0:
            line = self._line("too big bulk count string")
            if line is None:
                return False
            if not line.startswith(b"$"):
                raise ProtocolError(f"expected '$', got '{line[:1].decode('latin-1')}'")
            length = _length(line[1:])
            if length is None or not 0 <= length <= BULK_MAX_BYTES:
                raise ProtocolError("invalid bulk length")
            if not self.authenticated and length > UNAUTHENTICATED_BULK_BYTES:
                raise ProtocolError("unauthenticated bulk length")
            self._bulk_bytes = length
        end = self._at + self._bulk_bytes
        if len(self._buffer) < end + 2:
            return False
        self._words.append(self._buffer[self._at : end])
        self._at = end + 2
        self._bulk_bytes = -1
        self._missing -= 1
        return True

    def _line(self, complaint: str) -> bytes | None:
        end = self._buffer.find(b"\r", self._at)
        if end < 0 or end + 1 >= len(self._buffer):
            if end < 0 and len(self._buffer) - self._at > INLINE_MAX_BYTES:
                raise ProtocolError(complaint)
            return None
        line, self._at = self._buffer[self._at : end], end + 2
        return line

    def _inline(self) -> Words | None:
        end = self._buffer.find(b"\n", self._at)
        if end < 0:
            if len(self._buffer) - self._at > INLINE_MAX_BYTES:
                raise ProtocolError("too big inline request")
            return None
        line, self._at = self._buffer[self._at : end].removesuffix(b"\r"), end + 1
        words = split_words(line)
        if words is None:
            raise ProtocolError("unbalanced quotes in request")
        return words


def _length(text: bytes) -> int | None:
    digits = text[1:] if text.startswith(b"-") else text
    if not digits.isdigit() or len(digits) > 18 or (len(digits) > 1 and digits.startswith(b"0")):
        return None
    return int(text)


def split_words(line: bytes) -> Words | None:
    """The words of a line, quotes and escapes resolved; None when a quote is not closed properly."""
    words: Words = []
    at, end = 0, len(line)
    while True:
        while at < end and line[at] in SPACES:
            at += 1
        if at >= end:
            return words
        word = bytearray()
        while at < end and line[at] not in SPACES:
            if line[at] in b"\"'":
                after = _read_quoted(line, at, word)
                if after is None or (after < end and line[after] not in SPACES):
                    return None
                at = after
                break
            word.append(line[at])
            at += 1
        words.append(bytes(word))


def _read_quoted(line: bytes, at: int, word: bytearray) -> int | None:
    """Read a quoted piece into a word; where it ends, or None when it does not."""
    quote = line[at : at + 1]
    at += 1
    while at < len(line):
        if line[at : at + 1] == quote:
            return at + 1
        if line[at] == ord("\\") and at + 1 < len(line):
            if quote == b"'":
                at += 1 if line[at + 1] == ord("'") else 0
            elif (
                line[at + 1] == ord("x")
                and len(line) > at + 3
                and all(c in HEX for c in line[at + 2 : at + 4])
            ):
                word.append(int(line[at + 2 : at + 4], 16))
                at += 4
                continue
            else:
                word += ESCAPES.get(line[at + 1], line[at + 1 : at + 2])
                at += 2
                continue
        word.append(line[at])
        at += 1
    return None


QUOTED: Final = {7: "\\a", 8: "\\b", 9: "\\t", 10: "\\n", 13: "\\r", 34: '\\"', 92: "\\\\"}


def quoted(word: bytes) -> str:
    """A text in quotes, with escapes for what cannot be shown."""
    parts = [QUOTED.get(byte) or (chr(byte) if 32 <= byte < 127 else f"\\x{byte:02x}") for byte in word]
    return f'"{"".join(parts)}"'
