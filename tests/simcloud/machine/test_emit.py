"""What software tells about itself, and where it goes."""

from __future__ import annotations

import pytest

from simcloud.machine.emit import LogLine, MemoryEmitter, Metrics, NullEmitter, Span

SPAN = Span(1, 2, 0, "front", "read", 1.0, 0.5, None)


def test_a_metric_is_asked_for_once_and_changed_through_its_handle() -> None:
    metrics = Metrics()
    labels = (("service", "front"),)
    metrics.counter("requests", labels).add()
    metrics.counter("requests", labels).add(2.0)
    metrics.gauge("depth", labels).set(7.0)
    assert metrics.counter("requests", labels).value == 3.0
    assert metrics.gauge("depth", labels).value == 7.0
    assert metrics.counter("requests", (("service", "other"),)).value == 0.0


def test_a_histogram_counts_values_by_their_bounds() -> None:
    histogram = Metrics().histogram("latency", ())
    for value in (0.0005, 0.001, 0.0011, 99.0):
        histogram.observe(value)
    assert histogram.counts[:2] == [2, 1]
    assert histogram.counts[-1] == 1
    assert histogram.count == 4
    assert histogram.total == pytest.approx(99.0026)


def test_one_name_is_one_kind_of_metric() -> None:
    metrics = Metrics()
    metrics.counter("requests")
    with pytest.raises(TypeError, match="is a Counter already"):
        metrics.gauge("requests")


def test_memory_keeps_a_bounded_number_and_forgets_the_oldest() -> None:
    emitter = MemoryEmitter(keep=10)
    for number in range(100):
        emitter.span(SPAN._replace(span_id=number))
        emitter.log(LogLine(float(number), "front", "stdout", "hello"))
    assert 5 <= len(emitter.spans) <= 10
    assert emitter.spans[-1].span_id == 99
    assert emitter.logs[-1].time == 99.0


def test_metrics_are_held_while_their_program_runs() -> None:
    emitter, metrics = MemoryEmitter(), Metrics((("pod", "web-1"),))
    emitter.expose(metrics)
    assert [held.labels for held in emitter.exposed] == [(("pod", "web-1"),)]
    emitter.withdraw(metrics)
    assert not emitter.exposed


def test_the_null_emitter_takes_everything_and_keeps_nothing() -> None:
    emitter = NullEmitter()
    emitter.span(SPAN)
    emitter.log(LogLine(1.0, "front", "stdout", "hello"))
    metrics = Metrics()
    emitter.expose(metrics)
    emitter.withdraw(metrics)
