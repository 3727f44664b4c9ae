"""What a Redis server can answer, and its form on the wire (RESP 2).

A bulk string is ``bytes``, an integer ``int``, nil ``None``, an array a ``list``; the other kinds have a class here.
"""

from __future__ import annotations

from typing import Any, Final, TypeAlias


class Simple(str):
    """A status: ``+OK``."""

    __slots__ = ()


class ErrorReply(str):
    """An error as data: ``-ERR syntax error``."""

    __slots__ = ()


class NilArray:
    """The nil of arrays, which the protocol tells from that of strings."""

    __slots__ = ()


class Several(list[Any]):
    """More than one answer to one command; none is possible, too."""

    __slots__ = ()


Reply: TypeAlias = "bytes | int | Simple | ErrorReply | NilArray | Several | list[Any] | None"

OK: Final = Simple("OK")
QUEUED: Final = Simple("QUEUED")
NIL_ARRAY: Final = NilArray()


class RedisError(Exception):
    """A command is refused; the text begins with the error's kind: ``ERR``, ``WRONGTYPE``."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.reply = ErrorReply(text)


class SyntaxMistake(RedisError):
    """The words of a command do not fit together."""

    def __init__(self) -> None:
        super().__init__("ERR syntax error")


class WrongType(RedisError):
    """The key holds another kind of value."""

    def __init__(self) -> None:
        super().__init__("WRONGTYPE Operation against a key holding the wrong kind of value")


class NotAnInteger(RedisError):
    """A whole number of 64 bits was wanted."""

    def __init__(self) -> None:
        super().__init__("ERR value is not an integer or out of range")


class NotAFloat(RedisError):
    """A number was wanted."""

    def __init__(self, text: str = "ERR value is not a valid float") -> None:
        super().__init__(text)


def encode(reply: Reply) -> bytes:
    """The bytes of a reply."""
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
    """About how many bytes a reply takes on the wire."""
    kind = reply.__class__
    if kind is bytes or kind is Simple or kind is ErrorReply:
        return len(reply) + 12
    if kind is list or kind is Several:
        return 8 + sum([size_bytes(item) for item in reply])
    return 8
