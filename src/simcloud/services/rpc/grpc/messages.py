"""What crosses a gRPC connection: HTTP/2 frames as typed messages, as far as programs can tell them apart."""

from __future__ import annotations

from typing import Any, Final, NamedTuple

from simcloud.services.tracing import SpanContext

GRPC: Final = "grpc"
GRPC_TLS: Final = "grpcs"

HEADER_BYTES: Final = 120
CONTROL_BYTES: Final = 24


class Preface(NamedTuple):
    """The client's first words."""


class Settings(NamedTuple):
    """The server's first words: how many calls one connection may carry at once."""

    max_streams: int


class GoAway(NamedTuple):
    """The server takes no new calls on this connection; those under way are finished."""


class Request(NamedTuple):
    """A call on its way. ``deadline`` is a virtual time."""

    id: int
    method: str
    payload: Any
    parent: SpanContext | None
    deadline: float | None


class Response(NamedTuple):
    """Its answer: a payload, or an error's code and message."""

    id: int
    payload: Any
    code: str | None
    message: str
