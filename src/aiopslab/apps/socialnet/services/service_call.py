"""A handler's call to another service, which logs failures as the original does.

The connection pool logs failed connections; the handler logs only calls that were sent and failed.
"""

from __future__ import annotations

from typing import Any

from aiopslab.apps.socialnet.services.startup import Startup
from simcloud.services import SpanContext
from simcloud.services.rpc.thrift import NoClient, NoConnection, ThriftError, ThriftPool


class ServiceCall:
    """A method of another service. ``operation`` is the name of the span; if it is empty, there is no span."""

    __slots__ = ("_log", "_message", "_method", "_no_client_place", "_operation", "_place", "_pool")

    def __init__(
        self,
        pool: ThriftPool,
        method: str,
        operation: str,
        startup: Startup,
        message: str,
        place: str,
        no_client_place: str = "",
    ) -> None:
        self._pool = pool
        self._method = method
        self._operation = operation
        self._log = startup.log
        self._message = startup.rename(message)
        self._place = place
        self._no_client_place = no_client_place

    async def call(self, payload: Any, span: SpanContext) -> Any:
        """Make the call and return the answer; raises ``ThriftError``."""
        try:
            if self._operation:
                return await self._pool.call(self._method, payload, span, self._operation)
            return await self._pool.pass_on(self._method, payload, span)
        except NoConnection:
            raise
        except NoClient as error:
            if self._no_client_place:
                self._log.error(str(error), self._no_client_place)
            raise
        except ThriftError:
            if self._message:
                self._log.error(self._message, self._place)
            raise
