"""The telemetry interface of software: log lines, metrics and spans.

Emitting must be cheap, because every simulated request emits many times. So a program looks up a metric once and then
uses the handle; a span is one tuple; a log line is one call. Metrics belong to a process: they start at zero with it
and end with it (``Context.metrics``). The creator of a machine chooses the ``Emitter`` that stores all this. This
module has two: one discards everything, one keeps everything in memory.
"""

from __future__ import annotations

from bisect import bisect_left
from typing import Final, NamedTuple, Protocol, TypeVar

Labels = tuple[tuple[str, str], ...]
"""Label names and values, sorted by name."""

LATENCY_BUCKETS_S: Final = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)


class Span(NamedTuple):
    """One operation of one service on behalf of one request. Times are virtual seconds.

    ``tags`` are the operation's own; ``process`` says who did it (pod, address), the same tuple for all its spans.
    """

    trace_id: int
    span_id: int
    parent_id: int
    service: str
    operation: str
    start: float
    duration_s: float
    error: str | None
    tags: Labels = ()
    process: Labels = ()


class LogLine(NamedTuple):
    """One line a container wrote, at seconds since 1970 by its machine's clock.

    ``origin`` are the labels of who wrote it, one tuple shared by all lines of a container.
    """

    time: float
    source: str
    stream: str
    text: str
    origin: Labels = ()


class Counter:
    """A number that only grows."""

    __slots__ = ("value",)

    def __init__(self) -> None:
        self.value = 0.0

    def add(self, amount: float = 1.0) -> None:
        """Count so much more."""
        self.value += amount


class Gauge:
    """A number that goes up and down."""

    __slots__ = ("value",)

    def __init__(self) -> None:
        self.value = 0.0

    def set(self, value: float) -> None:
        """The number now."""
        self.value = value


class Histogram:
    """How often values fell below each bound."""

    __slots__ = ("bounds", "counts", "total")

    def __init__(self, bounds: tuple[float, ...] = LATENCY_BUCKETS_S) -> None:
        self.bounds = bounds
        self.counts = [0] * (len(bounds) + 1)
        self.total = 0.0

    def observe(self, value: float) -> None:
        """One more value."""
        self.counts[bisect_left(self.bounds, value)] += 1
        self.total += value

    @property
    def count(self) -> int:
        """How many values there were."""
        return sum(self.counts)


Metric = Counter | Gauge | Histogram
M = TypeVar("M", Counter, Gauge, Histogram)


class Metrics:
    """The metrics of one process, as a client library holds them.

    ``labels`` say whose they are, those of its container; ``address`` is where it runs.
    """

    __slots__ = ("address", "families", "labels")

    def __init__(self, labels: Labels = (), address: str = "") -> None:
        self.labels = labels
        self.address = address
        self.families: dict[tuple[str, Labels], Metric] = {}

    def counter(self, name: str, labels: Labels = ()) -> Counter:
        """The counter of that name and labels, made when first asked for."""
        return self._metric(name, labels, Counter)

    def gauge(self, name: str, labels: Labels = ()) -> Gauge:
        """The gauge of that name and labels, made when first asked for."""
        return self._metric(name, labels, Gauge)

    def histogram(
        self, name: str, labels: Labels = (), bounds: tuple[float, ...] = LATENCY_BUCKETS_S
    ) -> Histogram:
        """The histogram of that name and labels, made when first asked for, with those bounds."""
        return self._metric(name, labels, Histogram, bounds)

    def _metric(self, name: str, labels: Labels, kind: type[M], *shape: tuple[float, ...]) -> M:
        metric = self.families.get((name, labels))
        if metric is None:
            metric = self.families[name, labels] = kind(*shape)
        if not isinstance(metric, kind):
            raise TypeError(f"metric {name} is a {type(metric).__name__} already, not a {kind.__name__}")
        return metric


class Emitter(Protocol):
    """Takes what software emits."""

    def log(self, line: LogLine) -> None:
        """A log line was written."""

    def span(self, span: Span) -> None:
        """An operation has ended."""

    def expose(self, metrics: Metrics) -> None:
        """A program has metrics that can be read from now on."""

    def withdraw(self, metrics: Metrics) -> None:
        """The program has ended, and its metrics with it."""


class NullEmitter:
    """Forgets everything."""

    def log(self, line: LogLine) -> None:
        """Forget it."""

    def span(self, span: Span) -> None:
        """Forget it."""

    def expose(self, metrics: Metrics) -> None:
        """Nobody will read them."""

    def withdraw(self, metrics: Metrics) -> None:
        """Nobody has read them."""


class MemoryEmitter:
    """Keeps everything, up to a count of lines and spans; then the oldest half is forgotten."""

    def __init__(self, keep: int = 200_000) -> None:
        self._keep = keep
        self.logs: list[LogLine] = []
        self.spans: list[Span] = []
        self.exposed: dict[Metrics, None] = {}

    def log(self, line: LogLine) -> None:
        """Keep a line."""
        self.logs.append(line)
        if len(self.logs) > self._keep:
            del self.logs[: self._keep // 2]

    def span(self, span: Span) -> None:
        """Keep a span."""
        self.spans.append(span)
        if len(self.spans) > self._keep:
            del self.spans[: self._keep // 2]

    def expose(self, metrics: Metrics) -> None:
        """Keep them while the program runs."""
        self.exposed[metrics] = None

    def withdraw(self, metrics: Metrics) -> None:
        """They are gone."""
        del self.exposed[metrics]
