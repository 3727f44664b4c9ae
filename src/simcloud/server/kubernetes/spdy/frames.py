"""The frames of SPDY/3.1 as plain values, and the numbers they have on the wire."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

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
    """A stream begins. Header names are lower case."""

    stream: int
    headers: Mapping[str, str] = field(default_factory=dict)
    fin: bool = False
    unidirectional: bool = False
    associated: int = 0
    priority: int = 0


@dataclass(frozen=True, slots=True)
class SynReply:
    """A stream is accepted."""

    stream: int
    headers: Mapping[str, str] = field(default_factory=dict)
    fin: bool = False


@dataclass(frozen=True, slots=True)
class ResetStream:
    """A stream is over at once."""

    stream: int
    status: int


@dataclass(frozen=True, slots=True)
class Settings:
    """What the sender asks of this connection, by setting number."""

    values: Mapping[int, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Ping:
    """To be sent back by whoever did not choose its number."""

    number: int


@dataclass(frozen=True, slots=True)
class GoAway:
    """The sender takes no further streams."""

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
    """The sender can take that number of bytes more; stream 0 is the whole connection."""

    stream: int
    delta: int


Frame = Data | SynStream | SynReply | ResetStream | Settings | Ping | GoAway | Headers | WindowUpdate
