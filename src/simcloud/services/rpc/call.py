"""A call on the server, and its handler, for gRPC and Thrift."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from simcloud.services.tracing import SpanContext


class Call:
    """The payload of a call, the parent span of further calls, and the deadline."""

    __slots__ = ("deadline", "method", "payload", "span")

    def __init__(
        self, payload: Any, span: SpanContext, method: str = "", deadline: float | None = None
    ) -> None:
        self.payload = payload
        self.span = span
        self.method = method
        self.deadline = deadline


Handler = Callable[[Call], Awaitable[Any]]
