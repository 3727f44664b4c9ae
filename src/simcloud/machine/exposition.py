"""A program's metrics as the text that Prometheus reads at ``/metrics``."""

from __future__ import annotations

from collections.abc import Iterator

from simcloud.machine.emit import Counter, Gauge, Histogram, Labels, Metric, Metrics

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"


def format_metrics(metrics: Metrics) -> str:
    """All of it, sorted by name."""
    return "".join(f"{line}\n" for line in _lines(metrics))


def _lines(metrics: Metrics) -> Iterator[str]:
    last = None
    for (name, labels), metric in sorted(metrics.families.items(), key=lambda item: item[0]):
        if name != last:
            yield f"# TYPE {name} {_type(metric)}"
            last = name
        if isinstance(metric, Histogram):
            yield from _histogram(name, labels, metric)
        else:
            yield f"{name}{_format_labels(labels)} {_number(metric.value)}"


def _histogram(name: str, labels: Labels, metric: Histogram) -> Iterator[str]:
    seen = 0
    for bound, count in zip((*map(_number, metric.bounds), "+Inf"), metric.counts, strict=True):
        seen += count
        yield f"{name}_bucket{_format_labels((*labels, ('le', bound)))} {seen}"
    yield f"{name}_sum{_format_labels(labels)} {_number(metric.total)}"
    yield f"{name}_count{_format_labels(labels)} {seen}"


def _type(metric: Metric) -> str:
    return {Counter: "counter", Gauge: "gauge", Histogram: "histogram"}[type(metric)]


def _format_labels(labels: Labels) -> str:
    return "{" + ",".join(f'{name}="{_escape(value)}"' for name, value in labels) + "}" if labels else ""


def _escape(value: str) -> str:
    return value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")


def _number(value: float) -> str:
    return str(int(value)) if value == int(value) and abs(value) < 1e15 else repr(value)
