"""How users' requests went, kept in columns: a request is a row from the moment it is sent.

Rows are in the order in which requests began, so a span of time is a slice. Beyond a bound the older half is
forgotten.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Iterator
from typing import Final, NamedTuple

KEEP: Final = 2_000_000
OPEN: Final = -1.0
"""The latency of a request that has no answer yet."""


class Outcome(NamedTuple):
    """One request: when it began, which journey, how long it took, its status, and what went wrong if anything.

    A request without an answer yet has a negative latency. A status of 0 means that none came.
    """

    start: float
    journey: str
    latency_s: float
    status: int
    error: str | None


class Summary(NamedTuple):
    """Requests, failed ones, those still open, latencies of the answered ones in seconds, errors by their words."""

    requests: int
    errors: int
    unfinished: int
    p50_s: float
    p99_s: float
    kinds: dict[str, int]

    @property
    def error_rate(self) -> float:
        """The share of requests that failed."""
        return self.errors / self.requests if self.requests else 0.0


class Results:
    """What happened to the users' requests."""

    def __init__(self, keep: int = KEEP) -> None:
        self.promised: list[str] = []
        """What users were told has been written."""
        self._keep = keep
        self._forgotten = 0
        self._starts = array("d")
        self._latencies = array("d")
        self._journeys = array("H")
        self._statuses = array("H")
        self._errors = array("H")
        self._names: list[str] = []
        self._words: list[str | None] = [None]
        self._numbers: dict[str, int] = {}

    def __len__(self) -> int:
        return len(self._starts)

    @property
    def journeys(self) -> tuple[str, ...]:
        """The journeys that were made, in the order in which they were first announced."""
        return tuple(self._names)

    def journey(self, name: str) -> int:
        """The number under which a journey's requests are begun."""
        if name not in self._names:
            self._names.append(name)
        return self._names.index(name)

    def begin(self, start: float, journey: int) -> int:
        """A request is sent; the number of its row."""
        if len(self._starts) >= self._keep:
            self._forget(self._keep // 2)
        self._starts.append(start)
        self._latencies.append(OPEN)
        self._journeys.append(journey)
        self._statuses.append(0)
        self._errors.append(0)
        return self._forgotten + len(self._starts) - 1

    def finish(self, row: int, latency_s: float, status: int, error: str | None) -> None:
        """It has ended."""
        at = row - self._forgotten
        if at < 0:
            return
        self._latencies[at] = latency_s
        self._statuses[at] = status
        if error is not None:
            self._errors[at] = self._number(error)

    def outcomes(self, start: float = 0.0, end: float = float("inf")) -> Iterator[Outcome]:
        """Every request that began in that span of virtual time."""
        for at in self._span(start, end):
            yield Outcome(
                self._starts[at],
                self._names[self._journeys[at]],
                self._latencies[at],
                self._statuses[at],
                self._words[self._errors[at]],
            )

    def between(self, start: float, end: float, journey: str | None = None) -> Summary:
        """Requests that began in that span of virtual time, of all journeys or of one, summed up."""
        chosen = [
            at
            for at in self._span(start, end)
            if journey is None or self._names[self._journeys[at]] == journey
        ]
        latencies = sorted(self._latencies[at] for at in chosen if self._latencies[at] != OPEN)
        kinds: dict[str, int] = {}
        for at in chosen:
            word = self._words[self._errors[at]]
            if word is not None:
                kinds[word] = kinds.get(word, 0) + 1
        return Summary(
            len(chosen),
            sum(kinds.values()),
            len(chosen) - len(latencies),
            quantile(latencies, 0.5),
            quantile(latencies, 0.99),
            kinds,
        )

    def _span(self, start: float, end: float) -> range:
        return range(bisect_left(self._starts, start), bisect_left(self._starts, end))

    def _number(self, error: str) -> int:
        number = self._numbers.get(error)
        if number is None:
            # Errors carry addresses now and then; what goes beyond the table is told as one kind.
            if len(self._words) > 60_000:
                return self._number("other errors")
            number = self._numbers[error] = len(self._words)
            self._words.append(error)
        return number

    def _forget(self, count: int) -> None:
        for column in (self._starts, self._latencies, self._journeys, self._statuses, self._errors):
            del column[:count]
        self._forgotten += count


def quantile(values: list[float], share: float) -> float:
    """The value below which that share of a sorted list lies; 0 for an empty one."""
    return values[min(len(values) - 1, int(len(values) * share))] if values else 0.0
