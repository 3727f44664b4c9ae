"""The errors of gRPC, with grpc-go's messages."""

from __future__ import annotations

from typing import Final

from simcloud.machine import Labels
from simcloud.services.rpc.retries import DEADLINE_EXCEEDED, RESOURCE_EXHAUSTED, UNAVAILABLE, CallError

CANCELED: Final = "Canceled"
INVALID_ARGUMENT: Final = "InvalidArgument"
NOT_FOUND: Final = "NotFound"
UNIMPLEMENTED: Final = "Unimplemented"
INTERNAL: Final = "Internal"

_SUCCESS: Final = frozenset({CANCELED})
_CLIENT_ERRORS: Final = frozenset(
    {
        INVALID_ARGUMENT,
        NOT_FOUND,
        "AlreadyExists",
        "PermissionDenied",
        "Unauthenticated",
        "FailedPrecondition",
        "OutOfRange",
    }
)
_SERVER_ERRORS: Final = frozenset(
    {DEADLINE_EXCEEDED, RESOURCE_EXHAUSTED, UNIMPLEMENTED, INTERNAL, UNAVAILABLE, "Aborted", "DataLoss"}
)
SERVER_ERROR: Final = "5xx"


class GrpcError(CallError):
    """A call failed. ``code`` is Go's name for it: ``Unavailable``, ``DeadlineExceeded``, …"""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(f"rpc error: code = {code} desc = {message}", code)
        self.message = message


def response_class(code: str) -> str:
    """Return the class that the tracing library gives to a code."""
    if code in _SUCCESS:
        return "2xx"
    if code in _CLIENT_ERRORS:
        return "4xx"
    return SERVER_ERROR if code in _SERVER_ERRORS else "0xx"


def error_tags(code: str) -> Labels:
    """Return the span tags of an error."""
    return (("response_class", response_class(code)), ("response_code", code))
