"""The messages of a Thrift connection (framed transport, binary protocol), and the errors of both ends."""

from __future__ import annotations

from typing import Any, Final, NamedTuple

from simcloud.services.tracing import SpanContext

THRIFT: Final = "thrift"
FRAME_BYTES: Final = 160

END_OF_FILE: Final = "No more data to read."
NO_HOST: Final = "Could not resolve host for client socket."


class Request(NamedTuple):
    """A call. The span context is in the arguments, as a map called carrier."""

    method: str
    payload: Any
    parent: SpanContext | None


class Reply(NamedTuple):
    """The result of a call, or the exception that was thrown."""

    payload: Any
    error: ThriftError | None


class ThriftError(Exception):
    """An error of a call. ``str(error)`` is its message."""

    @property
    def what(self) -> str:
        """The error as C++'s ``what()`` returns it."""
        return str(self)


class TransportError(ThriftError):
    """TTransportException: the connection could not be made or has ended."""


class NoConnection(TransportError):
    """There is no connection; nothing has been sent."""


class ApplicationError(ThriftError):
    """TApplicationException: the server does not know the method, or its handler threw something undeclared."""


class ServiceError(ThriftError):
    """An exception that the service declares, with the service's own code."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code

    @property
    def what(self) -> str:
        """The generated class's text, which has all fields."""
        return f"TException - service has thrown: ServiceException(errorCode={self.code}, message={self})"


class NoClient(ServiceError):
    """All connections of a pool were in use for too long; the caller's handler throws it."""
