"""Spans in a plain list, and every question answered by looking at all of them: what the store must agree with."""

from __future__ import annotations

from hypothesis import strategies as st

from simcloud.machine.emit import Labels, Span
from simcloud.telemetry.traces import Search, StoredSpan

SERVICES = ("frontend", "geo", "rate")
OPERATIONS = ("Get", "Nearby")
TAGS: tuple[Labels, ...] = (
    (),
    (("span.kind", "client"),),
    (("http.status_code", "200"), ("span.kind", "server")),
    (("error", "true"),),
)
PROCESSES: tuple[Labels, ...] = ((), (("ip", "10.0.0.1"),), (("ip", "10.0.0.2"),))
CONDITIONS: tuple[tuple[str, str], ...] = (
    ("error", "true"),
    ("http.status_code", "200"),
    ("ip", "10.0.0.1"),
    ("message", "broken"),
    ("span.kind", "client"),
)

spans = st.builds(
    Span,
    trace_id=st.integers(1, 40),
    span_id=st.integers(1, 60),
    parent_id=st.integers(0, 60),
    service=st.sampled_from(SERVICES),
    operation=st.sampled_from(OPERATIONS),
    start=st.integers(0, 400).map(lambda tenths: tenths / 10),
    duration_s=st.integers(0, 50).map(lambda ms: ms / 1000),
    error=st.sampled_from((None, None, None, "broken")),
    tags=st.sampled_from(TAGS),
    process=st.sampled_from(PROCESSES),
)
"""A few traces, services and times, so that questions find something; parents may be missing and ids be there twice."""

searches = st.builds(
    Search,
    service=st.sampled_from((*SERVICES, "nobody")),
    operation=st.sampled_from((None, *OPERATIONS)),
    tags=st.lists(st.sampled_from(CONDITIONS), max_size=2, unique=True).map(tuple),
    start_us=st.integers(0, 400).map(lambda tenths: tenths * 100_000),
    end_us=st.integers(0, 400).map(lambda tenths: tenths * 100_000),
    shortest_us=st.one_of(st.none(), st.integers(0, 50_000)),
    longest_us=st.one_of(st.none(), st.integers(0, 50_000)),
    limit=st.integers(1, 50),
)


def start_us(span: Span) -> int:
    return round(span.start * 1e6)


def duration_us(span: Span) -> int:
    return round(span.duration_s * 1e6)


def matches(span: Span, search: Search) -> bool:
    have = dict(span.tags) | dict(span.process)
    if span.error is not None:
        have |= {"error": "true", "event": "error", "message": span.error}
    return (
        span.service == search.service
        and search.operation in (None, span.operation)
        and all(have.get(key) == value for key, value in search.tags)
        and search.start_us <= start_us(span) <= search.end_us
        and (search.shortest_us is None or duration_us(span) >= search.shortest_us)
        and (search.longest_us is None or duration_us(span) <= search.longest_us)
    )


def find(kept: list[Span], search: Search) -> list[int]:
    """The ids of the traces whose matching spans came last, the one that started last first."""
    found: list[int] = []
    for span in reversed(kept):
        if matches(span, search) and span.trace_id not in found:
            found.append(span.trace_id)
    chosen = found[: search.limit]
    first = {span.trace_id: span for span in reversed(kept)}
    return sorted(chosen, key=lambda trace_id: -start_us(first[trace_id]))


def to_span(span: StoredSpan) -> Span:
    """A stored span as it was added."""
    shape = span.shape
    return Span(
        span.trace_id,
        span.span_id,
        span.parent_id,
        shape.group.service,
        shape.group.operation,
        span.start_us / 1e6,
        span.duration_us / 1e6,
        shape.error,
        shape.tags,
        shape.process,
    )
