"""Metrics as tables: all samples in one long table, or one table per metric with a column per label.

The long table is complete and includes the markers that end a series. The tables per metric have only values.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import msgspec

from simcloud.machine import Labels
from simcloud.telemetry.export.tables import Column, Period, Row, Table
from simcloud.telemetry.metrics import Matcher, MetricStore, Series, is_stale
from simcloud.telemetry.metrics.series import NAME

_MS_NS: Final = 1_000_000
METRIC_COLUMNS: Final = (
    Column("metric", "string", "its name"),
    Column("labels", "string", "its other labels, as JSON"),
    Column("timestamp_ms", "int64", "milliseconds since 1970"),
    Column("value", "float64", "the sample; NaN where stale"),
    Column("stale", "bool", "whether this only says that the series has ended"),
)


def table_of_metrics(store: MetricStore, period: Period) -> Table:
    """Return every sample, series by series."""

    def rows() -> Iterator[Row]:
        for series in store.select(()):
            labels = msgspec.json.encode(dict(_others(series.labels))).decode()
            for time_ms, value in iter_samples(series, period):
                stale = is_stale(value)
                yield series.name, labels, time_ms, float("nan") if stale else value, stale

    return Table("metrics", METRIC_COLUMNS, rows)


def metric_names(store: MetricStore, period: Period, where: tuple[Matcher, ...] = ()) -> list[str]:
    """Return the names of metrics that have samples in a period, sorted."""
    span = (-(-period.start_ns // _MS_NS), (period.end_ns - 1) // _MS_NS)
    return store.label_values(NAME, [where] if where else (), span)


def metric_table(
    store: MetricStore,
    name: str,
    period: Period,
    where: tuple[Matcher, ...] = (),
    without: frozenset[str] = frozenset(),
) -> Table:
    """Return the samples of one metric, a column for each label but those left out, series by series."""
    found = store.select((Matcher(NAME, "=", name), *where))
    labels = sorted({label for series in found for label, _ in _others(series.labels)} - without)

    def rows() -> Iterator[Row]:
        for series in found:
            own = dict(series.labels)
            shown = [own.get(label, "") for label in labels]
            for time_ms, value in iter_samples(series, period):
                if not is_stale(value):
                    yield (time_ms, *shown, value)

    columns = (
        Column("timestamp", "int64", "milliseconds since 1970"),
        *(
            Column(f"label_{label}" if label in ("timestamp", "value") else label, "string", "")
            for label in labels
        ),
        Column("value", "float64", ""),
    )
    return Table(name, columns, rows)


def _others(labels: Labels) -> Labels:
    return tuple(pair for pair in labels if pair[0] != NAME)


def iter_samples(series: Series, period: Period) -> Iterator[tuple[int, float]]:
    """Yield all samples of a period, markers of an end among them."""
    first = series.index_from(-(-period.start_ns // _MS_NS))
    last = series.index_from(-(-period.end_ns // _MS_NS))
    for time, value in zip(series.times[first:last], series.values[first:last], strict=True):
        yield series.base_ms + time, value
