"""What crosses a Thrift connection (framed transport, binary protocol), and the errors of both ends."""

from __future__ import annotations

from typing import Any, Final, NamedTuple

from simcloud.services.tracing import SpanContext

THRIFT: Final = "thrift"
FRAME_BYTES: Final = 160

END_OF_FILE: Final = "No more data to read."
NO_HOST: Final = "Could not resolve host for client socket."


class Request(NamedTuple):
    """A call. The context of the span travels in the arguments, as a map called carrier."""

    method: str
    payload: Any
    parent: SpanContext | None


class Reply(NamedTuple):
    """Its answer, or the exception that was thrown instead."""

    payload: Any
    error: ThriftError | None


class ThriftError(Exception):
    """Anything that goes wrong with a call. ``str(error)`` is what C++ prints of ``what()``."""


class TransportError(ThriftError):
    """TTransportException: the connection could not be made or has ended."""


class NoConnection(TransportError):
    """There is no connection at all: nothing has been sent."""


class ApplicationError(ThriftError):
    """TApplicationException: the server does not know the method, or its handler threw something undeclared."""


class ServiceError(ThriftError):
    """An exception that the service declares, with the service's own code."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code
