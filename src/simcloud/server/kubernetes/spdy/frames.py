"""The frames of SPDY/3.1, their numbers on the wire, and the dictionary of header compression."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

_WORDS: Final = (
    "options head post put delete trace accept accept-charset accept-encoding accept-language "
    "accept-ranges age allow authorization cache-control connection content-base content-encoding "
    "content-language content-length content-location content-md5 content-range content-type date etag "
    "expect expires from host if-match if-modified-since if-none-match if-range if-unmodified-since "
    "last-modified location max-forwards pragma proxy-authenticate proxy-authorization range referer "
    "retry-after server te trailer transfer-encoding upgrade user-agent vary via warning "
    "www-authenticate method get status 200_OK version HTTP/1.1 url public set-cookie keep-alive origin"
)

_TAIL: Final = (
    "100101201202205206300302303304305306307402405406407408409410411412413414415416417502504505"
    "203 Non-Authoritative Information204 No Content301 Moved Permanently400 Bad Request"
    "401 Unauthorized403 Forbidden404 Not Found500 Internal Server Error501 Not Implemented"
    "503 Service UnavailableJan Feb Mar Apr May Jun Jul Aug Sept Oct Nov Dec 00:00:00 "
    "Mon, Tue, Wed, Thu, Fri, Sat, Sun, GMTchunked,text/html,image/png,image/jpg,image/gif,"
    "application/xml,application/xhtml+xml,text/plain,text/javascript,publicprivatemax-age="
    "gzip,deflate,sdchcharset=utf-8charset=iso-8859-1,utf-,*,enq=0."
)


def _with_length(word: str) -> bytes:
    spelled = word.replace("_", " ").encode()
    return len(spelled).to_bytes(4, "big") + spelled


DICTIONARY: Final = b"".join(_with_length(word) for word in _WORDS.split()) + _TAIL.encode()


VERSION: Final = 3
FRAME_HEADER_BYTES: Final = 8

SYN_STREAM: Final = 1
SYN_REPLY: Final = 2
RST_STREAM: Final = 3
SETTINGS: Final = 4
PING: Final = 6
GOAWAY: Final = 7
HEADERS: Final = 8
WINDOW_UPDATE: Final = 9

FLAG_FIN: Final = 1
FLAG_UNIDIRECTIONAL: Final = 2

PROTOCOL_ERROR: Final = 1
REFUSED_STREAM: Final = 3
CANCEL: Final = 5


@dataclass(frozen=True, slots=True)
class Data:
    """Bytes of a stream."""

    stream: int
    data: bytes
    fin: bool = False


@dataclass(frozen=True, slots=True)
class SynStream:
    """Opens a stream. Header names are lower case."""

    stream: int
    headers: Mapping[str, str] = field(default_factory=dict)
    fin: bool = False
    unidirectional: bool = False
    associated: int = 0
    priority: int = 0


@dataclass(frozen=True, slots=True)
class SynReply:
    """Accepts a stream."""

    stream: int
    headers: Mapping[str, str] = field(default_factory=dict)
    fin: bool = False


@dataclass(frozen=True, slots=True)
class ResetStream:
    """Aborts a stream."""

    stream: int
    status: int


@dataclass(frozen=True, slots=True)
class Settings:
    """The settings of the sender for this connection, by number."""

    values: Mapping[int, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Ping:
    """A ping, which the receiver sends back."""

    number: int


@dataclass(frozen=True, slots=True)
class GoAway:
    """The sender accepts no further streams."""

    last_stream: int
    status: int = 0


@dataclass(frozen=True, slots=True)
class Headers:
    """More headers of a stream."""

    stream: int
    headers: Mapping[str, str] = field(default_factory=dict)
    fin: bool = False


@dataclass(frozen=True, slots=True)
class WindowUpdate:
    """The sender accepts more bytes; stream 0 is the whole connection."""

    stream: int
    delta: int


Frame = Data | SynStream | SynReply | ResetStream | Settings | Ping | GoAway | Headers | WindowUpdate
