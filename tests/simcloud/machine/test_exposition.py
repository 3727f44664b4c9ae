from __future__ import annotations

from simcloud.machine.emit import Metrics
from simcloud.machine.exposition import format_metrics


def test_metrics_are_told_as_prometheus_reads_them() -> None:
    metrics = Metrics((("pod", "not-told"),))
    metrics.gauge("depth").set(0.5)
    metrics.counter("calls_total", (("code", "200"), ("path", 'a"b\\c\nd'))).add(3)
    metrics.counter("calls_total", (("code", "500"),)).add(1e15)
    histogram = metrics.histogram("wait_seconds", (("side", "client"),), (0.25, 1.0))
    for seconds in (0.1, 0.7, 9.0):
        histogram.observe(seconds)
    assert format_metrics(metrics).splitlines() == [
        "# TYPE calls_total counter",
        'calls_total{code="200",path="a\\"b\\\\c\\nd"} 3',
        'calls_total{code="500"} 1e+15',
        "# TYPE depth gauge",
        "depth 0.5",
        "# TYPE wait_seconds histogram",
        'wait_seconds_bucket{side="client",le="0.25"} 1',
        'wait_seconds_bucket{side="client",le="1"} 2',
        'wait_seconds_bucket{side="client",le="+Inf"} 3',
        'wait_seconds_sum{side="client"} 9.8',
        'wait_seconds_count{side="client"} 3',
    ]


def test_nothing_is_told_of_nothing() -> None:
    assert format_metrics(Metrics()) == ""
