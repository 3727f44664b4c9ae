"""A failure case in the layout of RCAEval (Pham et al., 2024), for its methods and others that read it.

``simple_metrics.csv`` has a column ``COMPONENT_METRIC`` for each series of a component, resampled to the times at which metrics were
scraped; ``metrics.json`` has the same, for the package's own reader. ``logs.csv``, ``traces.csv`` and ``inject_time.txt`` are as in
its data sets of several sources. A case lists calls that had not finished at its end, too, as long as they had lasted by then:
a tracer reports finished calls only, and a call that hangs is a symptom.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path
from typing import Final

from msgspec import Struct

from simcloud.machine import Span
from simcloud.telemetry.export.csv_files import write_csv
from simcloud.telemetry.export.dataset import ExportError, Sources
from simcloud.telemetry.export.metrics import iter_samples
from simcloud.telemetry.export.tables import Column, Period, Row, Table
from simcloud.telemetry.metrics import Matcher, is_stale
from simcloud.telemetry.metrics.series import NAME
from simcloud.telemetry.traces import StoredSpan, TraceStore, TraceView
from simcloud.telemetry.traces.jaeger_documents import id_text

SECOND_US: Final = 1_000_000
GAUGES: Final = {"container_memory_working_set_bytes": "mem", "container_fs_usage_bytes": "disk"}
COUNTERS: Final = {
    "container_cpu_usage_seconds_total": "cpu",
    "container_network_receive_bytes_total": "received",
    "container_network_transmit_bytes_total": "sent",
    "kube_pod_container_status_restarts_total": "restarts",
}
"""Metrics of containers that are exported, as rates per second."""
LOG_COLUMNS: Final = (
    Column("time", "string", "time of day"),
    Column("timestamp", "int64", "nanoseconds since 1970"),
    Column("container_name", "string", "the component"),
    Column("message", "string", "the line"),
)
TRACE_COLUMNS: Final = (
    Column("time", "string", "time of day"),
    *(
        Column(name, "string", "")
        for name in ("traceID", "spanID", "serviceName", "methodName", "operationName")
    ),
    Column("startTimeMillis", "int64", "milliseconds since 1970"),
    Column("startTime", "int64", "microseconds since 1970"),
    Column("duration", "int64", "microseconds"),
    Column("statusCode", "int64", "0, or 2 for a failure"),
    Column("parentSpanID", "string", ""),
)
FAILED: Final = 2
"""The status code of a failed span, as OpenTelemetry numbers it."""

Points = dict[int, float]
"""Values by time in seconds since 1970."""


class Case(Struct, frozen=True):
    """What is exported: the time, the application, when its fault was injected, and how often metrics were scraped."""

    period: Period
    namespace: str
    components: Sequence[str]
    injected_s: float
    interval_s: float
    open_spans: Sequence[Span]
    """Calls that have not finished at the end of the period."""


def write_case(folder: Path, sources: Sources, case: Case) -> dict[str, int]:
    """Write the files of a case to a new folder; return the number of rows of each. Raises ``ExportError``."""
    calls = _list_calls(sources.traces, case)
    unfinished = TraceStore(epoch_s=sources.epoch_s)
    for span in case.open_spans:
        unfinished.add(span)
    listed = [*calls, *_list_calls(unfinished, case)]
    metrics = _collect_metrics(sources, case, calls)
    if not metrics:
        raise ExportError("There are no metrics of this time. Export more minutes.")
    tables = {
        "simple_metrics.csv": _make_metric_table(metrics),
        "logs.csv": Table("logs", LOG_COLUMNS, lambda: _iter_lines(sources, case)),
        "traces.csv": Table("traces", TRACE_COLUMNS, lambda: map(_make_trace_row, listed)),
    }
    try:
        folder.mkdir(parents=True)
        rows = {name: write_csv(table, folder / name) for name, table in tables.items()}
        points = {
            name: [[time_s, value] for time_s, value in column.items()] for name, column in metrics.items()
        }
        (folder / "metrics.json").write_text(json.dumps(points))
        (folder / "inject_time.txt").write_text(f"{int(case.injected_s)}\n")
    except OSError as error:
        raise ExportError(f"{error.filename or folder} cannot be written ({error.strerror}).") from None
    return rows


def _make_metric_table(metrics: dict[str, Points]) -> Table:
    times = list(next(iter(metrics.values())))
    columns = (Column("time", "int64", ""), *(Column(name, "float64", "") for name in metrics))
    return Table(
        "simple_metrics",
        columns,
        lambda: ((time_s, *(points[time_s] for points in metrics.values())) for time_s in times),
    )


def _find_component(components: Sequence[str], pod: str) -> str | None:
    """Return the component with the longest name that a pod's name begins with."""
    owners = [name for name in components if pod == name or pod.startswith(f"{name}-")]
    return max(owners, key=len, default=None)


def _collect_metrics(sources: Sources, case: Case, calls: Sequence[StoredSpan]) -> dict[str, Points]:
    """Return the columns of the metrics, sorted, all at the same times."""
    columns: dict[str, Points] = defaultdict(lambda: defaultdict(float))
    for metric, short in (GAUGES | COUNTERS).items():
        for series in sources.metrics.select(
            (Matcher(NAME, "=", metric), Matcher("namespace", "=", case.namespace))
        ):
            component = _find_component(case.components, dict(series.labels).get("pod", ""))
            if component is None:
                continue
            samples = [sample for sample in iter_samples(series, case.period) if not is_stale(sample[1])]
            values = samples if metric in GAUGES else _compute_rates(samples)
            for time_ms, value in values:
                columns[f"{component}_{short}"][round(time_ms / 1000)] += value
    times = sorted({time_s for points in columns.values() for time_s in points})[1:]  # the first has no rates
    if not times:
        return {}
    columns |= _measure_calls(calls, case, times)
    return {name: _fill(name, columns[name], times) for name in sorted(columns)}


def _compute_rates(samples: Sequence[tuple[int, float]]) -> Iterator[tuple[int, float]]:
    for (before_ms, before), (now_ms, now) in pairwise(samples):
        grown = now - before if now >= before else now  # a counter restarts with its container
        yield now_ms, grown / ((now_ms - before_ms) / 1000)


def _measure_calls(calls: Iterable[StoredSpan], case: Case, times: Sequence[int]) -> dict[str, Points]:
    """Return the workload, errors and latencies of each component's calls at the given times."""
    ended: dict[str, dict[int, list[StoredSpan]]] = defaultdict(lambda: defaultdict(list))
    for call in calls:
        group = call.shape.group
        if group.kind != "client" and group.service in case.components:
            passed = (times[0] - call.end_us / SECOND_US) // case.interval_s
            ended[group.service][times[0] - round(passed * case.interval_s)].append(call)
    columns: dict[str, Points] = defaultdict(dict)
    for service, by_time in ended.items():
        for time_s in times:
            found = by_time.get(time_s, [])
            columns[f"{service}_workload"][time_s] = len(found) / case.interval_s
            columns[f"{service}_error"][time_s] = sum(call.shape.failed for call in found) / case.interval_s
            durations = sorted(call.duration_us / SECOND_US for call in found)
            for percent in (50, 90) if durations else ():
                columns[f"{service}_latency-{percent}"][time_s] = durations[len(durations) * percent // 100]
    return columns


def _fill(name: str, points: Points, times: Sequence[int]) -> Points:
    """Return the values at all times; where there are none, 0, or the last known latency."""
    filled, last = {}, 0.0
    for time_s in times:
        filled[time_s] = points.get(time_s, last)
        if "_latency-" in name:
            last = filled[time_s]
    return filled


def _iter_lines(sources: Sources, case: Case) -> Iterator[Row]:
    """Yield the log lines of the components, in the order of time."""
    lines = []
    for stream in sources.logs.streams():
        labels = dict(stream.labels)
        component = _find_component(case.components, labels.get("pod", ""))
        if component is not None and labels.get("namespace") == case.namespace:
            lines += [
                (stream.times_ns[index], stream.numbers[index], component, stream.texts[index])
                for index in stream.between(*case.period)
            ]
    for time_ns, _, component, text in sorted(lines):
        yield _format_time(time_ns / 1e9), time_ns, component, text


def _list_calls(store: TraceStore, case: Case) -> list[StoredSpan]:
    """Return the spans that start in the period, in the order of their ends."""
    start_us, end_us = -(-case.period.start_ns // 1000), -(-case.period.end_ns // 1000) - 1
    return list(TraceView(store).spans_between(start_us, end_us))


def _make_trace_row(span: StoredSpan) -> Row:
    group = span.shape.group
    parent = id_text(span.parent_id) if span.parent_id else ""
    ids = (_format_time(span.start_us / SECOND_US), id_text(span.trace_id), id_text(span.span_id))
    times = (span.start_us // 1000, span.start_us, span.duration_us)
    status = FAILED if span.shape.failed else 0
    return (*ids, group.service, group.operation, group.operation, *times, status, parent)


def _format_time(time_s: float) -> str:
    return f"{datetime.fromtimestamp(time_s, UTC):%H:%M:%S}"
