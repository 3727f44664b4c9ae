"""A series: its labels and its samples, in a timeline.

Series that always get their samples together share a timeline: one column of times, and one array with a row of values for
each time, so that the samples of a scrape are added at once and lie together in memory. A value takes eight bytes and a time
four: it is in milliseconds after a base, which moves when old samples are dropped, so that four bytes suffice (49 days).

A series ends with a staleness marker, a NaN with a certain bit pattern, as in Prometheus: without it, queries would
return the last value for five more minutes.
"""

from __future__ import annotations

import struct
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

from simcloud.machine import Labels

NAME: Final = "__name__"
_STALE_BITS: Final = struct.pack("<Q", 0x7FF0000000000002)
STALE: Final[float] = struct.unpack("<d", _STALE_BITS)[0]
"""The staleness marker, which ends a series."""

_WIDTH_MS: Final = 1 << 32
_pack = struct.Struct("<d").pack


def is_stale(value: float) -> bool:
    """Return whether a value is the marker of a series' end, and not any other NaN."""
    return value != value and _pack(value) == _STALE_BITS


def labels_of(name: str, labels: Labels = ()) -> Labels:
    """Return a metric's name and labels as one sorted tuple; a label without a value is no label."""
    pairs = {key: value for key, value in labels if value}
    if name:
        pairs[NAME] = name
    return tuple(sorted(pairs.items()))


class OutOfOrder(ValueError):
    """A sample is not newer than the series' last one."""

    def __init__(self, series: Series, t_ms: int) -> None:
        super().__init__(f"{series.name}: a sample of {t_ms} ms after one of {series.last_ms} ms")


class Rows(NamedTuple):
    """Rows of a timeline, with their times in milliseconds after its base."""

    first: int
    end: int
    times: array[int]


class Timeline:
    """The times at which some series have samples, and the values of these samples."""

    __slots__ = ("base_ms", "last_ms", "members", "rows", "times", "width")

    def __init__(self) -> None:
        self.base_ms = 0
        self.last_ms = -_WIDTH_MS
        self.times = array("I")
        self.rows = array("d")
        """A row of ``width`` values for each time. The values in columns of series that have left mean nothing."""
        self.width = 0
        self.members: dict[int, Series] = {}
        """The series by column."""

    def append(self, t_ms: int, parts: Iterable[Iterable[float]]) -> None:
        """Add a time, newer than all before, with a value for each column, in any number of parts."""
        if not self.times or t_ms - self.base_ms >= _WIDTH_MS:
            self._rebase(t_ms)
        self.times.append(t_ms - self.base_ms)
        for part in parts:
            self.rows.extend(part)
        self.last_ms = t_ms

    def index_from(self, t_ms: int) -> int:
        """Return the number of times before ``t_ms``."""
        return bisect_left(self.times, t_ms - self.base_ms)

    def index_after(self, t_ms: int) -> int:
        """Return the number of times at or before ``t_ms``."""
        return bisect_right(self.times, t_ms - self.base_ms)

    def find_rows(self, start_ms: int, end_ms: int) -> Rows:
        """Return the rows from one time to another, both included."""
        first, end = self.index_from(start_ms), self.index_after(end_ms)
        return Rows(first, end, self.times[first:end])

    def find_latest(self, t_ms: int, lookback_ms: int) -> int:
        """Return the index of the newest row at a time; -1 if there is none, or it is older than ``lookback_ms``."""
        index = (len(self.times) if t_ms >= self.last_ms else self.index_after(t_ms)) - 1
        return index if index >= 0 and self.base_ms + self.times[index] >= t_ms - lookback_ms else -1

    def drop_first(self, count: int) -> None:
        """Forget the oldest samples."""
        del self.times[:count]
        del self.rows[: count * self.width]

    def drop_left_columns(self) -> None:
        """Drop the columns of series that have left."""
        members = list(self.members.values())
        rows = array("d", bytes(self.rows.itemsize * len(self.times) * len(members)))
        for column, series in enumerate(members):
            rows[column :: len(members)] = series.values
        for column, series in enumerate(members):
            series.column = column
        self.rows, self.width, self.members = rows, len(members), dict(enumerate(members))

    def _rebase(self, t_ms: int) -> None:
        if not self.times:
            self.base_ms = t_ms
            return
        # What is farther back than the column is wide cannot be kept beside the new sample.
        self.drop_first(self.index_from(t_ms - _WIDTH_MS + 1))
        base_ms = self.base_ms + self.times[0] if self.times else t_ms
        shift = base_ms - self.base_ms
        self.times = array("I", (time - shift for time in self.times))
        self.base_ms = base_ms


class Series:
    """The samples of one set of labels, in the order of time."""

    __slots__ = ("column", "id", "labels", "timeline")

    def __init__(self, id: int, labels: Labels) -> None:
        self.id = id
        self.labels = labels
        self._begin(Timeline())

    def __len__(self) -> int:
        return len(self.timeline.times)

    @property
    def values(self) -> array[float]:
        """The values of its samples: a copy."""
        return self.timeline.rows[self.column :: self.timeline.width]

    @property
    def times(self) -> array[int]:
        """The times of its samples, in milliseconds after ``base_ms``."""
        return self.timeline.times

    @property
    def base_ms(self) -> int:
        """The moment from which ``times`` count."""
        return self.timeline.base_ms

    @property
    def last_ms(self) -> int:
        """The time of the newest sample; far in the past if there is none."""
        return self.timeline.last_ms

    @property
    def name(self) -> str:
        """The metric's name; empty when it has none."""
        return dict(self.labels).get(NAME, "")

    @property
    def bytes(self) -> int:
        """How much memory the columns take, room for growth included."""
        timeline = self.timeline
        return (timeline.times.__sizeof__() + timeline.rows.__sizeof__()) // len(timeline.members)

    def _begin(self, timeline: Timeline) -> None:
        self.timeline = timeline
        self.column = timeline.width
        timeline.members[self.column] = self
        timeline.width += 1

    def join(self, timeline: Timeline) -> None:
        """Have samples together with others from now on. Neither it nor they have samples yet."""
        del self.timeline.members[self.column]
        self._begin(timeline)

    def leave(self) -> None:
        """Go on with a timeline of its own."""
        shared = self.timeline
        if shared.width > 1:
            own = Timeline()
            own.base_ms, own.last_ms = shared.base_ms, shared.last_ms
            own.times, own.rows = shared.times[:], self.values
            self.join(own)

    def append(self, t_ms: int, value: float) -> None:
        """One more sample, newer than all before."""
        if t_ms <= self.last_ms and self.times:
            raise OutOfOrder(self, t_ms)
        self.leave()
        self.timeline.append(t_ms, ((value,),))

    def index_after(self, t_ms: int) -> int:
        """Return the number of samples at or before ``t_ms``."""
        return self.timeline.index_after(t_ms)

    def index_from(self, t_ms: int) -> int:
        """Return the number of samples before ``t_ms``."""
        return self.timeline.index_from(t_ms)

    def samples(self, start_ms: int, end_ms: int) -> list[tuple[int, float]]:
        """Return the samples from one time to another, both included, markers of its end left out."""
        times, values = self.columns(self.timeline.find_rows(start_ms, end_ms))
        base = self.base_ms
        return [(base + time, value) for time, value in zip(times, values, strict=True)]

    def columns(self, rows: Rows) -> tuple[Sequence[int], list[float]]:
        """Return times and values of its samples in rows of its timeline, markers of its end left out."""
        timeline = self.timeline
        width = timeline.width
        times: Sequence[int] = rows.times
        values = timeline.rows[rows.first * width + self.column : rows.end * width : width].tolist()
        total = sum(values)
        if total != total:  # a NaN among them, or infinities of both signs
            kept = [index for index, value in enumerate(values) if value == value or not is_stale(value)]
            times, values = [times[index] for index in kept], [values[index] for index in kept]
        return times, values

    def value_in(self, row: int) -> float | None:
        """Return the value in a row of its timeline; None if it ended there."""
        timeline = self.timeline
        value = timeline.rows[row * timeline.width + self.column]
        return None if value != value and is_stale(value) else value

    def latest(self, t_ms: int, lookback_ms: int) -> tuple[int, float] | None:
        """Return the value at a time: the newest sample that is not older than ``lookback_ms``, unless it ended."""
        timeline = self.timeline
        row = timeline.find_latest(t_ms, lookback_ms)
        value = self.value_in(row) if row >= 0 else None
        return None if value is None else (timeline.base_ms + timeline.times[row], value)
