"""The statistics of reports: intervals, comparisons and summaries of repeated attempts. Pure functions, the same for the same input.

A problem family is what is drawn at random when someone writes a benchmark; problems and seeds of a family resemble each other. So
comparisons resample families, and problems with their seeds within them: more seeds of the same faults make no more certain than
the faults allow.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import comb, sqrt
from random import Random
from statistics import fmean
from typing import Final

Z_95: Final = 1.959963984540054
"""The quantile of the normal distribution for intervals of 95%."""
RESAMPLES: Final = 2000


@dataclass(frozen=True)
class Interval:
    """An interval of 95%."""

    low: float
    high: float


@dataclass(frozen=True)
class Difference:
    """The difference of two agents' accuracy on the problems that both worked on."""

    value: float
    interval: Interval
    p_value: float
    """Probability of a difference at least as large if there were none, from the bootstrap; two-sided."""
    problems: int
    """Pairs of problem and seed."""
    families: int


def compute_wilson_interval(successes: int, total: int) -> Interval:
    """Return the 95% interval of a share by Wilson (1927), which also holds for few trials and for shares near 0 and 1."""
    if total == 0:
        return Interval(0.0, 1.0)
    share, square = successes / total, Z_95**2
    center = (share + square / (2 * total)) / (1 + square / total)
    half = Z_95 / (1 + square / total) * sqrt(share * (1 - share) / total + square / (4 * total**2))
    return Interval(max(0.0, center - half), min(1.0, center + half))


def compute_balanced_accuracy(found: int, faulty: int, left_alone: int, healthy: int) -> float | None:
    """Return the mean of the shares of faulty systems found and of healthy systems left alone; None without one of the two."""
    if not faulty or not healthy:
        return None
    return (found / faulty + left_alone / healthy) / 2


def estimate_pass_at_k(attempts: int, successes: int, k: int) -> float:
    """Return the probability that at least one of k attempts succeeds: the unbiased estimate of Chen et al. (2021)."""
    _check_attempts(attempts, successes, k)
    return 1.0 - comb(attempts - successes, k) / comb(attempts, k)


def estimate_pass_hat_k(attempts: int, successes: int, k: int) -> float:
    """Return the probability that all of k attempts succeed, pass^k: the unbiased estimate of Yao et al. (2024)."""
    _check_attempts(attempts, successes, k)
    return comb(successes, k) / comb(attempts, k)


def _check_attempts(attempts: int, successes: int, k: int) -> None:
    if not 1 <= k <= attempts or not 0 <= successes <= attempts:
        raise ValueError(f"k={k} of {attempts} attempts with {successes} successes is not possible.")


def compare_paired(
    differences: Mapping[str, Sequence[float]], *, resamples: int = RESAMPLES, seed: int = 0
) -> Difference:
    """Return the mean of paired differences with a bootstrap interval.

    ``differences`` has, by family, one difference for each problem and seed. Families are drawn with replacement, then the
    differences within each drawn family. Raises ``ValueError`` if there are none.
    """
    families = [list(differences[name]) for name in sorted(differences) if differences[name]]
    if not families:
        raise ValueError("There is no problem that both agents worked on.")
    value = fmean(difference for family in families for difference in family)
    random = Random(seed)
    means = sorted(_draw_mean(families, random) for _ in range(resamples))
    # Centered on the observed value: how often chance alone would move it as far as it is from 0.
    extreme = sum(abs(mean - value) >= abs(value) - 1e-12 for mean in means)
    return Difference(
        value,
        Interval(_get_quantile(means, 0.025), _get_quantile(means, 0.975)),
        (1 + extreme) / (1 + resamples),
        sum(map(len, families)),
        len(families),
    )


def _draw_mean(families: Sequence[Sequence[float]], random: Random) -> float:
    total, count = 0.0, 0
    for family in random.choices(families, k=len(families)):
        total += sum(random.choices(family, k=len(family)))
        count += len(family)
    return total / count


def _get_quantile(ordered: Sequence[float], share: float) -> float:
    """Return a quantile of sorted values, linear between neighbours."""
    place = share * (len(ordered) - 1)
    index = int(place)
    following = ordered[min(index + 1, len(ordered) - 1)]
    return ordered[index] + (place - index) * (following - ordered[index])


def adjust_by_holm(p_values: Sequence[float]) -> list[float]:
    """Return the p values of several comparisons, adjusted by the method of Holm (1979), in the same order."""
    order = sorted(range(len(p_values)), key=lambda index: p_values[index])
    adjusted = [0.0] * len(p_values)
    highest = 0.0
    for rank, index in enumerate(order):
        highest = max(highest, min(1.0, (len(p_values) - rank) * p_values[index]))
        adjusted[index] = highest
    return adjusted
