"""A gRPC channel as in grpc-go: round robin over a service's addresses, fail-fast, no deadline by default.

With the old balancer of grpc-go, which HotelReservation uses, a call fails at once if there is no connection. With
``waits_for_connection`` it waits for a connection attempt and fails if the last attempt failed, as in later versions.
A registry (Consul) has its own ``Addresses``; a service that is known by its name has ``FixedAddresses``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final, Protocol

from simcloud.machine import Labels
from simcloud.machine.network import NetworkError
from simcloud.machine.process import Context
from simcloud.services.rpc.grpc.errors import GrpcError, error_tags
from simcloud.services.rpc.grpc.messages import GRPC, HEADER_BYTES, Request, Response
from simcloud.services.rpc.grpc.transport import Transport
from simcloud.services.rpc.grpc.wire import Wire
from simcloud.services.rpc.measures import Measures
from simcloud.services.rpc.retries import (
    DEADLINE_EXCEEDED,
    UNAVAILABLE,
    CircuitBreaker,
    Persistence,
    RetryBudget,
    RetryPolicy,
)
from simcloud.services.tracing import SpanContext, Tracer
from simcloud.sim import EXPIRED, Condition, TimedOut

OnAddresses = Callable[[Sequence[str]], None]


class Addresses(Protocol):
    """The addresses of a service, such as ``"10.244.1.3:8083"``."""

    def watch(self, report: OnAddresses) -> None:
        """Report the addresses once they are known and after every change. Return at once."""


class FixedAddresses:
    """Addresses that never change. A host name, as in ``"geo:8083"``, is resolved for every connection."""

    def __init__(self, *addresses: str) -> None:
        self._addresses = addresses

    def watch(self, report: OnAddresses) -> None:
        """Report them."""
        report(self._addresses)


CLIENT_TAGS: Final[Labels] = (("component", "gRPC"), ("span.kind", "client"))
NO_ADDRESS: Final = "there is no address available"
NO_CONNECTION: Final = "there is no connection available"
CLOSING: Final = "transport is closing"
TOO_LATE: Final = "context deadline exceeded"


class GrpcChannel:
    """Calls a service. ``timeout_s`` is the default deadline of calls.

    Without a tracer, calls have no client span.
    """

    def __init__(
        self,
        ctx: Context,
        tracer: Tracer | None,
        addresses: Addresses,
        *,
        peer: str = "",
        timeout_s: float | None = None,
        retry: RetryPolicy | None = None,
        budget: RetryBudget | None = None,
        breaker: CircuitBreaker | None = None,
        waits_for_connection: bool = False,
        protocol: str = GRPC,
    ) -> None:
        self._ctx = ctx
        self._kernel = ctx.kernel
        self._tracer = tracer
        self._timeout_s = timeout_s
        self._persistence: Persistence | None = None
        if retry is not None or breaker is not None:
            self._persistence = Persistence(ctx, retry, budget, breaker, _circuit_open)
        self._waits = waits_for_connection
        self._protocol = protocol
        self._transports: list[Transport] = []
        self._next = 0
        self._known = False
        self._change = Condition(ctx.kernel)
        self._measures = Measures(
            ctx, "grpc_client", tracer.service if tracer is not None else ctx.container.name, peer
        )
        addresses.watch(self._set_addresses)

    async def call(
        self,
        method: str,
        payload: Any = None,
        parent: SpanContext | None = None,
        *,
        timeout_s: float | None = None,
        deadline: float | None = None,
    ) -> Any:
        """Call ``/package.Service/Method`` and return its payload; raises ``GrpcError``.

        ``deadline`` is a virtual time, such as that of the call on whose behalf this one is made.
        """
        kernel = self._kernel
        start = kernel.now
        timeout_s = timeout_s if timeout_s is not None else self._timeout_s
        if timeout_s is not None and (deadline is None or start + timeout_s < deadline):
            deadline = start + timeout_s
        measures = self._measures.of(method)
        span = None
        if self._tracer is not None:
            span = self._tracer.begin(method, parent, CLIENT_TAGS)
            parent = span.context
        in_flight = self._measures.in_flight
        in_flight.value += 1.0
        try:
            if self._persistence is None:
                answer = await self._try(method, payload, parent, deadline)
            else:
                answer = await self._persistence.call(
                    lambda limit: self._try(method, payload, parent, limit), deadline
                )
        except GrpcError as error:
            measures.record_failure(kernel.now - start, error.code)
            if span is not None:
                span.finish(str(error), error_tags(error.code))
            raise
        finally:
            in_flight.value -= 1.0
        measures.record_success(kernel.now - start)
        if span is not None:
            span.finish()
        return answer

    async def _try(
        self, method: str, payload: Any, parent: SpanContext | None, deadline: float | None
    ) -> Any:
        """One attempt."""
        if deadline is not None and deadline <= self._kernel.now:
            raise GrpcError(DEADLINE_EXCEEDED, TOO_LATE)
        wire = self._pick() or await self._wait(deadline)
        if len(wire.pending) >= wire.max_streams:
            await self._stream(wire, deadline)
        wire.last_id = id = wire.last_id + 1
        try:
            wire.connection.send(Request(id, method, payload, parent, deadline), HEADER_BYTES)
        except NetworkError:
            raise GrpcError(UNAVAILABLE, CLOSING) from None
        response = await wire.reply(id, None if deadline is None else deadline - self._kernel.now)
        if response.__class__ is Response:
            if response.code is None:
                return response.payload
            raise GrpcError(response.code, response.message)
        if response is EXPIRED:
            raise GrpcError(DEADLINE_EXCEEDED, TOO_LATE)
        raise GrpcError(UNAVAILABLE, CLOSING)

    # -- which connection ----------------------------------------------------------------------

    def _pick(self) -> Wire | None:
        """Return the next connected transport, or None if the call should wait for one."""
        transports = self._transports
        count = len(transports)
        for _ in range(count):
            self._next = number = (self._next + 1) % count
            wire = transports[number].wire
            if wire is not None:
                return wire
        if self._waits and not (self._known and all(each.failing for each in transports)):
            return None
        if not count:
            raise GrpcError(UNAVAILABLE, NO_ADDRESS)
        raise GrpcError(UNAVAILABLE, transports[0].failure if self._waits else NO_CONNECTION)

    async def _wait(self, deadline: float | None) -> Wire:
        while True:
            try:
                await self._change.wait(None if deadline is None else deadline - self._kernel.now)
            except TimedOut:
                raise GrpcError(DEADLINE_EXCEEDED, TOO_LATE) from None
            found = self._pick()
            if found is not None:
                return found

    async def _stream(self, wire: Wire, deadline: float | None) -> None:
        try:
            while len(wire.pending) >= wire.max_streams and not wire.connection.closed:
                await wire.room(None if deadline is None else deadline - self._kernel.now)
        except TimedOut:
            raise GrpcError(DEADLINE_EXCEEDED, TOO_LATE) from None

    def _set_addresses(self, addresses: Sequence[str]) -> None:
        self._known = True
        kept = {transport.address: transport for transport in self._transports}
        self._transports = []
        for address in dict.fromkeys(addresses):
            if address in kept:
                self._transports.append(kept.pop(address))
            else:
                self._transports.append(Transport(self._ctx, address, self._protocol, self._notify_waiters))
        for transport in kept.values():
            transport.close()
        self._notify_waiters()

    def _notify_waiters(self) -> None:
        self._change.notify()


def _circuit_open() -> GrpcError:
    return GrpcError(UNAVAILABLE, "circuit breaker is open")
