"""MKSMC (Çetin and Tasgin, UBMK 2020): the K-sigma scores of many metrics are one score, and Monte Carlo says what is normal.

The paper measures by how many standard deviations each metric is away from its past, combines these scores into a multivariate
one, and finds its limit by random draws instead of assuming a distribution. Ours differs: the past is the first half of the
session's telemetry; only rates, errors and latencies of services count; the score of a time is the mean of the largest few
deviations, because a fault in one of many components changes few metrics; and a draw leaves a normal sample out and scores it
against a random part of the others.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from random import Random
from statistics import fmean
from typing import Final

from aiopslab.agents.classical.agent import ClassicalAgent
from aiopslab.agents.classical.deviations import measure_sigmas
from aiopslab.agents.classical.telemetry import NoTelemetry, collect_metrics
from aiopslab.agents.registry import agent

SERVED: Final = ("server errors", "server latency", "server rate")
"""What users notice. Rollouts of other teams change the CPU, memory and network of components, and are no incident."""
LARGEST: Final = 4
"""Deviations that count at each time."""
RECENT: Final = 3
"""Samples at the end that are judged."""
DRAWS: Final = 60
LEFT_OUT: Final = 1
"""Normal samples that a draw does without, besides the one that it scores."""


@agent("mksmc")
class Mksmc(ClassicalAgent):
    """Detects by the K-sigma score of all metrics, with a limit from random draws (MKSMC), without a model."""

    answers = "yes or no"

    def work(self) -> Generator[str, str, None]:
        """Compare the recent score with its limit, and submit. Telemetry that cannot be had is an anomaly, too."""
        try:
            metrics = yield from collect_metrics(self.namespace, self.components)
        except NoTelemetry as error:
            yield f"There is no telemetry: {error}\n{self.submit({'yes or no': 'Yes'})}"
            return
        served = [values for (_, name), values in metrics.series.items() if name in SERVED]
        score, limit = measure_anomaly(served or list(metrics.series.values()))
        verdict = "Yes" if score > limit else "No"
        yield f"The score is {score:.2f}, its limit {limit:.2f}.\n{self.submit({'yes or no': verdict})}"


def measure_anomaly(series: Sequence[Sequence[float]]) -> tuple[float, float]:
    """Return the score of the recent samples and the highest score of normal ones in random draws."""
    length = len(series[0])
    normal = range(length // 2)
    draw = Random("MKSMC")
    drawn = []
    for _ in range(DRAWS):
        chosen = draw.choice(normal)
        others = [index for index in normal if index != chosen]
        drawn.append(_score(series, chosen, draw.sample(others, len(others) - LEFT_OUT)))
    recent = fmean(_score(series, index, normal) for index in range(length - RECENT, length))
    return recent, max(drawn)


def _score(series: Sequence[Sequence[float]], index: int, reference: Sequence[int]) -> float:
    """Return the mean of the largest deviations of the samples at an index from those at the reference."""
    deviations = [
        abs(measure_sigmas([values[index]], [values[other] for other in reference])[0]) for values in series
    ]
    return fmean(sorted(deviations)[-LARGEST:])
