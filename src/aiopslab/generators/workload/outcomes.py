"""Results of users' requests, stored in columns; each request is a row from the moment it is sent.

Rows are in the order in which requests started, so a span of time is a slice. When the store is full, the older half is
dropped.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Iterator
from typing import Final, NamedTuple

KEEP: Final = 2_000_000
OPEN: Final = -1.0
"""Latency of a request that has no answer yet."""


class Outcome(NamedTuple):
    """One request: start time, journey, latency, status and error, if any.

    The latency is negative while there is no answer. The status is 0 if there was no response.
    """

    start: float
    journey: str
    latency_s: float
    status: int
    error: str | None


class Summary(NamedTuple):
    """Counts of requests, errors and unfinished requests, latencies of the finished ones, and errors by message."""

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
    """The results of the users' requests."""

    def __init__(self, keep: int = KEEP) -> None:
        self.promised: list[str] = []
        """Writes that were acknowledged to users."""
        self._keep = keep
        self._dropped = 0
        self._starts = array("d")
        self._latencies = array("d")
        self._journeys = array("H")
        self._statuses = array("H")
        self._errors = array("H")
        self._names: list[str] = []
        self._messages: list[str | None] = [None]
        self._numbers: dict[str, int] = {}

    def __len__(self) -> int:
        return len(self._starts)

    @property
    def journeys(self) -> tuple[str, ...]:
        """The names of the registered journeys, in order of registration."""
        return tuple(self._names)

    def register_journey(self, name: str) -> int:
        """Return the number of a journey, for ``begin``."""
        if name not in self._names:
            self._names.append(name)
        return self._names.index(name)

    def begin(self, start: float, journey: int) -> int:
        """Add a request; return the number of its row."""
        if len(self._starts) >= self._keep:
            self._drop_oldest(self._keep // 2)
        self._starts.append(start)
        self._latencies.append(OPEN)
        self._journeys.append(journey)
        self._statuses.append(0)
        self._errors.append(0)
        return self._dropped + len(self._starts) - 1

    def finish(self, row: int, latency_s: float, status: int, error: str | None) -> None:
        """Set the result of a request."""
        index = row - self._dropped
        if index < 0:
            return
        self._latencies[index] = latency_s
        self._statuses[index] = status
        if error is not None:
            self._errors[index] = self._register_error(error)

    def outcomes(self, start: float = 0.0, end: float = float("inf")) -> Iterator[Outcome]:
        """Yield the requests that started in that span of virtual time."""
        for index in self._find_span(start, end):
            yield Outcome(
                self._starts[index],
                self._names[self._journeys[index]],
                self._latencies[index],
                self._statuses[index],
                self._messages[self._errors[index]],
            )

    def between(self, start: float, end: float, journey: str | None = None) -> Summary:
        """Summarize the requests that started in that span of virtual time, of all journeys or of one."""
        chosen = [
            index
            for index in self._find_span(start, end)
            if journey is None or self._names[self._journeys[index]] == journey
        ]
        latencies = sorted(self._latencies[index] for index in chosen if self._latencies[index] != OPEN)
        kinds: dict[str, int] = {}
        for index in chosen:
            message = self._messages[self._errors[index]]
            if message is not None:
                kinds[message] = kinds.get(message, 0) + 1
        return Summary(
            len(chosen),
            sum(kinds.values()),
            len(chosen) - len(latencies),
            get_quantile(latencies, 0.5),
            get_quantile(latencies, 0.99),
            kinds,
        )

    def _find_span(self, start: float, end: float) -> range:
        return range(bisect_left(self._starts, start), bisect_left(self._starts, end))

    def _register_error(self, error: str) -> int:
        number = self._numbers.get(error)
        if number is None:
            # Messages may contain addresses, so their number is limited; the rest counts as one kind.
            if len(self._messages) > 60_000:
                return self._register_error("other errors")
            number = self._numbers[error] = len(self._messages)
            self._messages.append(error)
        return number

    def _drop_oldest(self, count: int) -> None:
        for column in (self._starts, self._latencies, self._journeys, self._statuses, self._errors):
            del column[:count]
        self._dropped += count


def get_quantile(values: list[float], share: float) -> float:
    """Return the quantile of a sorted list; 0 if it is empty."""
    return values[min(len(values) - 1, int(len(values) * share))] if values else 0.0
