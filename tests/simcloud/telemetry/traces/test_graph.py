"""The map of who calls whom, with its figures."""

from __future__ import annotations

import pytest

from simcloud.machine.emit import Span
from simcloud.telemetry.traces import TraceStore, TraceView, dependencies, records, service_health

EVER = (-(2**62), 2**62)


@pytest.fixture
def view() -> TraceView:
    """A hundred requests: the frontend calls geo, which fails each tenth time and takes 1 to 100 ms."""
    store = TraceStore()
    for number in range(1, 101):
        error = "unavailable" if number % 10 == 0 else None
        grpc = (("response_class", "5xx"),) if error else ()
        store.add(Span(number, 3, 2, "geo", "Nearby", number + 0.01, number / 1000, error, grpc))
        store.add(Span(number, 2, 1, "frontend", "call of geo", number + 0.005, 0.2, error))
        http = (("http.status_code", "500" if error else "200"),)
        store.add(Span(number, 1, 0, "frontend", "GET /", float(number), 0.3, None, http))
    return TraceView(store)


def test_an_edge_has_calls_errors_and_latencies(view: TraceView) -> None:
    (edge,) = dependencies(view, *EVER)
    assert (edge.parent, edge.child, edge.calls) == ("frontend", "geo", 100)
    assert edge.figures.error_share == 0.1
    assert (edge.figures.p50_s, edge.figures.p95_s, edge.figures.p99_s) == (0.05, 0.095, 0.099)


def test_only_traces_of_the_window_count(view: TraceView) -> None:
    (edge,) = dependencies(view, 10_500_000, 20_500_000)
    assert edge.calls == 10


def test_a_services_own_spans_are_no_requests(view: TraceView) -> None:
    frontend, geo = service_health(view, *EVER)
    assert (frontend.service, frontend.figures.calls, frontend.figures.errors) == ("frontend", 100, 10)
    assert (geo.service, geo.figures.calls, geo.figures.errors) == ("geo", 100, 10)


def test_a_child_whose_parent_is_missing_is_nobodys_call() -> None:
    store = TraceStore()
    store.add(Span(1, 3, 2, "geo", "Nearby", 1.0, 0.1, None))
    assert dependencies(TraceView(store), *EVER) == []
    (geo,) = service_health(TraceView(store), *EVER)
    assert geo.figures.calls == 1


def test_records_are_the_rows_of_the_export(view: TraceView) -> None:
    rows = list(records(view, 10_000_000, 10_020_000))
    assert [row._asdict() for row in rows[:1]] == [
        {
            "trace_id": "000000000000000a",
            "span_id": "0000000000000003",
            "parent_span": "0000000000000002",
            "service_name": "geo",
            "operation_name": "Nearby",
            "start_time": 10_010_000,
            "duration": 10_000,
            "has_error": True,
            "response": "5xx",
        }
    ]
    assert [(row.parent_span, row.response) for row in rows[1:]] == [
        ("0000000000000001", "Unknown"),
        ("ROOT", "500"),
    ]
