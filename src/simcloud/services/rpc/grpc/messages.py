"""The messages of a gRPC connection: the HTTP/2 frames that matter to programs, as typed messages."""

from __future__ import annotations

from typing import Any, Final, NamedTuple

from simcloud.services.tracing import SpanContext

GRPC: Final = "grpc"
GRPC_TLS: Final = "grpcs"

HEADER_BYTES: Final = 120
CONTROL_BYTES: Final = 24


class Preface(NamedTuple):
    """The first message of a client."""


class Settings(NamedTuple):
    """The first message of a server: the maximum number of concurrent calls of a connection."""

    max_streams: int


class GoAway(NamedTuple):
    """The server accepts no new calls on this connection; running calls are finished."""


class Request(NamedTuple):
    """A call. ``deadline`` is a virtual time."""

    id: int
    method: str
    payload: Any
    parent: SpanContext | None
    deadline: float | None


class Response(NamedTuple):
    """The response to a call: a payload, or an error's code and message."""

    id: int
    payload: Any
    code: str | None
    message: str
