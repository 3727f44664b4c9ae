"""The emitted telemetry of a world: log lines, spans, and the metrics of running programs.

It is the ``Emitter`` of a world's machines. Lines and spans are stored at once; metrics are only referenced,
because they are read when they are scraped.
"""

from __future__ import annotations

from hashlib import sha256

from simcloud.machine import Histogram, Metrics
from simcloud.telemetry.logs import LogStore
from simcloud.telemetry.traces import TraceStore, TraceView
from simcloud.telemetry.traces.view import EVER_US


class Telemetry:
    """Stores emitted telemetry; ``exposed`` are the metrics of running programs."""

    def __init__(self, epoch_s: float) -> None:
        """``epoch_s`` is the time of day at which virtual time begins, in seconds since 1970."""
        self.logs = LogStore()
        self.traces = TraceStore(epoch_s=epoch_s)
        self.exposed: dict[Metrics, None] = {}
        # Every line and every span passes here: no call in between.
        self.log = self.logs.add
        self.span = self.traces.add

    def expose(self, metrics: Metrics) -> None:
        """A program has metrics that can be read from now on."""
        self.exposed[metrics] = None

    def withdraw(self, metrics: Metrics) -> None:
        """The program has ended, and its metrics with it."""
        del self.exposed[metrics]

    def settle(self) -> None:
        """Store what is only buffered. Every query does this, so call it only where one call saves many copies the work."""
        self.logs.settle()
        self.traces.settle()

    def fingerprint(self) -> str:
        """Return a hash of everything it holds."""
        digest = sha256()
        for record in self.logs.records():
            digest.update(repr(record).encode())
        for span in TraceView(self.traces).spans_between(-EVER_US, EVER_US):
            shape = span.shape
            common = (shape.group.service, shape.group.operation, shape.error, shape.tags, shape.process)
            digest.update(repr((*span[:-1], common)).encode())
        for metrics in self.exposed:
            digest.update(repr(metrics.labels).encode())
            for key, metric in metrics.families.items():
                value = metric.counts if isinstance(metric, Histogram) else metric.value
                digest.update(f"{key} {value}".encode())
        return digest.hexdigest()
