"""Metrics: appending samples, queries and memory, and their growth with the number of series.

An hour of samples at intervals of 15 s goes into 1,000 and into 10,000 series, as of a thousand pods; then come the queries of
dashboards and alerts. Budgets are on growth, which does not depend on the machine: with ten times the series, a
sample and a query for one service may cost at most twice as much, and a query over everything at most 20 times as much. A
sample may take 16 bytes. ``python benchmarks/observer.py [--json] [--short]``
"""

from __future__ import annotations

import gc
import sys
from functools import partial
from typing import Any

from _measure import Stopwatch, measure_calls_per_s, traced_bytes
from _report import Budget, Report, find_missed, run, tabulate_figures

from simcloud.telemetry.metrics import MetricStore
from simcloud.telemetry.promql import Engine

STEP_MS = 15_000
STEPS = 240
START_MS = 1_700_000_000_000
END_MS = START_MS + STEPS * STEP_MS
RANGE_MS = 600_000
SERVICES = 50
SIZES = (1_000, 10_000)
QUERY_S = 0.5

ONE = {
    "selector of one pod": 'cpu_seconds_total{pod="pod-7"}',
    "rate of one service": 'sum(rate(cpu_seconds_total{service="service-7",pod=~"pod-7|pod-57"}[5m]))',
}
ALL = {
    "sum over all": "sum by (service) (cpu_seconds_total)",
    "rate over all": "sum by (service) (rate(cpu_seconds_total[5m]))",
}
SAMPLES, BYTES = "samples per CPU s", "bytes per sample"
QUERIES = "{}, queries per CPU s"
SAMPLE_BYTES = Budget(16.0)
GROWTH = {
    SAMPLES: Budget(2.0),
    **{QUERIES.format(name): Budget(2.0) for name in ONE},
    **{QUERIES.format(name): Budget(20.0) for name in ALL},
}


def fill_store(count: int) -> tuple[MetricStore, float]:
    """Return a store with an hour of samples, and the CPU seconds that appending took."""
    store = MetricStore()
    handles = [
        store.series(
            "cpu_seconds_total",
            (("namespace", "shop"), ("pod", f"pod-{n}"), ("service", f"service-{n % SERVICES}")),
        )
        for n in range(count)
    ]
    watch = Stopwatch()
    append = store.append
    for step in range(STEPS):
        t_ms = START_MS + step * STEP_MS
        value = step * 1.5
        for handle in handles:
            append(handle, t_ms, value)
    return store, watch.cpu_s


def measure_store(count: int, query_s: float) -> dict[str, Any]:
    allocated_bytes = traced_bytes(lambda: fill_store(count))
    store, append_s = fill_store(count)
    engine = Engine(store)
    figures: dict[str, Any] = {
        "samples": store.samples,
        SAMPLES: store.samples / append_s,
        BYTES: store.bytes / store.samples,
        "bytes per sample, indexes included": allocated_bytes / store.samples,
    }
    for name, query in (ONE | ALL).items():
        ask = partial(engine.instant, query, END_MS)
        figures[QUERIES.format(name)] = measure_calls_per_s(ask, query_s)
    watch = Stopwatch()
    engine.range(ALL["rate over all"], END_MS - RANGE_MS, END_MS, STEP_MS)
    figures["rate over all, range, CPU ms per step"] = watch.cpu_s * 1e3 / (RANGE_MS // STEP_MS + 1)
    return figures


def measure(short: bool) -> Report:
    gc.disable()  # as in a running world, whose kernel collects at fixed event counts
    sizes, query_s = ((10, 50), 0.0) if short else (SIZES, QUERY_S)
    columns = {f"{size:,} series": measure_store(size, query_s) for size in sizes}
    small, large = columns.values()
    growth = {name: small[name] / large[name] for name in GROWTH}
    figures = {"series": columns, "growth": growth}
    return Report(
        figures,
        [
            tabulate_figures("Metrics", columns),
            tabulate_figures("Cost in the larger store", {"growth": growth}, GROWTH),
        ],
        find_missed(growth, GROWTH) | SAMPLE_BYTES.find_missed(BYTES, max(small[BYTES], large[BYTES])),
    )


if __name__ == "__main__":
    sys.exit(run(__doc__, measure))
