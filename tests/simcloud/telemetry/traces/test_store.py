"""What the store keeps, what it drops, and what it finds."""

from __future__ import annotations

from simcloud.machine.emit import Span
from simcloud.telemetry.traces import Retention, RowRuns, Search, TraceStore, TraceView


def span(trace_id: int, span_id: int = 1, parent_id: int = 0, start: float = 0.0, **rest: object) -> Span:
    given = {"service": "geo", "operation": "Nearby", "duration_s": 0.001, "error": None} | rest
    return Span(trace_id, span_id, parent_id, start=start, **given)


def test_a_trace_is_found_by_its_id() -> None:
    store = TraceStore(epoch_s=1000.0)
    store.add(span(7, 2, 1, 1.5))
    store.add(span(8, 3))
    store.add(span(7, 1, 0, 1.0, service="frontend"))
    trace = TraceView(store).trace(7)
    assert [one.span_id for one in trace] == [2, 1]
    assert trace[0].start_us == 1_001_500_000
    assert trace[1].shape.group.service == "frontend"
    assert TraceView(store).trace(9) == ()


def test_whole_traces_go_the_oldest_first() -> None:
    store = TraceStore(Retention(spans=80))
    store.add(span(1, 1))
    for number in range(2, 70):
        store.add(span(number, number, start=float(number)))
    store.add(span(1, 100, 1, start=70.0))
    assert len(TraceView(store).trace(1)) == 2
    for number in range(100, 130):
        store.add(span(number, number, start=float(number)))
    view = TraceView(store)
    assert view.trace(1) == ()
    assert all(trace[0].trace_id != 1 for trace in view.find(Search("geo", limit=1000)))
    assert len(view.trace(129)) == 1
    assert len(store) <= 90


def test_old_spans_go() -> None:
    store = TraceStore(Retention(spans=800, age_s=10.0))
    for number in range(1, 700):
        store.add(span(number, number, start=number * 0.1))
    store.settle()
    assert TraceView(store).trace(1) == ()
    assert TraceView(store).trace(650) != ()


def test_a_span_that_comes_after_its_trace_was_dropped_begins_it_anew() -> None:
    store = TraceStore(Retention(spans=8))
    for number in range(1, 40):
        store.add(span(number, number))
    store.add(span(1, 99, 1))
    assert [one.span_id for one in TraceView(store).trace(1)] == [99]


def test_a_view_knows_what_came_since() -> None:
    store = TraceStore()
    store.add(span(1, 1))
    store.add(span(2, 2))
    since = store.next_row
    store.add(span(2, 3, 2, service="rate", operation="Get"))
    received = RowRuns()
    received.note(since, store.next_row)
    view = TraceView(store, received)
    assert view.services() == ["rate"]
    assert view.trace(1) == ()
    assert [one.span_id for one in view.trace(2)] == [3]
    assert view.find(Search("geo")) == []


def test_names_that_nobody_uses_any_more_are_forgotten() -> None:
    store = TraceStore(Retention(spans=100))
    for number in range(1, 1000):
        store.add(span(number, number, operation=f"GET /{number}"))
    assert len(TraceView(store).operations("geo")) <= 113


def test_ids_of_128_bits_count_by_their_lower_half() -> None:
    store = TraceStore()
    store.add(span(2**100 + 5, 2**70 + 6))
    assert [one.span_id for one in TraceView(store).trace(5)] == [6]


def test_reading_goes_on_while_spans_come_and_go() -> None:
    store = TraceStore(Retention(spans=80))
    for number in range(1, 81):
        store.add(span(number, number))
    reading = TraceView(store).spans_between(-(2**62), 2**62)
    assert next(reading).span_id == 1
    for number in range(81, 121):
        store.add(span(number, number))
    store.settle()
    rest = [one.span_id for one in reading]
    assert rest == list(range(rest[0], 81))
    assert rest[0] == store.first_row + 1
