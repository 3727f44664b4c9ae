"""Spans as rows of a table, for export."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NamedTuple

from simcloud.telemetry.traces.jaeger_documents import id_text
from simcloud.telemetry.traces.store import Shape
from simcloud.telemetry.traces.view import StoredSpan, TraceView

_RESPONSES: Final = ("http.status_code", "response_class")


class TraceRecord(NamedTuple):
    """A span; its fields are the columns. Times are microseconds, the start since 1970."""

    trace_id: str
    span_id: str
    parent_span: str
    service_name: str
    operation_name: str
    start_time: int
    duration: int
    has_error: bool
    response: str


def records(view: TraceView, start_us: int, end_us: int) -> Iterator[TraceRecord]:
    """Return the spans that start in that time, both ends included, in the order in which they ended."""
    return map(record, view.spans_between(start_us, end_us))


def record(span: StoredSpan) -> TraceRecord:
    """Return a span as a row."""
    group = span.shape.group
    return TraceRecord(
        id_text(span.trace_id),
        id_text(span.span_id),
        id_text(span.parent_id) if span.parent_id else "ROOT",
        group.service,
        group.operation,
        span.start_us,
        span.duration_us,
        span.shape.failed,
        _response(span.shape),
    )


def _response(shape: Shape) -> str:
    """Return the last tag with the response of the request."""
    responses = [value for key, value in shape.tags if key in _RESPONSES]
    return responses[-1] if responses else "Unknown"
