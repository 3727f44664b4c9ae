"""Metrics: samples in, queries out, memory, and how both grow with the number of series.

An hour of samples every 15 s goes into 1,000 and 10,000 series, as of a thousand pods; then the queries that
dashboards and alerts ask. The budget is on growth, because that is no matter of the machine: a sample and a query for one
service may cost at most twice as much in a store of ten times the series; a query over all, at most 20 times as
much. And a sample takes at most 16 bytes. ``python benchmarks/observer.py [--json]``
"""

from __future__ import annotations

import time
from functools import partial
from typing import Any

from _growth import compare, per_s, traced_bytes
from rich.table import Table

from simcloud.telemetry.metrics import MetricStore
from simcloud.telemetry.promql import Engine

STEP_MS = 15_000
STEPS = 240
START_MS = 1_700_000_000_000
END_MS = START_MS + STEPS * STEP_MS
SERVICES = 50

ONE = {
    "selector of one pod": 'cpu_seconds_total{pod="pod-7"}',
    "rate of one service": 'sum(rate(cpu_seconds_total{service="service-7",pod=~"pod-7|pod-57"}[5m]))',
}
ALL = {
    "sum over all": "sum by (service) (cpu_seconds_total)",
    "rate over all": "sum by (service) (rate(cpu_seconds_total[5m]))",
}
MOST_BYTES = 16.0
MOST_GROWTH_ONE = 2.0
MOST_GROWTH_ALL = 20.0


def filled(count: int) -> tuple[MetricStore, float]:
    """A store with an hour of samples, and the CPU seconds that appending took."""
    store = MetricStore()
    handles = [
        store.series(
            "cpu_seconds_total",
            (("namespace", "shop"), ("pod", f"pod-{n}"), ("service", f"service-{n % SERVICES}")),
        )
        for n in range(count)
    ]
    begun = time.process_time()
    append = store.append
    for step in range(STEPS):
        t_ms = START_MS + step * STEP_MS
        value = step * 1.5
        for handle in handles:
            append(handle, t_ms, value)
    return store, time.process_time() - begun


def measure(count: int) -> dict[str, Any]:
    held_bytes = traced_bytes(lambda: filled(count))
    store, append_s = filled(count)
    engine = Engine(store)
    return {
        "series": count,
        "samples": store.samples,
        "samples_per_s": store.samples / append_s,
        "bytes_per_sample": store.bytes / store.samples,
        "bytes_per_sample_all_told": held_bytes / store.samples,
        "queries_per_s": {
            name: per_s(partial(engine.instant, query, END_MS), 0.5) for name, query in (ONE | ALL).items()
        },
        "range_ms_per_step": range_ms_per_step(engine),
    }


def range_ms_per_step(engine: Engine) -> float:
    begun = time.process_time()
    engine.range(ALL["rate over all"], END_MS - 600_000, END_MS, STEP_MS)
    return (time.process_time() - begun) * 1000 / 41


def growth(rows: list[dict[str, Any]]) -> dict[str, float]:
    """How much more things cost in the larger store."""
    small, large = rows[0], rows[-1]
    grown = {"sample": small["samples_per_s"] / large["samples_per_s"]}
    for name in ONE | ALL:
        grown[name] = small["queries_per_s"][name] / large["queries_per_s"][name]
    return grown


def keeps(rows: list[dict[str, Any]], grown: dict[str, float]) -> bool:
    """Whether all budgets are kept."""
    return (
        all(row["bytes_per_sample"] <= MOST_BYTES for row in rows)
        and all(grown[name] <= MOST_GROWTH_ONE for name in ("sample", *ONE))
        and all(grown[name] <= MOST_GROWTH_ALL for name in ALL)
    )


def table(rows: list[dict[str, Any]], grown: dict[str, float]) -> Table:
    out = Table(title="metrics")
    for column in ("", *(f"{row['series']:,} series" for row in rows), "growth"):
        out.add_column(column, justify="right")
    out.add_row("samples/s in", *(f"{row['samples_per_s']:,.0f}" for row in rows), f"{grown['sample']:.2f}x")
    out.add_row("bytes a sample", *(f"{row['bytes_per_sample']:.1f}" for row in rows))
    out.add_row("all told", *(f"{row['bytes_per_sample_all_told']:.1f}" for row in rows))
    for name in ONE | ALL:
        out.add_row(
            f"{name}, queries/s",
            *(f"{row['queries_per_s'][name]:,.0f}" for row in rows),
            f"{grown[name]:.2f}x",
        )
    out.add_row("rate over all, range, ms/step", *(f"{row['range_ms_per_step']:.1f}" for row in rows))
    return out


if __name__ == "__main__":
    raise SystemExit(compare("metrics", measure, (1_000, 10_000), growth, keeps, table))
