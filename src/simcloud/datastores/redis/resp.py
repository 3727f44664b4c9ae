"""The Redis protocol (RESP 2): replies, the messages of a connection, and the parser of requests.

A reply is a Python value: a bulk string is ``bytes``, an integer ``int``, nil ``None``, an array a ``list``; the other
kinds have a class here. Between simulated programs a connection carries typed messages: ``Commands`` holds what the
client sends at once (a pipeline), ``Replies`` the answers. Programs that only move bytes (``nc``) get bytes."""

from __future__ import annotations

from typing import Any, Final, NamedTuple, TypeAlias


class Simple(str):
    """A status reply: ``+OK``."""

    __slots__ = ()


class ErrorReply(str):
    """An error reply: ``-ERR syntax error``."""

    __slots__ = ()


class NilArray:
    """The nil array, which the protocol distinguishes from the nil string."""

    __slots__ = ()


class Several(list[Any]):
    """Any number of replies to one command."""

    __slots__ = ()


Reply: TypeAlias = "bytes | int | Simple | ErrorReply | NilArray | Several | list[Any] | None"

OK: Final = Simple("OK")
QUEUED: Final = Simple("QUEUED")
NIL_ARRAY: Final = NilArray()


class RedisError(Exception):
    """A command failed; the text begins with the kind of error: ``ERR``, ``WRONGTYPE``."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.reply = ErrorReply(text)


class SyntaxMistake(RedisError):
    """The arguments of a command are inconsistent."""

    def __init__(self) -> None:
        super().__init__("ERR syntax error")


class WrongType(RedisError):
    """The key holds another kind of value."""

    def __init__(self) -> None:
        super().__init__("WRONGTYPE Operation against a key holding the wrong kind of value")


class NotAnInteger(RedisError):
    """A 64-bit integer was expected."""

    def __init__(self) -> None:
        super().__init__("ERR value is not an integer or out of range")


class NotAFloat(RedisError):
    """A number was expected."""

    def __init__(self, text: str = "ERR value is not a valid float") -> None:
        super().__init__(text)


def encode(reply: Reply) -> bytes:
    """Encode a reply."""
    parts: list[bytes] = []
    _encode(reply, parts)
    return b"".join(parts)


def _encode(reply: Any, parts: list[bytes]) -> None:
    kind = reply.__class__
    if kind is bytes:
        parts.append(b"$%d\r\n%s\r\n" % (len(reply), reply))
    elif kind is int:
        parts.append(b":%d\r\n" % reply)
    elif reply is None:
        parts.append(b"$-1\r\n")
    elif kind is Simple:
        parts.append(b"+%s\r\n" % reply.encode("utf-8", "surrogateescape"))
    elif kind is ErrorReply:
        parts.append(b"-%s\r\n" % reply.encode("utf-8", "surrogateescape"))
    elif kind is NilArray:
        parts.append(b"*-1\r\n")
    else:
        if kind is not Several:
            parts.append(b"*%d\r\n" % len(reply))
        for item in reply:
            _encode(item, parts)


def size_bytes(reply: Any) -> int:
    """Estimate the size of a reply on the wire."""
    kind = reply.__class__
    if kind is bytes or kind is Simple or kind is ErrorReply:
        return len(reply) + 12
    if kind is list or kind is Several:
        return 8 + sum([size_bytes(item) for item in reply])
    return 8


REDIS: Final = "redis"
PORT: Final = 6379

Words = list[bytes]
"""A command: its name and its arguments."""


class Commands(NamedTuple):
    """Commands to be run in order."""

    commands: list[Words]


class Replies(NamedTuple):
    """The replies to commands, or messages that the server pushes."""

    replies: list[Reply]


def commands_bytes(commands: list[Words]) -> int:
    """Estimate the size of commands on the wire."""
    return sum([sum(map(len, words)) + 12 * len(words) + 6 for words in commands])


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
    """Malformed bytes; the server sends the error and closes the connection."""


class RequestReader:
    """Splits a stream of bytes into commands: arrays of bulk strings, or inline lines.

    Setting ``authenticated`` lifts the limits for unauthenticated clients.
    """

    def __init__(self) -> None:
        self.authenticated = True
        self._buffer = b""
        self._at = 0
        self._words: Words = []
        self._missing = 0
        self._bulk_bytes = -1

    @property
    def pending_bytes(self) -> int:
        """The number of bytes of an incomplete command."""
        return len(self._buffer) - self._at + sum(map(len, self._words))

    def feed(self, data: bytes) -> None:
        """Add received bytes."""
        self._buffer = self._buffer[self._at :] + data
        self._at = 0

    def next(self) -> Words | None:
        """Return the next complete command, or None if more bytes are needed. Raise ``ProtocolError``."""
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
        """Read the head of an array. Return False if it is incomplete."""
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
    """Split a line into words, with quotes and escapes resolved; None if a quote is not closed properly."""
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
    """Read a quoted part into a word. Return where it ends, or None if it does not."""
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


def quote(word: bytes) -> str:
    """Quote a text, with escapes for unprintable bytes."""
    parts = [QUOTED.get(byte) or (chr(byte) if 32 <= byte < 127 else f"\\x{byte:02x}") for byte in word]
    return f'"{"".join(parts)}"'
