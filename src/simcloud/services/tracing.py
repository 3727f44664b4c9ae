"""Tracing: spans of operations, and the propagation of their context.

A ``Tracer`` belongs to one process. Finished spans are collected and sent once a second, as one datagram, to a Jaeger
agent; without a listener they are lost. Without an agent they go directly to the machine's emitter. A trace that is
not sampled has a context of zeros, which is propagated like any other, so that no callee records it.
"""

from __future__ import annotations

import gc
from collections.abc import Callable
from functools import partial
from typing import Final, NamedTuple

from msgspec import Struct

from simcloud.machine import Labels, Span
from simcloud.machine.network import DatagramSocket, NameNotFound, NetworkError
from simcloud.machine.process import Context

JAEGER: Final = "jaeger"
"""The protocol of an agent's UDP port."""

FLUSH_S: Final = 1.0
PACKET_SPANS: Final = 200
"""Number of spans that fill a packet of 65,000 bytes; a full packet is sent at once."""

SPAN_BYTES: Final = 300
DEFAULT_AGENT_PORT: Final = 6831
GO_LIBRARY: Final = "Go-2.11.2"


class SpanContext(NamedTuple):
    """The part of a span that is propagated with a call."""

    trace_id: int
    span_id: int


UNSAMPLED: Final = SpanContext(0, 0)

# Every request makes dozens of these two: the way past their Python constructors.
_context: Final[Callable[[tuple[int, int]], SpanContext]] = partial(tuple.__new__, SpanContext)
_span: Final[Callable[[tuple[object, ...]], Span]] = partial(tuple.__new__, Span)


class SpanBatch(NamedTuple):
    """The content of a datagram to an agent."""

    spans: tuple[Span, ...]


class ActiveSpan(Struct, eq=False):
    """A running operation. ``context`` is the parent of its callees."""

    _tracer: Tracer
    _operation: str
    context: SpanContext
    _parent_id: int
    _start: float
    _tags: Labels
    is_open: bool = True

    def finish(self, error: str | None = None, tags: Labels = ()) -> None:
        """The operation has ended, well or with an error; further tags join those given at its beginning."""
        self.is_open = False
        tracer, context = self._tracer, self.context
        if context[0] == 0:
            return
        own = tuple(sorted((*self._tags, *tags))) if tags else self._tags
        tracer.take(
            _span(
                (
                    context[0],
                    context[1],
                    self._parent_id,
                    tracer.service,
                    self._operation,
                    self._start,
                    tracer.kernel.now - self._start,
                    error,
                    own,
                    tracer.process,
                )
            )
        )

    def measure(self) -> Span:
        """Return the operation as if it ended now."""
        tracer = self._tracer
        lasted_s = tracer.kernel.now - self._start
        names = (tracer.service, self._operation)
        return Span(
            *self.context, self._parent_id, *names, self._start, lasted_s, None, self._tags, tracer.process
        )


def list_open_spans() -> list[Span]:
    """Return the sampled operations of this process's worlds that have not ended, in the order of their beginnings.

    Searches the whole memory, so that requests need not register their spans: call it once, for an export.
    """
    gc.collect()  # drop the operations of processes that were killed
    spans = [
        found.measure()
        for found in gc.get_objects()
        if type(found) is ActiveSpan and found.is_open and found.context.trace_id
    ]
    return sorted(spans, key=lambda span: (span.start, span.trace_id, span.span_id))


class Tracer:
    """Creates the spans of one service. ``Tracer(ctx, name)`` emits them; ``open`` sends them to an agent."""

    def __init__(
        self, ctx: Context, service: str, *, sample_ratio: float = 1.0, library: str = GO_LIBRARY
    ) -> None:
        self.service = service
        self.kernel = ctx.kernel
        self.process: Labels = (
            ("hostname", ctx.container.hostname),
            ("ip", ctx.container.namespace.address),
            ("jaeger.version", library),
        )
        self.take = ctx.machine.emitter.span
        self._random_bits = ctx.random("spans").getrandbits
        self._sampled_below = int(sample_ratio * (1 << 63))
        self._root_tags: Labels = (("sampler.param", f"{sample_ratio:g}"), ("sampler.type", "probabilistic"))

    @classmethod
    async def open(
        cls,
        ctx: Context,
        service: str,
        agent: str | None,
        *,
        sample_ratio: float = 1.0,
        library: str = GO_LIBRARY,
    ) -> Tracer:
        """Return a tracer that sends to an agent, ``"jaeger:6831"``, whose name is looked up here and never again.

        Raises ``NameNotFound`` or ``ResolverFailure``. With None as the agent, spans go to the emitter.
        """
        tracer = cls(ctx, service, sample_ratio=sample_ratio, library=library)
        if agent is not None:
            host, _, port = agent.partition(":")
            if port and not port.isdecimal():
                raise NameNotFound(f"udp/{port}")
            address = (await ctx.container.namespace.resolve(host))[0]
            tracer.take = _Sender(ctx, address, int(port or DEFAULT_AGENT_PORT)).take
        return tracer

    def begin(self, operation: str, parent: SpanContext | None = None, tags: Labels = ()) -> ActiveSpan:
        """Return a span under a parent; without one, the root of a new trace."""
        now = self.kernel.now
        id = self._random_bits(63)
        if parent is not None:
            trace_id = parent[0]
            context = _context((trace_id, id)) if trace_id else UNSAMPLED
            return ActiveSpan(self, operation, context, parent[1], now, tags)
        context = SpanContext(id, id) if 0 < id <= self._sampled_below else UNSAMPLED
        return ActiveSpan(self, operation, context, 0, now, tuple(sorted((*tags, *self._root_tags))))


class _Sender:
    """Collects spans and sends them."""

    def __init__(self, ctx: Context, address: str, port: int) -> None:
        self._ctx = ctx
        self._address = address
        self._port = port
        self._socket: DatagramSocket = ctx.container.namespace.bind(0, JAEGER, owner=ctx.process)
        self._spans: list[Span] = []

    def take(self, span: Span) -> None:
        """Send this one with the next packet."""
        spans = self._spans
        spans.append(span)
        if len(spans) == 1:
            self._ctx.kernel.call_later(FLUSH_S, self._flush, spans)
        elif len(spans) >= PACKET_SPANS:
            self._flush(spans)

    def _flush(self, spans: list[Span]) -> None:
        if spans is not self._spans:
            return  # it was full before its time had come, and is gone already
        self._spans = []
        try:
            self._socket.send_to(self._address, self._port, SpanBatch(tuple(spans)), SPAN_BYTES * len(spans))
        except NetworkError:
            pass  # the process has ended, or its interface is down: these spans are lost
