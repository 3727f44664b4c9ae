"""Queries on a store of spans: traces, searches, services and operations.

A view may be limited to one receiver, as a restarted Jaeger only has the spans that it has received since. A search goes
from the newest span to older ones and stops when it has enough traces.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator
from heapq import merge
from itertools import chain
from typing import Final, NamedTuple

from msgspec import Struct

from simcloud.machine import Labels
from simcloud.telemetry.traces.row_runs import RowRuns
from simcloud.telemetry.traces.store import GONE, Group, Shape, TraceStore
from simcloud.telemetry.traces.tags import has_tags

EVER_US: Final = 2**63 - 1


class StoredSpan(NamedTuple):
    """A span as queries return it. Times are microseconds since 1970; ``shape`` has service and operation."""

    trace_id: int
    span_id: int
    parent_id: int
    start_us: int
    duration_us: int
    shape: Shape

    @property
    def end_us(self) -> int:
        """When it ended."""
        return self.start_us + self.duration_us


Trace = tuple[StoredSpan, ...]
"""The spans of a trace in the order in which they came; never none."""


class Operation(NamedTuple):
    """An operation of a service and its span kind (may be empty)."""

    name: str
    kind: str


class Search(Struct, frozen=True):
    """Criteria that one span of a trace must meet. ``None`` and ``()`` mean no criterion."""

    service: str
    operation: str | None = None
    tags: Labels = ()
    start_us: int = -EVER_US
    end_us: int = EVER_US
    shortest_us: float | None = None
    longest_us: float | None = None
    limit: int = 100


class TraceView:
    """The spans of ``store``, all of them or those that were ``received``."""

    def __init__(self, store: TraceStore, received: RowRuns | None = None) -> None:
        self.store = store
        self._received = received

    def trace(self, trace_id: int) -> Trace:
        """Return a trace's spans; none when there is no such trace."""
        self.store.settle()
        return tuple(self._span(row) for row in reversed(self._rows_of(trace_id)))

    def find(self, search: Search) -> list[Trace]:
        """Return at most ``limit`` traces, those with the newest matching spans, the latest start first."""
        self.store.settle()
        trace_ids: dict[int, None] = {}
        for row in self._matching(search):
            if len(trace_ids) >= search.limit:
                break
            trace_ids[self.store.trace_ids[row - self.store.first_row]] = None
        found = [self.trace(trace_id) for trace_id in trace_ids]
        return sorted(found, key=lambda trace: trace[0].start_us, reverse=True)

    def rows_by_trace(self, start_us: int, end_us: int) -> Iterator[list[int]]:
        """The rows, last first, of each trace of which a span starts after ``start_us`` and before ``end_us``."""
        store = self.store
        store.settle()
        seen: dict[int, None] = {}
        for run in self._runs(self._rows(start_us, end_us)):
            part = slice(run.start - store.first_row, run.stop - store.first_row)
            columns = zip(store.trace_ids[part], store.starts_us[part], store.back[part], strict=True)
            for trace_id, begun_us, back in columns:
                if start_us < begun_us < end_us and back != GONE:
                    seen[trace_id] = None
        return map(self._rows_of, seen)

    def count_spans(self, start_us: int, end_us: int) -> Counter[str]:
        """Count the spans of each service in the traces whose first span, one without a parent, starts in that time."""
        store, counts = self.store, Counter[str]()
        parents, starts, shapes = store.parent_ids, store.starts_us, store.shapes
        for rows in self.rows_by_trace(start_us, end_us):
            indexes = [row - store.first_row for row in rows]
            if any(not parents[index] and start_us < starts[index] < end_us for index in indexes):
                counts.update([shapes[index].group.service for index in indexes])
        return counts

    def spans_between(self, start_us: int, end_us: int) -> Iterator[StoredSpan]:
        """Yield the spans that start in that time, both ends included, in the order in which they came.

        Time may go on meanwhile: what is dropped before it is reached is left out.
        """
        store = self.store
        store.settle()
        for row in chain.from_iterable(self._runs(self._rows(start_us, end_us))):
            index = row - store.first_row
            if index >= 0 and start_us <= store.starts_us[index] <= end_us and store.back[index] != GONE:
                yield self._span(row)

    def services(self) -> list[str]:
        """Return the names of all services, in the order in which they came."""
        return list(dict.fromkeys(group.service for group in self._groups()))

    def operations(self, service: str, kind: str = "") -> list[Operation]:
        """Return the operations of a service as they came, optionally only those of one span kind."""
        groups = (group for group in self._groups() if group.service == service and kind in ("", group.kind))
        return [Operation(group.operation, group.kind) for group in groups]

    def _groups(self) -> Iterator[Group]:
        self.store.settle()
        groups, received = self.store.groups.values(), self._received
        if received is None:
            return iter(groups)
        return (group for group in groups if any(row in received for row in reversed(group.rows)))

    def _rows_of(self, trace_id: int) -> list[int]:
        rows, received = self.store.rows_of(trace_id), self._received
        return list(rows) if received is None else [row for row in rows if row in received]

    def _rows(self, start_us: int, end_us: int) -> range:
        return range(*self.store.rows_between(start_us, end_us))

    def _runs(self, rows: range) -> Iterator[range]:
        """Return those of the rows that the view knows."""
        received = self._received
        return iter((rows,)) if received is None else received.within(rows.start, rows.stop)

    def _matching(self, search: Search) -> Iterator[int]:
        """Yield the rows of the spans that fulfil a search, the newest first."""
        store = self.store
        rows, received = self._rows(search.start_us, search.end_us), self._received
        groups = [
            group
            for group in self._groups()
            if group.service == search.service and search.operation in (None, group.operation)
        ]
        shapes: dict[Shape, bool] = {}
        for row in merge(*(_newest_first(group, rows) for group in groups), reverse=True):
            if received is not None and row not in received:
                continue
            index = row - store.first_row
            shape = store.shapes[index]
            accepted = shapes.get(shape)
            if accepted is None:
                accepted = shapes[shape] = has_tags(shape, search.tags)
            if accepted and store.back[index] != GONE and self._in_time(index, search):
                yield row

    def _in_time(self, index: int, search: Search) -> bool:
        duration_us = self.store.durations_us[index]
        return (
            search.start_us <= self.store.starts_us[index] <= search.end_us
            and (search.shortest_us is None or duration_us >= search.shortest_us)
            and (search.longest_us is None or duration_us <= search.longest_us)
        )

    def _span(self, row: int) -> StoredSpan:
        store = self.store
        index = row - store.first_row
        return StoredSpan(
            store.trace_ids[index],
            store.span_ids[index],
            store.parent_ids[index],
            store.starts_us[index],
            store.durations_us[index],
            store.shapes[index],
        )


def _newest_first(group: Group, rows: range) -> Iterator[int]:
    listed = group.rows
    for at in range(bisect_left(listed, rows.stop) - 1, bisect_left(listed, rows.start) - 1, -1):
        yield listed[at]
