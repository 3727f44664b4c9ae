"""A call to another service from a handler: what is logged when it fails.

A connection that cannot be had is told by the pool alone; a call that was sent and failed is told by the handler.
"""

from __future__ import annotations

from typing import Any

from simcloud.services.languages.cpp import BoostLog
from simcloud.services.rpc.thrift import NoConnection, ThriftError, ThriftPool
from simcloud.services.tracing import SpanContext


class Asking:
    """One method of one service, as a handler calls it. ``operation`` names the span; without one there is none."""

    __slots__ = ("_log", "_method", "_operation", "_place", "_pool", "_told")

    def __init__(
        self, pool: ThriftPool, method: str, operation: str, log: BoostLog, told: str, place: str
    ) -> None:
        self._pool = pool
        self._method = method
        self._operation = operation
        self._log = log
        self._told = told
        self._place = place

    async def ask(self, payload: Any, span: SpanContext) -> Any:
        """Call, and return the answer; raises ``ThriftError``."""
        try:
            if self._operation:
                return await self._pool.call(self._method, payload, span, self._operation)
            return await self._pool.pass_on(self._method, payload, span)
        except NoConnection:
            raise
        except ThriftError:
            if self._told:
                self._log.error(self._told, self._place)
            raise
