"""A series: its labels and two columns, times and values.

Series that always get their samples together share the column of times. A value takes eight bytes and a time four: it is in
milliseconds after a base, which moves when old samples are dropped, so that four bytes suffice (49 days).

A series ends with a staleness marker, a NaN with a certain bit pattern, as in Prometheus: without it, queries would
return the last value for five more minutes.
"""

from __future__ import annotations

import struct
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from typing import Final

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


class Timeline:
    """The times at which all of some series have samples."""

    __slots__ = ("base_ms", "last_ms", "series", "times")

    def __init__(self) -> None:
        self.base_ms = 0
        self.last_ms = -_WIDTH_MS
        self.times = array("I")
        self.series: dict[int, Series] = {}
        """Whose times they are, by id."""

    def append(self, t_ms: int) -> None:
        """Add a time, newer than all before; each series then appends its value."""
        if not self.times or t_ms - self.base_ms >= _WIDTH_MS:
            self._rebase(t_ms)
        self.times.append(t_ms - self.base_ms)
        self.last_ms = t_ms

    def index_from(self, t_ms: int) -> int:
        """Return the number of times before ``t_ms``."""
        return bisect_left(self.times, t_ms - self.base_ms)

    def drop_first(self, count: int) -> None:
        """Forget the oldest samples."""
        del self.times[:count]
        for series in self.series.values():
            del series.values[:count]

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

    __slots__ = ("id", "labels", "timeline", "values")

    def __init__(self, id: int, labels: Labels) -> None:
        self.id = id
        self.labels = labels
        self.values = array("d")
        self.join(Timeline())

    def __len__(self) -> int:
        return len(self.values)

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
        return self.times.__sizeof__() // len(self.timeline.series) + self.values.__sizeof__()

    def join(self, timeline: Timeline) -> None:
        """Take the times of others, who have as many samples."""
        self.timeline = timeline
        timeline.series[self.id] = self

    def leave(self) -> None:
        """Go on with times of its own."""
        shared = self.timeline
        if len(shared.series) > 1:
            del shared.series[self.id]
            self.join(Timeline())
            self.timeline.base_ms, self.timeline.last_ms = shared.base_ms, shared.last_ms
            self.timeline.times = shared.times[:]

    def append(self, t_ms: int, value: float) -> None:
        """One more sample, newer than all before."""
        if t_ms <= self.last_ms and self.values:
            raise OutOfOrder(self, t_ms)
        self.leave()
        self.timeline.append(t_ms)
        self.values.append(value)

    def index_after(self, t_ms: int) -> int:
        """Return the number of samples at or before ``t_ms``."""
        return bisect_right(self.times, t_ms - self.base_ms)

    def index_from(self, t_ms: int) -> int:
        """Return the number of samples before ``t_ms``."""
        return self.timeline.index_from(t_ms)

    def samples(self, start_ms: int, end_ms: int) -> list[tuple[int, float]]:
        """Return the samples from one time to another, both included, markers of its end left out."""
        times, values = self.columns(start_ms, end_ms)
        base = self.base_ms
        return [(base + time, value) for time, value in zip(times, values, strict=True)]

    def columns(self, start_ms: int, end_ms: int) -> tuple[Sequence[int], list[float]]:
        """As ``samples``, in two columns; times are milliseconds after ``base_ms``."""
        first, last = self.index_from(start_ms), self.index_after(end_ms)
        times: Sequence[int] = self.times[first:last]
        values = self.values[first:last].tolist()
        total = sum(values)
        if total != total:  # a NaN among them, or infinities of both signs
            kept = [index for index, value in enumerate(values) if value == value or not is_stale(value)]
            times, values = [times[index] for index in kept], [values[index] for index in kept]
        return times, values

    def latest(self, t_ms: int, lookback_ms: int) -> tuple[int, float] | None:
        """Return the value at a time: the newest sample that is not older than ``lookback_ms``, unless it ended."""
        timeline = self.timeline
        index = (len(self.values) if t_ms >= timeline.last_ms else self.index_after(t_ms)) - 1
        if index < 0:
            return None
        time = timeline.base_ms + timeline.times[index]
        value = self.values[index]
        if time < t_ms - lookback_ms or (value != value and is_stale(value)):
            return None
        return time, value
