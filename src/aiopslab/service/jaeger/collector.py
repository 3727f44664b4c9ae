"""What Jaeger has received: spans in memory until the pod ends, counted per service.

Every span is also handed on to the platform, whose own store outlives this one.
"""

from __future__ import annotations

from typing import Final

from aiopslab.machine.network.datagram import Datagram
from aiopslab.machine.process import Context
from aiopslab.observer.traces import Retention, TraceStore
from aiopslab.service.tracing import SpanBatch

BASE_BYTES: Final = 32 << 20
SPAN_BYTES: Final = 1_200
"""What a span takes in the genuine program, whose memory storage keeps objects, not columns."""

SPAN_CPU_S: Final = 0.000_02
KEPT_SPANS: Final = 400_000
"""The genuine one keeps all when it is given no number of traces; here is an end."""

SPANS_PER_TRACE: Final = 12


class Collector:
    """Takes packets of spans. ``max_traces`` of 0 is no limit but our own."""

    def __init__(self, ctx: Context, max_traces: int) -> None:
        kept = min(max_traces * SPANS_PER_TRACE, KEPT_SPANS) if max_traces else KEPT_SPANS
        self.store = TraceStore(Retention(spans=kept), epoch_s=ctx.now - ctx.kernel.now)
        self.packets: dict[str, int] = {"compact": 0, "binary": 0}
        self.received: dict[str, int] = {}
        self._ctx = ctx
        self._emit = ctx.machine.emitter.span
        self._account()

    def take(self, protocol: str, datagram: Datagram) -> None:
        """A packet has come from an agent's client."""
        batch = datagram.message
        if not isinstance(batch, SpanBatch):
            return
        self.packets[protocol] += 1
        spans = batch.spans
        add, emit = self.store.add, self._emit
        for span in spans:
            add(span)
            emit(span)
        if spans:
            service = spans[0].service
            self.received[service] = self.received.get(service, 0) + len(spans)
        cpu_s = SPAN_CPU_S * len(spans)
        self._ctx.process.cpu_s += cpu_s
        self._ctx.container.cpu.charge(self._ctx.kernel.now, cpu_s)
        self._account()

    def _account(self) -> None:
        self._ctx.memory.use(BASE_BYTES + SPAN_BYTES * len(self.store))
