"""Recorded data as tables: columns with types, and rows in a fixed order.

Rows are generated lazily; a table can be iterated several times with the same result.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from heapq import merge
from typing import Final, Literal, NamedTuple

import msgspec
from msgspec import Struct

from simcloud.kubernetes.api import Object, Revision, RevisionLog
from simcloud.telemetry.logs import LogStore, LogStream
from simcloud.telemetry.logs.store import SECOND_NS
from simcloud.telemetry.traces import TraceRecord, TraceStore, TraceView, records

Kind = Literal["int64", "float64", "bool", "string"]
Value = int | float | bool | str
Row = Sequence[Value]


class Column(NamedTuple):
    """One column."""

    name: str
    kind: Kind
    meaning: str


class Table(Struct, frozen=True):
    """A name, columns, and a function that returns the rows."""

    name: str
    columns: tuple[Column, ...]
    rows: Callable[[], Iterator[Row]]


class Period(NamedTuple):
    """A half-open interval, in nanoseconds since 1970."""

    start_ns: int
    end_ns: int

    def has_s(self, time_s: float) -> bool:
        """Return whether a time in seconds lies in it."""
        return self.start_ns <= round(time_s * SECOND_NS) < self.end_ns


_LOG_LABELS: Final = ("namespace", "pod", "container", "node_name", "app", "stream", "filename")
LOG_COLUMNS: Final = (
    Column("timestamp_ns", "int64", "nanoseconds since 1970"),
    *(Column(name, "string", "Promtail's label") for name in _LOG_LABELS),
    Column("message", "string", "the line"),
)
TRACE_COLUMNS: Final = (
    Column("trace_id", "string", "16 hexadecimal digits"),
    Column("span_id", "string", "16 hexadecimal digits"),
    Column("parent_span", "string", "the span that called, or ROOT"),
    Column("service_name", "string", "who did it"),
    Column("operation_name", "string", "what was done"),
    Column("start_time", "int64", "microseconds since 1970"),
    Column("duration", "int64", "microseconds"),
    Column("has_error", "bool", "whether it failed"),
    Column("response", "string", "the status it was answered with, or Unknown"),
)
EVENT_COLUMNS: Final = (
    Column("timestamp_ms", "int64", "when it was told, milliseconds since 1970"),
    *(Column(name, "string", "as in the Event") for name in ("namespace", "name", "type", "reason")),
    *(Column(f"object_{name}", "string", "what it is about") for name in ("kind", "namespace", "name")),
    Column("message", "string", "the sentence"),
    Column("count", "int64", "how often so far"),
    Column("component", "string", "who tells it"),
    Column("host", "string", "on which node"),
)
OBJECT_COLUMNS: Final = (
    Column("timestamp_ms", "int64", "when it was written, milliseconds since 1970"),
    Column("verb", "string", "ADDED, MODIFIED or DELETED"),
    *(Column(name, "string", "of the object") for name in ("api_version", "kind", "namespace", "name")),
    Column("resource_version", "int64", "the number of the write"),
    Column("user", "string", "who wrote it"),
    Column("document", "string", "the object after the write, as JSON"),
)


def table_of_logs(store: LogStore, period: Period) -> Table:
    """Return every line, in the order of time."""

    def lines(stream: LogStream) -> Iterator[tuple[int, int, Row]]:
        labels = dict(stream.labels)
        shown = [labels.get(name, "") for name in _LOG_LABELS]
        for index in stream.between(*period):
            time_ns = stream.times_ns[index]
            yield time_ns, stream.numbers[index], (time_ns, *shown, stream.texts[index])

    def rows() -> Iterator[Row]:
        return (row for _, _, row in merge(*map(lines, store.streams())))

    return Table("logs", LOG_COLUMNS, rows)


def table_of_traces(store: TraceStore, period: Period) -> Table:
    """Return every span, in the order in which they ended."""

    def rows() -> Iterator[TraceRecord]:
        return records(TraceView(store), -(-period.start_ns // 1000), -(-period.end_ns // 1000) - 1)

    return Table("traces", TRACE_COLUMNS, rows)


def table_of_events(log: RevisionLog, epoch_s: float, period: Period) -> Table:
    """Return every occurrence of every Event, in the order of time."""

    def rows() -> Iterator[Row]:
        for write in _writes(log, epoch_s, period):
            if write.key.plural == "events" and write.change != "DELETED":
                yield _event(_milliseconds(write, epoch_s), write.object)

    return Table("events", EVENT_COLUMNS, rows)


def _event(time_ms: int, event: Object) -> Row:
    about = event.get("involvedObject") or event.get("regarding") or {}
    source = event.get("source") or {}
    series = event.get("series") or {}
    return (
        time_ms,
        event["metadata"].get("namespace", ""),
        event["metadata"]["name"],
        event.get("type") or "",
        event.get("reason") or "",
        about.get("kind", ""),
        about.get("namespace", ""),
        about.get("name", ""),
        event.get("message") or event.get("note") or "",
        int(event.get("count") or series.get("count") or 1),
        source.get("component") or event.get("reportingComponent") or "",
        source.get("host") or "",
    )


def table_of_objects(log: RevisionLog, epoch_s: float, period: Period) -> Table:
    """Return every write to every object, in the order of their numbers."""

    def rows() -> Iterator[Row]:
        for write in _writes(log, epoch_s, period):
            document = write.object
            yield (
                _milliseconds(write, epoch_s),
                write.change,
                document.get("apiVersion", ""),
                document.get("kind", ""),
                write.key.namespace,
                write.key.name,
                write.number,
                write.by,
                msgspec.json.encode(document).decode(),
            )

    return Table("objects", OBJECT_COLUMNS, rows)


def _writes(log: RevisionLog, epoch_s: float, period: Period) -> Iterator[Revision]:
    return (write for write in log.history() if period.has_s(epoch_s + write.time_s))


def _milliseconds(write: Revision, epoch_s: float) -> int:
    return round((epoch_s + write.time_s) * 1000)
