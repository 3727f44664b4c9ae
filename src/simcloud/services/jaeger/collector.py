"""Jaeger's collector: spans in memory until the pod ends, counted per service.

Every span is also passed to the platform's store, which outlives the pod. If that store is at least as large as
Jaeger's, spans are not stored twice: Jaeger only keeps which spans of the platform's store it has received.

Of a time that was skipped only the counts are known. The spans then counted are in memory, too, up to the limit.
"""

from __future__ import annotations

from typing import Final

from simcloud.machine.network import Datagram
from simcloud.machine.process import Context, Counted
from simcloud.services.tracing import SpanBatch
from simcloud.telemetry import Telemetry
from simcloud.telemetry.traces import Retention, RowRuns, TraceStore, TraceView

BASE_BYTES: Final = 32 << 20
SPAN_BYTES: Final = 1_200
"""What a span takes in the genuine program, whose memory storage keeps objects, not columns."""

SPAN_CPU_S: Final = 0.000_02
KEPT_SPANS: Final = 400_000
"""The genuine one keeps all when it is given no number of traces; here is an end."""

SPANS_PER_TRACE: Final = 12


class Collector:
    """Takes packets of spans. With ``max_traces`` 0 only our own limit applies."""

    def __init__(self, ctx: Context, max_traces: int) -> None:
        self._limit = _compute_limit(max_traces)
        self.store = self._own = TraceStore(Retention(self._limit), epoch_s=ctx.now - ctx.kernel.now)
        ctx.kernel.on_skip(self._own.shift_epoch)
        platform = ctx.machine.emitter
        # On a machine whose clock is wrong, times are others than the platform's.
        if (
            isinstance(platform, Telemetry)
            and platform.traces.retention.spans >= self._limit
            and platform.traces.epoch_us == self._own.epoch_us
        ):
            self.store = platform.traces
        self.rows = RowRuns()
        """Those of the store that came here."""
        self.packets: dict[str, int] = {"compact": 0, "binary": 0}
        self.received: dict[str, int] = {}
        ctx.process.counted = [Counted(self.packets), Counted(self.received, rates=self._measure_rates)]
        self._ctx = ctx
        self._emit = ctx.machine.emitter.span
        ctx.process.start_runtime()
        self._account()

    def take(self, protocol: str, datagram: Datagram) -> None:
        """A packet has come from an agent's client."""
        batch = datagram.message
        if not isinstance(batch, SpanBatch):
            return
        self.packets[protocol] += 1
        spans = batch.spans
        store, emit = self.store, self._emit
        first = store.next_row
        for span in spans:
            emit(span)
        if store is self._own:
            for span in spans:
                store.add(span)
        if spans:
            end = store.next_row
            self.rows.note(first, end)
            self.rows.forget_before(max(store.first_row, end - self._limit))
            service = spans[0].service
            self.received[service] = self.received.get(service, 0) + len(spans)
        cpu_s = SPAN_CPU_S * len(spans)
        self._ctx.process.cpu_s += cpu_s
        self._ctx.container.cpu.charge(self._ctx.kernel.now, cpu_s)
        self._account()

    def _measure_rates(self, since: float, until: float) -> dict[str, float]:
        """Count the spans of each service in traces that began between two times, per second.

        Arrivals are packets of a second's spans; the limits of a short time divide traces among them.
        """
        begin_us, end_us = (self.store.epoch_us + round(time_s * 1e6) for time_s in (since, until))
        spans = TraceView(self.store, self.rows).count_spans(begin_us, end_us)
        return {service: spans[service] * 1e6 / (end_us - begin_us) for service in self.received}

    def _account(self) -> None:
        kept = min(self._limit, sum(self.received.values()))
        self._ctx.memory.use(BASE_BYTES + SPAN_BYTES * kept)


def _compute_limit(max_traces: int) -> int:
    return min(max_traces * SPANS_PER_TRACE, KEPT_SPANS) if max_traces else KEPT_SPANS
