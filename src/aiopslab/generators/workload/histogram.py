"""Latencies as HdrHistogram keeps and prints them: whole microseconds, three significant digits.

A value is known up to the bucket it falls into. Buckets double in width from 2,048 µs on, so an error never exceeds a
thousandth of the value. wrk2 prints its percentiles and spectrum from such a histogram, and so do we.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import inf, log2, sqrt
from typing import Final

SUB_BUCKETS: Final = 2048
BUCKETS: Final = 27
"""As many as it takes for a day in microseconds."""
TICKS: Final = 5
"""Lines of the spectrum for each halving of the distance to 100%."""


class Histogram:
    """Counts of values, by bucket."""

    def __init__(self) -> None:
        self._counts: dict[int, int] = {}
        self.total = 0
        self.max = 0

    def record(self, value: int) -> None:
        """One more value."""
        low, _ = _bucket(value)
        self._counts[low] = self._counts.get(low, 0) + 1
        self.total += 1
        self.max = max(self.max, _bucket(value)[1])

    @property
    def mean(self) -> float:
        """The mean of the values, as far as they are known."""
        return (
            sum(_middle(low) * count for low, count in self._counts.items()) / self.total
            if self.total
            else 0.0
        )

    @property
    def deviation(self) -> float:
        """Their standard deviation."""
        if not self.total:
            return 0.0
        mean = self.mean
        squares = sum((_middle(low) - mean) ** 2 * count for low, count in self._counts.items())
        return sqrt(squares / self.total)

    def within(self, distance: float) -> float:
        """The percentage of values at most so far from the mean."""
        if not self.total:
            return 0.0
        mean = self.mean
        near = sum(count for low, count in self._counts.items() if abs(_middle(low) - mean) <= distance)
        return 100.0 * near / self.total

    def at(self, percentile: float) -> int:
        """The value below which that percentage of values lies."""
        wanted = max(1, int(percentile / 100 * self.total + 0.5))
        seen = 0
        for low in sorted(self._counts):
            seen += self._counts[low]
            if seen >= wanted:
                return _bucket(low)[1]
        return 0

    def spectrum(self) -> Iterator[tuple[int, float, int, float]]:
        """Value, share of values up to it, their number, and one in how many lies above."""
        seen, target = 0, 0.0
        for low in sorted(self._counts):
            seen += self._counts[low]
            reached = 100.0 * seen / self.total
            while target <= reached and not (seen == self.total and target > 0 and target >= 100.0):
                yield _bucket(low)[1], target / 100, seen, 100 / (100 - target)
                halvings = int(log2(100 / (100 - target))) + 1
                target += 100 / (TICKS * 2**halvings)
                if seen == self.total:
                    break
        if self.total:
            yield self.max, 1.0, self.total, inf

    def printed(self) -> str:
        """The spectrum in milliseconds, as wrk2 prints it."""
        lines = [f"{'Value':>12} {'Percentile':>12} {'TotalCount':>12} {'1/(1-Percentile)':>12}", ""]
        for value, share, count, above in self.spectrum():
            lines.append(f"{value / 1000:12.3f} {share:12f} {count:12d} {above:12.2f}")
        lines += [
            f"#[Mean    = {self.mean / 1000:12.3f}, StdDeviation   = {self.deviation / 1000:12.3f}]",
            f"#[Max     = {self.max / 1000:12.3f}, Total count    = {self.total:12d}]",
            f"#[Buckets = {BUCKETS:12d}, SubBuckets     = {SUB_BUCKETS:12d}]",
        ]
        return "\n".join(lines) + "\n"


def _bucket(value: int) -> tuple[int, int]:
    """The lowest and the highest value of the bucket that a value falls into."""
    shift = max(0, value.bit_length() - 11)
    low = value >> shift << shift
    return low, low + (1 << shift) - 1


def _middle(low: int) -> int:
    """What stands for all values of a bucket."""
    width = _bucket(low)[1] - low + 1
    return low + width // 2
