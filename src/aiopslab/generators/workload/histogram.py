"""A latency histogram that counts and prints like HdrHistogram: whole microseconds, three significant digits.

A value is known up to its bucket. From 2,048 µs on the width of buckets doubles, so the error is at most a
thousandth of the value. wrk2 prints its percentiles and its spectrum from such a histogram.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import inf, log2, sqrt
from typing import Final

SUB_BUCKETS: Final = 2048
BUCKETS: Final = 27
"""Enough for a day in microseconds."""
TICKS: Final = 5
"""Lines of the spectrum for each halving of the distance to 100%."""


class Histogram:
    """Counts of values, by bucket."""

    def __init__(self) -> None:
        self._counts: dict[int, int] = {}
        self.total = 0
        self.max = 0

    def record(self, value: int) -> None:
        """Add a value."""
        low, _ = _find_bucket(value)
        self._counts[low] = self._counts.get(low, 0) + 1
        self.total += 1
        self.max = max(self.max, _find_bucket(value)[1])

    @property
    def mean(self) -> float:
        """The mean of the values, to the precision of the buckets."""
        return (
            sum(_get_middle(low) * count for low, count in self._counts.items()) / self.total
            if self.total
            else 0.0
        )

    @property
    def deviation(self) -> float:
        """The standard deviation of the values."""
        if not self.total:
            return 0.0
        mean = self.mean
        squares = sum((_get_middle(low) - mean) ** 2 * count for low, count in self._counts.items())
        return sqrt(squares / self.total)

    def share_within(self, distance: float) -> float:
        """Return the percentage of values within that distance of the mean."""
        if not self.total:
            return 0.0
        mean = self.mean
        near = sum(count for low, count in self._counts.items() if abs(_get_middle(low) - mean) <= distance)
        return 100.0 * near / self.total

    def at(self, percentile: float) -> int:
        """Return the value at a percentile."""
        wanted = max(1, int(percentile / 100 * self.total + 0.5))
        seen = 0
        for low in sorted(self._counts):
            seen += self._counts[low]
            if seen >= wanted:
                return _find_bucket(low)[1]
        return 0

    def spectrum(self) -> Iterator[tuple[int, float, int, float]]:
        """Yield rows of wrk2's spectrum: value, percentile as a share, count up to it, 1 / (1 - percentile)."""
        seen, target = 0, 0.0
        for low in sorted(self._counts):
            seen += self._counts[low]
            reached = 100.0 * seen / self.total
            while target <= reached and not (seen == self.total and target > 0 and target >= 100.0):
                yield _find_bucket(low)[1], target / 100, seen, 100 / (100 - target)
                halvings = int(log2(100 / (100 - target))) + 1
                target += 100 / (TICKS * 2**halvings)
                if seen == self.total:
                    break
        if self.total:
            yield self.max, 1.0, self.total, inf

    def format(self) -> str:
        """Format the spectrum in milliseconds, as wrk2 prints it."""
        lines = [f"{'Value':>12} {'Percentile':>12} {'TotalCount':>12} {'1/(1-Percentile)':>12}", ""]
        for value, share, count, above in self.spectrum():
            lines.append(f"{value / 1000:12.3f} {share:12f} {count:12d} {above:12.2f}")
        lines += [
            f"#[Mean    = {self.mean / 1000:12.3f}, StdDeviation   = {self.deviation / 1000:12.3f}]",
            f"#[Max     = {self.max / 1000:12.3f}, Total count    = {self.total:12d}]",
            f"#[Buckets = {BUCKETS:12d}, SubBuckets     = {SUB_BUCKETS:12d}]",
        ]
        return "\n".join(lines) + "\n"


def _find_bucket(value: int) -> tuple[int, int]:
    """Return the lowest and the highest value of a value's bucket."""
    shift = max(0, value.bit_length() - 11)
    low = value >> shift << shift
    return low, low + (1 << shift) - 1


def _get_middle(low: int) -> int:
    """Return the middle of a bucket, which represents all its values."""
    width = _find_bucket(low)[1] - low + 1
    return low + width // 2
