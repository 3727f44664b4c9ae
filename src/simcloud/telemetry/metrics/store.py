"""The store of series by labels, limited in age and samples.

``series`` returns a handle; ``append`` with the handle is two writes, as it is for a ``group`` of series. An inverted index maps a label pair to its
series, so that the cost of a selection depends on its rarest matcher and not on the size of the store. Selections are
cached, because rules and dashboards repeat them.

Old samples are dropped in bulk, when a series exceeds its limit by a quarter or when ``sweep`` is called. The sweep
removes a series without samples; a handle to it adds it again on the next ``append``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

from msgspec import Struct

from simcloud.machine import Labels
from simcloud.telemetry.metrics.matchers import Matcher
from simcloud.telemetry.metrics.series import NAME, STALE, Series, Timeline, is_stale, labels_of

_SELECTIONS: Final = 1024


class Metadata(NamedTuple):
    """Help, type and unit of a metric."""

    type: str
    help: str
    unit: str = ""


class Retention(Struct, frozen=True):
    """Maximum age and number of samples of a series, and maximum number of series."""

    age_ms: int = 15 * 24 * 3_600_000
    samples: int = 100_000
    series: int = 1_000_000


class TooManySeries(RuntimeError):
    """The store has reached its maximum number of series."""


class SeriesGroup:
    """Series that get samples together, such as those of a scrape target."""

    __slots__ = ("_rows", "series")

    def __init__(self, series: Sequence[Series]) -> None:
        """Let those without samples share a timeline from now on; the others have done so since they were grouped, or never."""
        self.series = series
        members = Counter(entry.timeline for entry in series)
        mixed = {timeline for timeline, count in members.items() if count < len(timeline.members)}
        new = Timeline()
        for entry in series:
            if not entry.times:
                entry.join(new)
            elif entry.timeline in mixed:
                entry.leave()
        places: dict[Timeline, list[int | None]] = {}
        for place, entry in enumerate(series):
            timeline = entry.timeline
            if timeline not in places:
                if timeline.width > 2 * len(timeline.members):
                    timeline.drop_left_columns()
                places[timeline] = [None] * timeline.width
            places[timeline][entry.column] = place
        self._rows = [(timeline, _find_runs(row, len(series))) for timeline, row in places.items()]
        """Timelines, and where their rows' values are among those that ``append`` gets."""

    def can_append(self, t_ms: int) -> bool:
        """Whether nobody else has given one of its series a sample, and none was forgotten."""
        return sum(len(timeline.members) for timeline, _ in self._rows) == len(self.series) and all(
            timeline.times and timeline.last_ms < t_ms for timeline, _ in self._rows
        )

    def append(self, t_ms: int, values: Sequence[float]) -> None:
        """Add a sample to each, newer than all before."""
        for timeline, runs in self._rows:
            timeline.append(t_ms, [values[run] for run in runs])


def _find_runs(places: Sequence[int | None], count: int) -> list[slice]:
    """Return the runs of consecutive places below ``count``. What stands where there is no place does not matter."""
    runs: list[slice] = []
    start = end = 0
    for place in places:
        wanted = place if place is not None else end if end < count else 0
        if wanted != end:
            runs.append(slice(start, end))
            start = wanted
        end = wanted + 1
    return [*(run for run in runs if run.start < run.stop), slice(start, end)]


class MetricStore:
    """A store of series."""

    def __init__(self, retention: Retention = Retention()) -> None:
        self.retention = retention
        self.metadata: dict[str, Metadata] = {}
        self._series: dict[Labels, Series] = {}
        # label name -> value -> series, in the order in which they were made
        self._index: dict[str, dict[str, list[Series]]] = {}
        # Series have most of their label pairs in common: each pair is there once.
        self._pairs: dict[tuple[str, str], tuple[str, str]] = {}
        self._selections: dict[tuple[Matcher, ...], tuple[int, tuple[Series, ...]]] = {}
        """What was found among how many series, of those that come into question."""
        self._next_id = 0
        self._limit = retention.samples + retention.samples // 4

    def __len__(self) -> int:
        """Return the number of series."""
        return len(self._series)

    def describe(self, name: str, type: str, help: str, unit: str = "") -> None:
        """Set the metadata of a metric."""
        self.metadata[name] = Metadata(type, help, unit)

    def series(self, name: str, labels: Labels = ()) -> Series:
        """Return the handle of a series, created on first use."""
        return self.series_of(labels_of(name, labels))

    def series_of(self, labels: Labels) -> Series:
        """Return the handle of a series by all its labels, the name among them, sorted."""
        series = self._series.get(labels)
        if series is None:
            series = Series(self._next_id, labels)
            self._next_id += 1
            self._admit(series)
        return series

    def append(self, series: Series, t_ms: int, value: float) -> None:
        """One more sample; ``OutOfOrder`` when it is not newer than the last."""
        series.append(t_ms, value)
        if len(series.times) > self._limit:
            self._trim(series, t_ms)
        elif len(series.times) == 1 and series.labels not in self._series:
            self._admit(series)

    def group(self, series: Sequence[Series]) -> SeriesGroup:
        """Return a group of series, each of which is in it once."""
        for entry in series:
            if not entry.times and entry.labels not in self._series:
                self._admit(entry)
        return SeriesGroup(series)

    def end(self, series: Series, t_ms: int) -> None:
        """Mark a series as ended, unless it is already."""
        timeline = series.timeline
        if (
            timeline.times
            and t_ms > timeline.last_ms
            and not is_stale(timeline.rows[series.column - timeline.width])
        ):
            self.append(series, t_ms, STALE)

    def select(self, matchers: Sequence[Matcher]) -> tuple[Series, ...]:
        """The series that fulfil all conditions, sorted by their labels; remembered until series of that name are added, or any removed."""
        key = tuple(matchers)
        among = self._count_candidates(key)
        known = self._selections.get(key)
        if known is not None and known[0] == among:
            return known[1]
        if len(self._selections) >= _SELECTIONS:
            self._selections.clear()
        found = tuple(sorted(self._find(key), key=lambda series: series.labels))
        self._selections[key] = (among, found)
        return found

    def _count_candidates(self, matchers: tuple[Matcher, ...]) -> int:
        """Return the number of series that have the name that is asked for, or of all series."""
        for matcher in matchers:
            if matcher.name == NAME and matcher.operator == "=" and matcher.value:
                return len(self._index.get(NAME, {}).get(matcher.value, ()))
        return len(self._series)

    def _find(self, matchers: tuple[Matcher, ...]) -> Iterable[Series]:
        """Return the rarest condition's series, of which the other conditions are asked."""
        candidates: list[Series] | None = None
        rarest: Matcher | None = None
        for matcher in matchers:
            if matcher.positive and not matcher.accepts(""):
                found = self._find_by(matcher)
                if candidates is None or len(found) < len(candidates):
                    rarest, candidates = matcher, found
        series: Iterable[Series] = self._series.values() if candidates is None else candidates
        tests = [(matcher.name, matcher.accepts) for matcher in matchers if matcher is not rarest]
        if not tests:
            return series
        labelled = ((entry, dict(entry.labels)) for entry in series)
        return [
            entry
            for entry, labels in labelled
            if all(accepts(labels.get(name, "")) for name, accepts in tests)
        ]

    def label_names(
        self, matchers: Sequence[Sequence[Matcher]] = (), span: tuple[int, int] | None = None
    ) -> list[str]:
        """Return the names of labels that series have, sorted."""
        if not matchers and span is None:
            return sorted(self._index)
        names = {name for series in self._any(matchers, span) for name, _ in series.labels}
        return sorted(names)

    def label_values(
        self, name: str, matchers: Sequence[Sequence[Matcher]] = (), span: tuple[int, int] | None = None
    ) -> list[str]:
        """Return the values of a label, sorted."""
        if not matchers and span is None:
            return sorted(self._index.get(name, ()))
        values = {
            value for series in self._any(matchers, span) for key, value in series.labels if key == name
        }
        return sorted(values)

    def find(
        self, matchers: Sequence[Sequence[Matcher]], span: tuple[int, int] | None = None
    ) -> list[Labels]:
        """Return the labels of series that fulfil one of several selections and have samples in a span; sorted."""
        return sorted({series.labels for series in self._any(matchers, span)})

    def sweep(self, now_ms: int) -> None:
        """Drop what is too old, and series of which nothing is left."""
        oldest_ms = now_ms - self.retention.age_ms
        for series in self._series.values():
            if series.times and (
                series.base_ms + series.times[0] < oldest_ms or len(series.times) > self.retention.samples
            ):
                self._trim(series, now_ms)
        self._forget([series for series in self._series.values() if not series.times])

    def clear(self) -> None:
        """Drop all samples. Handles stay valid."""
        for series in self._series.values():
            series.timeline.drop_first(len(series))
        self._forget(list(self._series.values()))

    @property
    def samples(self) -> int:
        """How many samples are kept."""
        return sum(len(series) for series in self._series.values())

    @property
    def bytes(self) -> int:
        """How much memory the columns take."""
        return sum(series.bytes for series in self._series.values())

    def _any(self, matchers: Sequence[Sequence[Matcher]], span: tuple[int, int] | None) -> list[Series]:
        """Series that fulfil one of several selections (or any series) and have samples in a span."""
        groups = [self.select(group) for group in matchers] or [tuple(self._series.values())]
        unique = {series.id: series for group in groups for series in group}
        if span is None:
            return list(unique.values())
        start_ms, end_ms = span
        return [s for s in unique.values() if s.index_from(start_ms) < s.index_after(end_ms)]

    def _find_by(self, matcher: Matcher) -> list[Series]:
        """Return the series that a positive condition finds."""
        values = self._index.get(matcher.name)
        if not values:
            return []
        if matcher.words is not None:
            groups = [values[word] for word in dict.fromkeys(matcher.words) if word in values]
        else:
            groups = [group for value, group in values.items() if matcher.accepts(value)]
        if len(groups) == 1:
            return groups[0]
        return [series for group in groups for series in group]

    def _admit(self, series: Series) -> None:
        if len(self._series) >= self.retention.series:
            raise TooManySeries(
                f"there are {len(self._series)} series; {dict(series.labels).get(NAME)} is one more"
            )
        shared = self._pairs.setdefault
        series.labels = tuple([shared(pair, pair) for pair in series.labels])
        self._series[series.labels] = series
        for name, value in series.labels:
            self._index.setdefault(name, {}).setdefault(value, []).append(series)

    def _forget(self, empty: list[Series]) -> None:
        """Forget series that have no samples: all there are of them."""
        if empty:
            self._selections.clear()
        for series in empty:
            del self._series[series.labels]
        for name, value in dict.fromkeys(pair for series in empty for pair in series.labels):
            values = self._index[name]
            values[value] = [series for series in values[value] if series.times]
            if not values[value]:
                del values[value], self._pairs[name, value]
                if not values:
                    del self._index[name]

    def _trim(self, series: Series, now_ms: int) -> None:
        too_old = series.index_from(now_ms - self.retention.age_ms)
        series.timeline.drop_first(max(too_old, len(series) - self.retention.samples))
