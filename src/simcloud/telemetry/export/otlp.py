"""Recorded data as OTLP/JSON: ``traces.jsonl``, ``metrics.jsonl`` and ``logs.jsonl``, as OpenTelemetry's file exporter writes them.

Each line is a ``TracesData``, ``MetricsData`` or ``LogsData`` message with the items of one resource. A series whose name ends like a
counter's is a cumulative, monotonic sum; any other is a gauge. Histograms stay what Prometheus stores: a series for each bucket.
The end of a series is a data point without a value.
"""

from __future__ import annotations

import json
import math
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, Final

from simcloud.machine import Labels
from simcloud.telemetry.export.metrics import iter_samples
from simcloud.telemetry.export.tables import Period
from simcloud.telemetry.logs import LogStore
from simcloud.telemetry.metrics import MetricStore, Series, is_stale
from simcloud.telemetry.metrics.series import NAME
from simcloud.telemetry.traces import StoredSpan, TraceStore, TraceView

ITEMS_PER_LINE: Final = 1000
SCOPE: Final = {"name": "aiopslab-in-a-box"}
KINDS: Final = {"server": 2, "client": 3, "producer": 4, "consumer": 5}
INTERNAL: Final = 1
ERROR: Final = 2
CUMULATIVE: Final = 2
NO_VALUE: Final = 1
"""The flag of a data point that has no value."""
COUNTERS: Final = ("_total", "_count", "_sum", "_bucket")
RESOURCES: Final = {
    "namespace": "k8s.namespace.name",
    "pod": "k8s.pod.name",
    "container": "k8s.container.name",
    "node_name": "k8s.node.name",
    "app": "service.name",
}
"""OpenTelemetry's names of the labels of a log stream."""

Message = dict[str, Any]


def write_otlp(
    folder: Path, logs: LogStore, metrics: MetricStore, traces: TraceStore, period: Period
) -> dict[str, int]:
    """Write the three files to a folder; return the number of spans, data points and log records by file."""
    written = {}
    for signal, messages in (
        ("traces", _iter_traces(traces, period)),
        ("metrics", _iter_metrics(metrics, period)),
        ("logs", _iter_logs(logs, period)),
    ):
        name = f"{signal}.jsonl"
        written[name] = 0
        with (folder / name).open("w", encoding="utf-8", errors="replace") as file:
            for count, message in messages:
                file.write(json.dumps(message, ensure_ascii=False, separators=(",", ":")) + "\n")
                written[name] += count
    return written


def _make_attributes(pairs: Mapping[str, str]) -> list[Message]:
    return [{"key": key, "value": {"stringValue": value}} for key, value in pairs.items()]


def _iter_traces(store: TraceStore, period: Period) -> Iterator[tuple[int, Message]]:
    start_us, end_us = -(-period.start_ns // 1000), -(-period.end_ns // 1000) - 1
    spans = TraceView(store).spans_between(start_us, end_us)
    while batch := list(islice(spans, ITEMS_PER_LINE)):
        by_process: dict[tuple[str, Labels], list[StoredSpan]] = defaultdict(list)
        for span in batch:
            by_process[span.shape.group.service, span.shape.process].append(span)
        resources = [
            {
                "resource": {"attributes": _make_attributes({"service.name": service, **dict(process)})},
                "scopeSpans": [{"scope": SCOPE, "spans": list(map(_make_span, own))}],
            }
            for (service, process), own in by_process.items()
        ]
        yield len(batch), {"resourceSpans": resources}


def _make_span(span: StoredSpan) -> Message:
    shape = span.shape
    made: Message = {
        "traceId": f"{span.trace_id:032x}",
        "spanId": f"{span.span_id:016x}",
        "name": shape.group.operation,
        "kind": KINDS.get(shape.group.kind, INTERNAL),
        "startTimeUnixNano": str(span.start_us * 1000),
        "endTimeUnixNano": str(span.end_us * 1000),
        "attributes": _make_attributes(dict(shape.tags)),
        "status": {"code": ERROR, "message": shape.error or ""} if shape.failed else {},
    }
    return made | ({"parentSpanId": f"{span.parent_id:016x}"} if span.parent_id else {})


def _iter_metrics(store: MetricStore, period: Period) -> Iterator[tuple[int, Message]]:
    by_target: dict[tuple[str, str], dict[str, list[Series]]] = defaultdict(lambda: defaultdict(list))
    for series in store.select(()):
        labels = dict(series.labels)
        by_target[labels.get("job", ""), labels.get("instance", "")][series.name].append(series)
    for (job, instance), families in by_target.items():
        resource = _make_attributes({"service.name": job, "service.instance.id": instance})
        for name, family in families.items():
            points = [point for series in family for point in _iter_points(series, period)]
            for start in range(0, len(points), ITEMS_PER_LINE):
                batch = points[start : start + ITEMS_PER_LINE]
                metric = {"name": name} | _make_data(name, batch)
                scope = {"scope": SCOPE, "metrics": [metric]}
                message = {"resource": {"attributes": resource}, "scopeMetrics": [scope]}
                yield len(batch), {"resourceMetrics": [message]}


def _make_data(name: str, points: Sequence[Message]) -> Message:
    if name.endswith(COUNTERS):
        return {"sum": {"dataPoints": points, "aggregationTemporality": CUMULATIVE, "isMonotonic": True}}
    return {"gauge": {"dataPoints": points}}


def _iter_points(series: Series, period: Period) -> Iterator[Message]:
    own = {key: value for key, value in series.labels if key not in (NAME, "job", "instance")}
    attributes = _make_attributes(own)
    for time_ms, value in iter_samples(series, period):
        point = {"attributes": attributes, "timeUnixNano": str(time_ms * 1_000_000)}
        yield point | ({"flags": NO_VALUE} if is_stale(value) else {"asDouble": _make_number(value)})


def _make_number(value: float) -> float | str:
    """Return a number as ProtoJSON writes it: JSON itself has neither NaN nor infinity."""
    if math.isfinite(value):
        return value
    return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"


def _iter_logs(store: LogStore, period: Period) -> Iterator[tuple[int, Message]]:
    for stream in store.streams():
        labels = dict(stream.labels)
        resource = {RESOURCES[name]: labels[name] for name in RESOURCES if labels.get(name)}
        attributes = _make_attributes(
            {"log.iostream": labels.get("stream", ""), "log.file.path": labels.get("filename", "")}
        )
        places = iter(stream.between(*period))
        while batch := list(islice(places, ITEMS_PER_LINE)):
            records = [
                {
                    "timeUnixNano": str(stream.times_ns[index]),
                    "body": {"stringValue": stream.texts[index]},
                    "attributes": attributes,
                }
                for index in batch
            ]
            scope = {"scope": SCOPE, "logRecords": records}
            message = {"resource": {"attributes": _make_attributes(resource)}, "scopeLogs": [scope]}
            yield len(batch), {"resourceLogs": [message]}
