"""Telemetry as time series, spans and log lines, collected through the actions alone.

An observation is short, so exports are compressed on the agent's host and read in parts. A session's telemetry begins about
two minutes before the fault of a problem, which is what the algorithms take as normal.
"""

from __future__ import annotations

import csv
import re
import zlib
from base64 import b64decode
from collections import defaultdict
from collections.abc import Collection, Generator, Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import pairwise
from typing import Final, NamedTuple, TypeAlias, TypeVar

from aiopslab.agents.floors import format_call

T = TypeVar("T")
Steps: TypeAlias = Generator[str, str, T]
"""Yields actions, is sent observations, returns a result."""
SeriesKey: TypeAlias = tuple[str, str]
"""A component and the name of a metric."""

MINUTES: Final = 5
SCRAPE_S: Final = 15
PART_BYTES: Final = 15_000
MAX_PARTS: Final = 8
"""Parts of one export that are read at most; what is longer is not used."""
MAX_SPANS: Final = 3_000
MIN_SAMPLES: Final = 6
GAUGES: Final[Mapping[str, str]] = {
    "container_memory_working_set_bytes": "memory",
    "kube_deployment_status_replicas_available": "available",
}
COUNTERS: Final[Mapping[str, str]] = {
    "container_cpu_usage_seconds_total": "cpu",
    "container_network_receive_bytes_total": "received",
    "container_network_transmit_bytes_total": "sent",
    "kube_pod_container_status_restarts_total": "restarts",
}
CALLS: Final = re.compile(r"\w+_(client|server)_(errors_total|duration_seconds_sum|duration_seconds_count)")
EXPORTED: Final = (
    "cd {folder} && grep -H . "
    + " ".join(f"{name}.csv" for name in (*GAUGES, *COUNTERS))
    + " *_client_errors_total.csv *_server_errors_total.csv *_client_duration_seconds_*.csv *_server_duration_seconds_*.csv 2> /dev/null"
)
SPANS: Final = (
    "awk -F, -v most={most} 'NR == FNR {{n++; next}} FNR == 1 {{share = int((n + most - 1) / most); next}} "
    "!($1 in traces) {{traces[$1] = ++count}} traces[$1] % share == 0 {{for (i = 2; i <= 3; i++) if (!($i in ids)) ids[$i] = ++spans; "
    'print traces[$1], ids[$2], ($3 == "ROOT" ? 0 : ids[$3]), $4, $5, int($6 / 1000), $7, $8}}\' OFS=, {path} {path}'
)
LOGS: Final = (
    "for pod in $(kubectl -n {ns} get pods -o name); do kubectl -n {ns} logs $pod --all-containers --timestamps "
    "--since={minutes}m --tail=1000 2> /dev/null | cut -c1-300 | awk -v pod=${{pod#pod/}} '{{print pod, $0}}'; done"
)
FOLDER: Final = re.compile(r"are in (\S+) on your host")
POD_SUFFIX: Final = re.compile(r"-[0-9a-z]{6,10}-[0-9a-z]{5}$")


class Span(NamedTuple):
    """One operation of a request."""

    trace: int
    id: int
    parent: int
    service: str
    operation: str
    start_s: float
    duration_s: float
    failed: bool


class LogLine(NamedTuple):
    """One line of a component's log."""

    component: str
    time_s: float
    text: str


@dataclass(frozen=True)
class Metrics:
    """Values of each component's metrics at the same times, every 15 seconds. Counters are rates."""

    times_s: list[float]
    series: dict[SeriesKey, list[float]]


class NoTelemetry(Exception):
    """The actions returned no telemetry; the message is what they said."""


def fetch(command: str) -> Steps[str]:
    """Run a command on the agent's host and return its whole output; raises ``NoTelemetry``."""
    packed = f"({command}) | gzip -9n | base64 -w 0 > /tmp/export.b64; wc -c < /tmp/export.b64; head -c {PART_BYTES} /tmp/export.b64"
    seen = yield format_call("exec_shell", packed, 300)
    size, _, rest = seen.partition("\n")
    if not size.strip().isdecimal():
        raise NoTelemetry(seen)
    text = rest.split("\n")[0]
    for start in range(PART_BYTES, min(int(size), MAX_PARTS * PART_BYTES), PART_BYTES):
        seen = yield format_call("exec_shell", f"tail -c +{start + 1} /tmp/export.b64 | head -c {PART_BYTES}")
        text += seen.split("\n")[0]
    unpacked = _unpack(text)
    return unpacked if len(text) >= int(size) else unpacked.rpartition("\n")[0]


def _unpack(text: str) -> str:
    """Return the text of a compressed export, up to where it was cut off; raises ``NoTelemetry``."""
    try:
        data = zlib.decompressobj(zlib.MAX_WBITS | 16).decompress(b64decode(text[: len(text) // 4 * 4]))
    except (ValueError, zlib.error) as error:
        raise NoTelemetry(f"An export cannot be unpacked: {error}") from None
    return data.decode("utf-8", "replace")


def collect_metrics(namespace: str, components: Collection[str]) -> Steps[Metrics]:
    """Export the metrics of a namespace and return those of the components; raises ``NoTelemetry``."""
    folder = _find_path((yield format_call("get_metrics", namespace, MINUTES)))
    metrics = parse_metrics((yield from fetch(EXPORTED.format(folder=folder))))
    series = {key: values for key, values in metrics.series.items() if key[0] in components}
    if not series or len(metrics.times_s) < MIN_SAMPLES:
        raise NoTelemetry(f"There are only {len(metrics.times_s)} samples of {len(series)} series.")
    return Metrics(metrics.times_s, series)


def collect_spans(namespace: str) -> Steps[list[Span]]:
    """Export the traces of a namespace and return a sample of whole requests; raises ``NoTelemetry``."""
    path = _find_path((yield format_call("get_traces", namespace, MINUTES)))
    return parse_spans((yield from fetch(SPANS.format(path=path, most=MAX_SPANS))))


def collect_logs(namespace: str) -> Steps[list[LogLine]]:
    """Return the log lines of the last minutes; raises ``NoTelemetry``."""
    return parse_logs((yield from fetch(LOGS.format(ns=namespace, minutes=MINUTES))))


def _find_path(seen: str) -> str:
    found = FOLDER.search(seen)
    if found is None:
        raise NoTelemetry(seen)
    return found.group(1)


def find_component(labels: Mapping[str, str]) -> str:
    """Return the component that a series belongs to; calls belong to the callee, where their cause is likely to be."""
    return (
        labels.get("peer")
        or labels.get("deployment")
        or labels.get("service")
        or POD_SUFFIX.sub("", labels.get("pod", ""))
    )


def parse_metrics(text: str) -> Metrics:
    """Return the series in exported files, each line preceded by its file's name."""
    rows: dict[str, list[list[str]]] = defaultdict(list)
    for line in text.splitlines():
        file, _, rest = line.partition(".csv:")
        rows[file].extend(csv.reader([rest]))
    samples: dict[SeriesKey, dict[float, float]] = defaultdict(lambda: defaultdict(float))
    for file, (header, *body) in rows.items():
        name, is_counter = _get_metric_name(file)
        series: dict[tuple[str, ...], list[tuple[float, float]]] = defaultdict(list)
        for row in body:
            if len(row) == len(header):
                series[tuple(row[1:-1])].append((float(row[0]) / 1000, float(row[-1])))
        for labels, points in series.items():
            component = find_component(dict(zip(header[1:-1], labels, strict=True)))
            for time_s, value in _get_rates(points) if is_counter else points:
                samples[component, name][round(time_s / SCRAPE_S) * SCRAPE_S] += value
    times_s = sorted({time_s for points in samples.values() for time_s in points})[1:]
    series_by_key = {
        key: [points.get(time_s, 0.0) for time_s in times_s] for key, points in sorted(samples.items())
    }
    return Metrics(times_s, _compute_latencies(series_by_key))


def _get_metric_name(file: str) -> tuple[str, bool]:
    """Return the short name of an exported metric, and whether it is a counter."""
    if file in GAUGES:
        return GAUGES[file], False
    call = CALLS.fullmatch(file)
    return (f"{call[1]} {call[2]}" if call else COUNTERS.get(file, file)), True


def _get_rates(points: Iterable[tuple[float, float]]) -> Iterable[tuple[float, float]]:
    """Yield the rates between the samples of a counter, which may begin anew."""
    ordered = sorted(points)
    for (before_s, before), (time_s, value) in pairwise(ordered):
        yield time_s, (value - before if value >= before else value) / max(time_s - before_s, 1.0)


def _compute_latencies(series: dict[SeriesKey, list[float]]) -> dict[SeriesKey, list[float]]:
    """Replace the sums and counts of durations by mean latencies and rates of calls."""
    found: dict[SeriesKey, list[float]] = {}
    for (component, name), values in series.items():
        side = name.partition(" ")[0]
        if name.endswith("duration_seconds_count"):
            found[component, f"{side} rate"] = values
        elif name.endswith("duration_seconds_sum"):
            counts = series.get((component, f"{side} duration_seconds_count"), [0.0] * len(values))
            found[component, f"{side} latency"] = _divide(values, counts)
        else:
            found[component, name.replace("errors_total", "errors")] = values
    return found


def _divide(sums: list[float], counts: list[float]) -> list[float]:
    """Return means; without calls, the mean before, because a latency of zero would look like a change."""
    means: list[float] = []
    for total, count in zip(sums, counts, strict=True):
        means.append(total / count if count > 0 else means[-1] if means else 0.0)
    return means


def parse_spans(text: str) -> list[Span]:
    """Return the spans in lines of the exported file, with short ids and milliseconds."""
    found = []
    for row in csv.reader(text.splitlines()):
        if len(row) == 8 and row[0].isdecimal():
            trace, span, parent = map(int, row[:3])
            found.append(
                Span(
                    trace,
                    span,
                    parent,
                    row[3],
                    row[4],
                    int(row[5]) / 1e3,
                    int(row[6]) / 1e6,
                    row[7] == "True",
                )
            )
    return found


def parse_logs(text: str) -> list[LogLine]:
    """Return the lines of pods, each preceded by the pod and the time."""
    found = []
    for line in text.splitlines():
        pod, _, rest = line.partition(" ")
        moment, _, message = rest.partition(" ")
        try:
            time_s = datetime.fromisoformat(moment.rstrip("Z")[:26]).replace(tzinfo=UTC).timestamp()
        except ValueError:
            continue
        found.append(LogLine(POD_SUFFIX.sub("", pod), time_s, message))
    return found
