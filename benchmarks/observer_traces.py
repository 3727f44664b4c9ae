"""Traces: adding spans, queries and memory, and their growth with the number of spans.

The load is a hundred requests per second, each a trace of 13 spans through eight services; one in a hundred fails, and each root span has
a URL of its own. With 100,000 and with 1,000,000 spans in the store come the queries of an operator. Budgets are on growth,
which does not depend on the machine: with ten times the spans, adding a span and a query for a few of them may cost at most
twice as much. A span may take 130 bytes, indexes included. ``python benchmarks/observer_traces.py [--json] [--short]``
"""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable, Iterator
from typing import Any

from _measure import Stopwatch, measure_calls_per_s, traced_bytes
from _report import Budget, Report, find_missed, run, tabulate_figures

from simcloud.machine.emit import Labels, Span
from simcloud.telemetry.traces import JaegerApi, Search, TraceStore, TraceView, dependencies

SPANS_PER_TRACE = 13
REQUESTS_PER_S = 100
SERVICES = 8
SIZES = (100_000, 1_000_000)
QUERY_S = 0.3
SPANS, BYTES = "spans per CPU s", "bytes per span"
SPAN_BYTES = Budget(130.0)
GROWTH = Budget(2.0)
WINDOW_US = 60_000_000
GRPC: Labels = (("component", "gRPC"), ("span.kind", "server"))
PROCESSES: list[Labels] = [
    (("hostname", f"service-{n}-7d9f"), ("ip", f"10.244.0.{n}"), ("jaeger.version", "Go-2.22.1"))
    for n in range(SERVICES)
]


def make_spans(count: int) -> Iterator[Span]:
    """Yield spans as an application emits them: children before their parents."""
    for number in range(count // SPANS_PER_TRACE):
        start = number / REQUESTS_PER_S
        error = "rpc error: code = Unavailable desc = no connection" if number % 100 == 0 else None
        http: Labels = (
            ("component", "net/http"),
            ("http.url", f"/hotels?lat={number}"),
            ("span.kind", "server"),
        )
        trace_id = number * 0x9E3779B97F4A7C15 % 2**64
        for child in range(SPANS_PER_TRACE - 1, -1, -1):
            yield Span(
                trace_id,
                number * SPANS_PER_TRACE + child + 1,
                number * SPANS_PER_TRACE + child if child else 0,
                f"service-{child % SERVICES}",
                f"/operation-{child}",
                start + child * 0.001,
                0.02 - child * 0.001,
                error if child == 0 else None,
                GRPC if child else http,
                PROCESSES[child % SERVICES],
            )


def fill_store(count: int) -> tuple[TraceStore, float]:
    """Return a store with this many spans, and the CPU seconds that adding them took."""
    store = TraceStore()
    spent_s = 0.0
    batch: list[Span] = []
    for span in make_spans(count):
        batch.append(span)
        if len(batch) == 10_000:
            spent_s += add_batch(store, batch)
            batch.clear()
    spent_s += add_batch(store, batch)
    watch = Stopwatch()
    store.settle()
    return store, spent_s + watch.cpu_s


def add_batch(store: TraceStore, batch: list[Span]) -> float:
    """Add spans and return the CPU seconds that this took."""
    add, watch = store.add, Stopwatch()
    for span in batch:
        add(span)
    return watch.cpu_s


def make_queries(store: TraceStore) -> dict[str, Callable[[], object]]:
    """Return the queries of an operator, each for a few of the spans."""
    view = TraceView(store)
    end_us = int(len(store) / SPANS_PER_TRACE / REQUESTS_PER_S * 1e6)
    start_us = end_us - WINDOW_US
    middle = store.trace_ids[len(store) // 2]
    api = JaegerApi(store, lambda: end_us)
    return {
        "one trace": lambda: view.trace(middle),
        "newest 20 of a service": lambda: view.find(Search("service-3", limit=20)),
        "newest 20, as JSON of Jaeger": lambda: api.answer(
            "/api/traces", {"service": ["service-3"], "limit": ["20"]}
        ),
        "slow and failed in the last minute": lambda: view.find(
            Search("service-0", None, (("error", "true"),), start_us, end_us, shortest_us=1000)
        ),
        "services and operations": lambda: (view.services(), view.operations("service-3")),
        "dependencies of the last minute": lambda: dependencies(view, start_us, end_us),
    }


def measure_store(count: int, query_s: float) -> dict[str, Any]:
    allocated_bytes = traced_bytes(lambda: fill_store(count))
    store, spent_s = fill_store(count)
    figures = {"spans": len(store), SPANS: len(store) / spent_s, BYTES: allocated_bytes / len(store)}
    for name, query in make_queries(store).items():
        figures[f"{name}, per CPU s"] = measure_calls_per_s(query, query_s)
    return figures


def measure(short: bool) -> Report:
    gc.disable()  # as in a running world, whose kernel collects at fixed event counts
    sizes, query_s = ((1_300, 2_600), 0.0) if short else (SIZES, QUERY_S)
    columns = {f"{size:,} spans": measure_store(size, query_s) for size in sizes}
    small, large = columns.values()
    growth = {name: small[name] / large[name] for name in small if name.endswith("per CPU s")}
    budgets = dict.fromkeys(growth, GROWTH)
    return Report(
        {"spans": columns, "growth": growth},
        [
            tabulate_figures("Traces", columns),
            tabulate_figures("Cost in the larger store", {"growth": growth}, budgets),
        ],
        find_missed(growth, budgets) | SPAN_BYTES.find_missed(BYTES, max(small[BYTES], large[BYTES])),
    )


if __name__ == "__main__":
    sys.exit(run(__doc__, measure))
