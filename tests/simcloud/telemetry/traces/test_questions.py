"""Every question to the store has the answer that looking at all spans has."""

from __future__ import annotations

from collections import Counter
from random import Random

from hypothesis import given, settings, strategies as st

from simcloud.machine.emit import Span
from simcloud.telemetry.traces import (
    Operation,
    Retention,
    RowRuns,
    Search,
    TraceStore,
    TraceView,
    dependencies,
    records,
    service_health,
)
from simcloud.telemetry.traces.view import EVER_US
from tests.simcloud.telemetry.traces import naive

MANY = st.lists(naive.spans, max_size=120)
TIMES = st.integers(-1, 401).map(lambda tenths: tenths * 100_000)


def stored(spans: list[Span]) -> TraceStore:
    """A store that is asked once in a while, so that spans come into its columns in several batches."""
    store = TraceStore()
    for number, span in enumerate(spans):
        store.add(span)
        if number % 7 == 0:
            store.settle()
    return store


@settings(max_examples=150, deadline=None)
@given(MANY, st.lists(naive.searches, min_size=1, max_size=5), st.sets(st.integers(0, 119)))
def test_searches_and_traces(spans: list[Span], searches: list[Search], elsewhere: set[int]) -> None:
    received, ours = RowRuns(), [span for row, span in enumerate(spans) if row not in elsewhere]
    for row in range(len(spans)):
        if row not in elsewhere:
            received.note(row, row + 1)
    for view, known in ((TraceView(stored(spans)), spans), (TraceView(stored(spans), received), ours)):
        assert sorted(view.services()) == sorted({span.service for span in known})
        assert [naive.to_span(span) for span in view.spans_between(-EVER_US, EVER_US)] == known
        for search in searches:
            assert [trace[0].trace_id for trace in view.find(search)] == naive.find(known, search)
        for trace_id in range(42):
            expected = [span for span in known if span.trace_id == trace_id]
            assert [naive.to_span(span) for span in view.trace(trace_id)] == expected


def test_searches_among_thousands() -> None:
    draw = Random(1)
    spans = [_drawn(draw, number) for number in range(4000)]
    view = TraceView(stored(spans))
    hits = 0
    for _ in range(150):
        start_us = draw.randrange(40_000_000)
        search = Search(
            draw.choice(naive.SERVICES),
            draw.choice((None, *naive.OPERATIONS)),
            tuple(draw.sample(naive.CONDITIONS, draw.choice((0, 0, 1, 2)))),
            start_us,
            start_us + draw.choice((1000, 1_000_000, 20_000_000)),
            shortest_us=draw.choice((None, 10_000)),
            longest_us=draw.choice((None, 40_000)),
            limit=draw.choice((1, 5, 1000)),
        )
        found = [trace[0].trace_id for trace in view.find(search)]
        assert found == naive.find(spans, search)
        hits += len(found)
    assert hits > 1000


def _drawn(draw: Random, number: int) -> Span:
    """A span of a stream in which a trace lasts about a tenth of a second, and time goes on."""
    return Span(
        trace_id=number // 10 + draw.randrange(3),
        span_id=number + 1,
        parent_id=draw.choice((0, number)),
        service=draw.choice(naive.SERVICES),
        operation=draw.choice(naive.OPERATIONS),
        start=number // 10 * 0.1 + draw.randrange(1000) / 1000,
        duration_s=draw.randrange(50) / 1000,
        error=draw.choice((None, None, "broken")),
        tags=draw.choice(naive.TAGS),
        process=draw.choice(naive.PROCESSES),
    )


@settings(max_examples=60, deadline=None)
@given(MANY, st.sampled_from(naive.SERVICES), st.sampled_from(("", "client", "server")))
def test_names(spans: list[Span], service: str, kind: str) -> None:
    view = TraceView(stored(spans))
    assert sorted(view.services()) == sorted({span.service for span in spans})
    pairs = {
        Operation(span.operation, dict(span.tags).get("span.kind", ""))
        for span in spans
        if span.service == service
    }
    assert sorted(view.operations(service, kind)) == sorted(pair for pair in pairs if kind in ("", pair.kind))


@settings(max_examples=100, deadline=None)
@given(MANY, TIMES, TIMES)
def test_who_calls_whom(spans: list[Span], start_us: int, end_us: int) -> None:
    inside = {span.trace_id for span in spans if start_us < naive.start_us(span) < end_us}
    calls: Counter[tuple[str, str]] = Counter()
    errors: Counter[tuple[str, str]] = Counter()
    requests: Counter[str] = Counter()
    for span in spans:
        if span.trace_id not in inside:
            continue
        same = (one for one in spans if (one.trace_id, one.span_id) == (span.trace_id, span.parent_id))
        parent = next((one.service for one in same), None)
        requests[span.service] += parent != span.service
        if parent not in (None, span.service):
            calls[str(parent), span.service] += 1
            failed = span.error is not None or ("error", "true") in span.tags
            errors[str(parent), span.service] += failed
    view = TraceView(stored(spans))
    edges = dependencies(view, start_us, end_us)
    assert {(edge.parent, edge.child): edge.calls for edge in edges} == calls
    assert {(edge.parent, edge.child): edge.figures.errors for edge in edges} == errors
    health = service_health(view, start_us, end_us)
    assert {one.service: one.figures.calls for one in health} == +requests


@settings(max_examples=60, deadline=None)
@given(MANY, TIMES, TIMES)
def test_records(spans: list[Span], start_us: int, end_us: int) -> None:
    rows = [(row.start_time, row.duration) for row in records(TraceView(stored(spans)), start_us, end_us)]
    inside = [span for span in spans if start_us <= naive.start_us(span) <= end_us]
    assert rows == [(naive.start_us(span), naive.duration_us(span)) for span in inside]


@settings(max_examples=100, deadline=None)
@given(st.lists(naive.spans, max_size=300), st.integers(1, 60), naive.searches, st.data())
def test_what_is_kept_is_whole(spans: list[Span], most: int, search: Search, data: st.DataObject) -> None:
    """After any drops: a trace lost spans only if its first was dropped, and questions agree with what is there."""
    store = TraceStore(Retention(spans=most))
    view = TraceView(store)
    for span in spans:
        store.add(span)
        if data.draw(st.integers(0, 9)) == 0:
            view.find(search)
    kept = [naive.to_span(span) for span in view.spans_between(-(2**62), 2**62)]
    assert len(store) <= most + most // 8 + 1
    dropped, newest = spans[: -len(store)], spans[-len(store) :]
    remaining = iter(newest)
    assert all(span in remaining for span in kept)
    for trace_id in range(1, 41):
        came = [span for span in newest if span.trace_id == trace_id]
        trace = [naive.to_span(span) for span in view.trace(trace_id)]
        assert trace == [span for span in kept if span.trace_id == trace_id]
        assert trace == came[len(came) - len(trace) :]
        assert len(trace) == len(came) or any(span.trace_id == trace_id for span in dropped)
    assert [trace[0].trace_id for trace in view.find(search)] == naive.find(kept, search)
