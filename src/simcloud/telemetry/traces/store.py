"""A column store of spans, limited in age and number; whole traces are dropped, the oldest first.

``add`` is on the path of every request, so it only buffers the span; buffered spans go into the columns in bulk, or
before a query. Each span is a row; rows are numbered in the order of arrival and numbers are not reused. Three things
make queries cheap:

- what spans have in common (service, operation, tags, process) is a ``Shape``, shared by their rows;
- a ``Group`` lists the rows of one service, operation and span kind;
- each row has the distance to the previous row of the same trace.

Times are microseconds since 1970. Rows are dropped an eighth at a time, and with them the rest of
each trace that began in them; a later span begins its trace again. Ids have 64 bits; of longer ones the lower half is
used.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Iterator
from typing import Final, NamedTuple

from msgspec import Struct

from simcloud.machine import Labels, Span

GONE: Final = 2**32 - 1
"""How far back, of a row whose trace was dropped."""
SPAN_KIND: Final = "span.kind"
STATUS: Final = "http.status_code"
_ID_MASK: Final = 2**64 - 1
_ASIDE: Final = 2048
_SHAPES_REMEMBERED: Final = 1024

_Common = tuple[str, str, str | None, Labels, Labels]


class Retention(Struct, frozen=True):
    """Maximum number and age of spans; temporarily there may be an eighth more."""

    spans: int = 1_000_000
    age_s: float = 48 * 3600.0


class Group:
    """The rows of one operation of a service, in the order of arrival."""

    __slots__ = ("kind", "operation", "rows", "service")

    def __init__(self, service: str, operation: str, kind: str) -> None:
        self.service = service
        self.operation = operation
        self.kind = kind
        self.rows = array("Q")


class Shape:
    """The common attributes of many spans. ``failed``: the span is marked as an error. ``unserved``: the request
    failed; some libraries record a status of 5xx without marking an error."""

    __slots__ = ("error", "failed", "group", "process", "tags", "unserved")

    def __init__(self, group: Group, error: str | None, tags: Labels, process: Labels) -> None:
        self.group = group
        self.error = error
        self.tags = tags
        self.process = process
        self.failed = error is not None or ("error", "true") in tags
        self.unserved = self.failed or any(key == STATUS and value.startswith("5") for key, value in tags)


class _Batch(NamedTuple):
    """Rows that were added together: the first row, and the range of the start times."""

    row: int
    earliest_us: int
    latest_us: int


class TraceStore:
    """The store of spans. ``epoch_s`` is the time, in seconds since 1970, at which the spans' clock begins."""

    def __init__(self, retention: Retention = Retention(), epoch_s: float = 0.0) -> None:
        self.retention = retention
        self.epoch_us = round(epoch_s * 1e6)
        self.first_row = 0
        self.trace_ids = array("Q")
        self.span_ids = array("Q")
        self.parent_ids = array("Q")
        self.starts_us = array("q")
        self.durations_us = array("q")
        self.back = array("I")
        self.shapes: list[Shape] = []
        self.groups: dict[tuple[str, str, str], Group] = {}
        self.last_rows: dict[int, int] = {}
        self._batches: list[_Batch] = []
        self._known_shapes: dict[_Common, Shape] = {}
        self._newest_us = 0
        self._aside: list[Span] = []
        self._aside_most = max(1, min(_ASIDE, retention.spans // 8))

    def shift_epoch(self, seconds: float) -> None:
        """Date later spans by that much more; those that have come keep their dates."""
        self.settle()
        self.epoch_us += round(seconds * 1e6)

    def __len__(self) -> int:
        """Return the number of spans."""
        return len(self.shapes) + len(self._aside)

    @property
    def next_row(self) -> int:
        """The number that the next span's row will have."""
        return self.first_row + len(self)

    def add(self, span: Span) -> None:
        """One more span."""
        aside = self._aside
        aside.append(span)
        if len(aside) >= self._aside_most:
            self.settle()

    def settle(self) -> None:
        """Put all buffered spans into the columns; call this before reading the columns."""
        if not self._aside:
            return
        spans, self._aside = self._aside, []
        row = self.first_row + len(self.shapes)
        trace_ids, span_ids, parents, services, operations, starts, durations, errors, tags, processes = zip(
            *spans, strict=True
        )
        epoch_us = self.epoch_us
        starts_us = array("q", [epoch_us + int(start * 1e6 + 0.5) for start in starts])
        traces = _ids(trace_ids)
        self.trace_ids.extend(traces)
        self.span_ids.extend(_ids(span_ids))
        self.parent_ids.extend(_ids(parents))
        self.starts_us.extend(starts_us)
        self.durations_us.extend(array("q", [int(duration * 1e6 + 0.5) for duration in durations]))
        self._link(traces, row)
        self._shape(zip(services, operations, errors, tags, processes, strict=True), row)
        self._note_times(_Batch(row, min(starts_us), max(starts_us)))
        self._trim()

    def rows_between(self, start_us: int, end_us: int) -> tuple[int, int]:
        """Return the range of rows that contains all spans that start in that time."""
        low = high = -1
        for number, batch in enumerate(self._batches):
            if batch.latest_us >= start_us and batch.earliest_us <= end_us:
                low = number if low < 0 else low
                high = number
        if low < 0:
            return self.first_row, self.first_row
        end = self._batches[high + 1].row if high + 1 < len(self._batches) else self.next_row
        return max(self._batches[low].row, self.first_row), end

    def rows_of(self, trace_id: int) -> Iterator[int]:
        """Yield the rows of a trace, the last first."""
        row = self.last_rows.get(trace_id)
        while row is not None:
            yield row
            distance = self.back[row - self.first_row]
            row = row - distance if distance else None

    def _link(self, traces: array[int], row: int) -> None:
        last_rows = self.last_rows
        back = self.back
        for trace_id in traces:
            last = last_rows.get(trace_id)
            back.append(0 if last is None else row - last)
            last_rows[trace_id] = row
            row += 1

    def _shape(self, commons: Iterator[_Common], row: int) -> None:
        known = self._known_shapes
        shapes = self.shapes
        for common in commons:
            shape = known.get(common)
            if shape is None:
                shape = self._new_shape(common)
            shapes.append(shape)
            shape.group.rows.append(row)
            row += 1

    def _new_shape(self, common: _Common) -> Shape:
        if len(self._known_shapes) >= _SHAPES_REMEMBERED:
            self._known_shapes.clear()
        service, operation, error, tags, process = common
        name = (service, operation, dict(tags).get(SPAN_KIND, ""))
        group = self.groups.get(name)
        if group is None:
            group = self.groups[name] = Group(*name)
        shape = self._known_shapes[common] = Shape(group, error, tags, process)
        return shape

    def _note_times(self, batch: _Batch) -> None:
        self._newest_us = max(self._newest_us, batch.latest_us)
        if self._batches and batch.row - self._batches[-1].row < self._aside_most:
            before = self._batches.pop()
            earliest_us = min(before.earliest_us, batch.earliest_us)
            batch = _Batch(before.row, earliest_us, max(before.latest_us, batch.latest_us))
        self._batches.append(batch)

    def _trim(self) -> None:
        held = len(self.shapes)
        eighth = self.retention.spans // 8
        if held > self.retention.spans:
            self._drop_before(self.first_row + held - self.retention.spans + eighth)
        oldest_us = self._newest_us - round(self.retention.age_s * 1e6)
        old = next((batch.row for batch in self._batches if batch.latest_us >= oldest_us), self.first_row)
        if old - self.first_row > eighth:
            self._drop_before(old)

    def _drop_before(self, row: int) -> None:
        count = row - self.first_row
        for trace_id, distance in zip(self.trace_ids[:count], self.back[:count], strict=True):
            if distance == 0:
                self._drop_trace(trace_id, row)
        ids = (self.trace_ids, self.span_ids, self.parent_ids)
        for column in (*ids, self.starts_us, self.durations_us, self.back):
            del column[:count]
        del self.shapes[:count]
        for name, group in list(self.groups.items()):
            del group.rows[: bisect_left(group.rows, row)]
            if not group.rows:
                del self.groups[name]
        self._known_shapes.clear()
        following = (batch.row for batch in self._batches[1:])
        past = sum(1 for next_row in following if next_row <= row)
        del self._batches[:past]
        self.first_row = row

    def _drop_trace(self, trace_id: int, before: int) -> None:
        """Forget a trace; its rows that stay in the columns, because they came late, are marked."""
        row = self.last_rows.pop(trace_id)
        while row >= before:
            index = row - self.first_row
            row -= self.back[index]
            self.back[index] = GONE


def _ids(numbers: tuple[int, ...]) -> array[int]:
    try:
        return array("Q", numbers)
    except OverflowError:
        return array("Q", [number & _ID_MASK for number in numbers])
