"""RMLAD (Wang et al., ICWS 2020): the metric that moves together with the anomalies in the logs is the root cause.

The paper learns the usual sequences of log templates, gives each time window a log anomaly score, and ranks metrics by the mutual
information between their values and that score. Ours differs: templates are lines without their numbers; the score of a window
is how unlikely the counts of its templates are, given the windows before the change, instead of a learned model of sequences;
and a component gets the score of its best metrics.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Sequence
from math import log, log2
from statistics import fmean
from typing import Final

from aiopslab.agents.classical.agent import Localizer
from aiopslab.agents.classical.deviations import MIN_BEFORE, measure_sigmas
from aiopslab.agents.classical.telemetry import (
    SCRAPE_S,
    LogLine,
    Metrics,
    Steps,
    collect_logs,
    collect_metrics,
)
from aiopslab.agents.registry import agent

BINS: Final = 3
VARYING: Final = re.compile(r"0x[0-9a-f]+|\b[0-9a-f]{8,}\b|\d+")
TEMPLATE_CHARS: Final = 120
BEST: Final = 3
"""Metrics of a component that count."""


@agent("rmlad")
class Rmlad(Localizer):
    """Localizes by metrics that move together with anomalies in logs (RMLAD), without a model."""

    def rank(self) -> Steps[list[str]]:
        """Collect metrics and logs, and rank the components."""
        metrics = yield from collect_metrics(self.namespace, self.components)
        lines = yield from collect_logs(self.namespace)
        return rank_by_information(metrics, score_windows(lines, metrics.times_s))


def score_windows(lines: Sequence[LogLine], times_s: Sequence[float]) -> list[float]:
    """Return how anomalous the log lines before each time are: the surprise of each template's count, added up."""
    counts: dict[tuple[str, str], list[int]] = defaultdict(lambda: [0] * len(times_s))
    for component, time_s, text in lines:
        window = int((time_s - times_s[0]) // SCRAPE_S) + 1
        if 0 <= window < len(times_s):
            counts[component, VARYING.sub("#", text)[:TEMPLATE_CHARS]][window] += 1
    scores = [0.0] * len(times_s)
    for found in counts.values():
        usual = fmean(found[:MIN_BEFORE])
        for window, count in enumerate(found):
            scores[window] += log2((1 + count) / (1 + usual)) if count > usual else 0.0
    return scores


def rank_by_information(metrics: Metrics, scores: Sequence[float]) -> list[str]:
    """Return the components by the mutual information of their best metrics with the scores; none if the logs are normal."""
    if max(scores) <= min(scores):
        return []
    levels = _sort_into_bins(scores)
    found: dict[str, list[tuple[float, float]]] = defaultdict(list)
    for (component, _), values in metrics.series.items():
        information = measure_information(_sort_into_bins(values), levels)
        deviation = max(map(abs, measure_sigmas(values, values[:MIN_BEFORE])))
        found[component].append((information, deviation))
    best = {component: sorted(pairs, reverse=True)[:BEST] for component, pairs in found.items()}
    return sorted(best, key=lambda name: (-sum(info * sigmas for info, sigmas in best[name]), name))


def measure_information(first: Sequence[int], second: Sequence[int]) -> float:
    """Return the mutual information of two sequences of levels, in nats."""
    total = len(first)
    pairs, left, right = Counter(zip(first, second, strict=True)), Counter(first), Counter(second)
    return sum(count / total * log(count * total / (left[a] * right[b])) for (a, b), count in pairs.items())


def _sort_into_bins(values: Sequence[float]) -> list[int]:
    """Return the level of each value, in bins of equal width."""
    lowest, highest = min(values), max(values)
    width = (highest - lowest) / BINS
    return [min(int((value - lowest) / width), BINS - 1) if width > 0 else 0 for value in values]
