"""How far values are from normal: K-sigma scores, and the time at which many series change."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from statistics import fmean, pstdev
from typing import Final

MAX_SIGMAS: Final = 10.0
"""Cap of a score: a counter that was zero before deviates by infinitely many sigmas."""
MIN_SIGMA_SHARE: Final = 0.1
"""Least standard deviation, as a share of the mean: few samples often agree by chance."""
TINY: Final = 1e-9
MIN_BEFORE: Final = 4
MIN_AFTER: Final = 2


def measure_sigmas(values: Sequence[float], normal: Sequence[float]) -> list[float]:
    """Return the distance of each value from the normal ones, in standard deviations, with sign and capped."""
    mean = fmean(normal)
    sigma = max(pstdev(normal), MIN_SIGMA_SHARE * abs(mean), TINY)
    return [max(-MAX_SIGMAS, min(MAX_SIGMAS, (value - mean) / sigma)) for value in values]


def find_change(series: Collection[Sequence[float]]) -> int:
    """Return the index at which the series change most, all taken together.

    Series must have the same length, of at least six values; each side of the change has some.
    """
    length = len(next(iter(series)))

    def measure(split: int) -> float:
        return fmean(_measure_step(values[:split], values[split:]) for values in series)

    return max(range(MIN_BEFORE, length - MIN_AFTER + 1), key=measure)


def _measure_step(before: Sequence[float], after: Sequence[float]) -> float:
    """Return the distance of two means in standard deviations within both sides, capped."""
    mean = fmean(before)
    spread = (len(before) * pstdev(before) + len(after) * pstdev(after)) / (len(before) + len(after))
    sigma = max(spread, MIN_SIGMA_SHARE * abs(mean), TINY)
    return min(MAX_SIGMAS, abs(fmean(after) - mean) / sigma)
