"""A call being served, and what serves it: the same for every flavour of remote call."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from simcloud.services.tracing import SpanContext


class Call:
    """What the caller sent, the span that further calls belong to, and until when an answer is wanted."""

    __slots__ = ("deadline", "method", "payload", "span")

    def __init__(
        self, payload: Any, span: SpanContext, method: str = "", deadline: float | None = None
    ) -> None:
        self.payload = payload
        self.span = span
        self.method = method
        self.deadline = deadline


Handler = Callable[[Call], Awaitable[Any]]
