"""Traces: spans in, questions out, memory, and how all grow with the number of spans kept.

A hundred requests a second, each a trace of 13 spans through eight services, one in a hundred failing, each root with
a URL of its own; until 100,000 and 1,000,000 spans are there. Then what an operator asks. The budget is on growth, because
that is no matter of the machine: with ten times as many spans kept, a span and a question about few may
cost at most twice as much. And a span takes at most 130 bytes, all told. ``python benchmarks/observer_traces.py [--json]``
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Any

from _growth import compare, per_s, traced_bytes
from rich.table import Table

from simcloud.machine.emit import Labels, Span
from simcloud.telemetry.traces import JaegerApi, Search, TraceStore, TraceView, dependencies

SPANS_A_TRACE = 13
REQUESTS_PER_S = 100
SERVICES = 8
MOST_BYTES = 130.0
MOST_GROWTH = 2.0
WINDOW_US = 60_000_000
GRPC: Labels = (("component", "gRPC"), ("span.kind", "server"))
PROCESSES: list[Labels] = [
    (("hostname", f"service-{n}-7d9f"), ("ip", f"10.244.0.{n}"), ("jaeger.version", "Go-2.22.1"))
    for n in range(SERVICES)
]


def spans(count: int) -> Iterator[Span]:
    """Spans as an application emits them: children before their parents."""
    for number in range(count // SPANS_A_TRACE):
        start = number / REQUESTS_PER_S
        error = "rpc error: code = Unavailable desc = no connection" if number % 100 == 0 else None
        http: Labels = (
            ("component", "net/http"),
            ("http.url", f"/hotels?lat={number}"),
            ("span.kind", "server"),
        )
        trace_id = number * 0x9E3779B97F4A7C15 % 2**64
        for child in range(SPANS_A_TRACE - 1, -1, -1):
            yield Span(
                trace_id,
                number * SPANS_A_TRACE + child + 1,
                number * SPANS_A_TRACE + child if child else 0,
                f"service-{child % SERVICES}",
                f"/operation-{child}",
                start + child * 0.001,
                0.02 - child * 0.001,
                error if child == 0 else None,
                GRPC if child else http,
                PROCESSES[child % SERVICES],
            )


def filled(count: int) -> tuple[TraceStore, float]:
    """A store with that many spans, and the CPU seconds that adding them took."""
    store = TraceStore()
    add = store.add
    spent_s = 0.0
    batch: list[Span] = []
    for span in spans(count):
        batch.append(span)
        if len(batch) == 10_000:
            spent_s += _added_s(add, batch)
            batch.clear()
    spent_s += _added_s(add, batch)
    begun = time.process_time()
    store.settle()
    return store, spent_s + time.process_time() - begun


def _added_s(add: Callable[[Span], None], batch: list[Span]) -> float:
    begun = time.process_time()
    for span in batch:
        add(span)
    return time.process_time() - begun


def questions(store: TraceStore) -> dict[str, Callable[[], object]]:
    """What an operator asks, each about few of the spans."""
    view = TraceView(store)
    end_us = int(len(store) / SPANS_A_TRACE / REQUESTS_PER_S * 1e6)
    start_us = end_us - WINDOW_US
    middle = store.trace_ids[len(store) // 2]
    api = JaegerApi(store, lambda: end_us)
    return {
        "one trace": lambda: view.trace(middle),
        "newest 20 of a service": lambda: view.find(Search("service-3", limit=20)),
        "newest 20, as Jaeger's JSON": lambda: api.answer(
            "/api/traces", {"service": ["service-3"], "limit": ["20"]}
        ),
        "slow and failed in the last minute": lambda: view.find(
            Search("service-0", None, (("error", "true"),), start_us, end_us, shortest_us=1000)
        ),
        "services and operations": lambda: (view.services(), view.operations("service-3")),
        "who calls whom, last minute": lambda: dependencies(view, start_us, end_us),
    }


def measure(count: int) -> dict[str, Any]:
    held_bytes = traced_bytes(lambda: filled(count))
    store, spent_s = filled(count)
    return {
        "spans": len(store),
        "spans_per_s": len(store) / spent_s,
        "bytes_per_span": held_bytes / len(store),
        "questions_per_s": {name: per_s(ask, 0.3) for name, ask in questions(store).items()},
    }


def growth(rows: list[dict[str, Any]]) -> dict[str, float]:
    """How much more things cost with more spans kept."""
    small, large = rows[0], rows[-1]
    grown = {"span": small["spans_per_s"] / large["spans_per_s"]}
    for name, rate in small["questions_per_s"].items():
        grown[name] = rate / large["questions_per_s"][name]
    return grown


def keeps(rows: list[dict[str, Any]], grown: dict[str, float]) -> bool:
    """Whether all budgets are kept."""
    return all(row["bytes_per_span"] <= MOST_BYTES for row in rows) and all(
        ratio <= MOST_GROWTH for ratio in grown.values()
    )


def table(rows: list[dict[str, Any]], grown: dict[str, float]) -> Table:
    out = Table(title="traces")
    for column in ("", *(f"{row['spans']:,} spans" for row in rows), "growth"):
        out.add_column(column, justify="right")
    out.add_row("spans/s in", *(f"{row['spans_per_s']:,.0f}" for row in rows), f"{grown['span']:.2f}x")
    out.add_row("bytes a span, all told", *(f"{row['bytes_per_span']:.1f}" for row in rows))
    for name in rows[0]["questions_per_s"]:
        rates = (f"{row['questions_per_s'][name]:,.0f}" for row in rows)
        out.add_row(f"{name}, per s", *rates, f"{grown[name]:.2f}x")
    return out


if __name__ == "__main__":
    raise SystemExit(compare("traces", measure, (100_000, 1_000_000), growth, keeps, table))
