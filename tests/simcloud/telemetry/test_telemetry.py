from __future__ import annotations

from collections.abc import Callable

import pytest

from simcloud.machine.emit import LogLine, Metrics, Span
from simcloud.telemetry.sink import Telemetry

SPAN = Span(1, 2, 0, "front", "read", 1.0, 0.5, None)


def filled() -> Telemetry:
    telemetry = Telemetry(1_000.0)
    telemetry.log(LogLine(1_001.0, "front", "stdout", "hello"))
    telemetry.span(SPAN)
    metrics = Metrics((("pod", "front-1"),))
    metrics.counter("calls_total").add()
    metrics.histogram("wait_seconds").observe(0.2)
    telemetry.expose(metrics)
    return telemetry


def test_lines_and_spans_go_into_their_stores_and_metrics_are_held() -> None:
    telemetry = filled()
    assert [text for _, _, text in telemetry.logs.records()] == ["hello"]
    assert len(telemetry.traces) == 1
    (metrics,) = telemetry.exposed
    telemetry.withdraw(metrics)
    assert not telemetry.exposed


@pytest.mark.parametrize(
    "change",
    [
        lambda telemetry: telemetry.log(LogLine(1_002.0, "front", "stdout", "more")),
        lambda telemetry: telemetry.span(SPAN._replace(span_id=3, tags=(("k", "v"),))),
        lambda telemetry: telemetry.expose(Metrics()),
        lambda telemetry: next(iter(telemetry.exposed)).counter("calls_total").add(),
        lambda telemetry: next(iter(telemetry.exposed)).histogram("wait_seconds").observe(9.0),
    ],
)
def test_the_fingerprint_covers_all_of_it(change: Callable[[Telemetry], None]) -> None:
    changed = filled()
    assert changed.fingerprint() == filled().fingerprint()
    change(changed)
    assert changed.fingerprint() != filled().fingerprint()
