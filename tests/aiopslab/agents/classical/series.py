"""Small telemetry with a known answer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from random import Random

from aiopslab.agents.classical.telemetry import Metrics

COMPONENTS = ("frontend", "search", "geo", "rate", "mongodb-geo")
NAMES = ("cpu", "memory", "server rate", "server latency", "server errors")
LENGTH = 12
CHANGE = 8
START_S = 1_000.0


def make_metrics(changes: Mapping[tuple[str, str], float] | None = None, seed: int = 1) -> Metrics:
    """Return noisy series around 10, some of which have another level from the change on."""
    draw = Random(seed)
    series: dict[tuple[str, str], Sequence[float]] = {}
    for key in ((component, name) for component in COMPONENTS for name in NAMES):
        values = [draw.gauss(10.0, 0.5) for _ in range(LENGTH)]
        level = (changes or {}).get(key)
        if level is not None:
            values[CHANGE:] = [draw.gauss(level, 0.5) for _ in range(LENGTH - CHANGE)]
        series[key] = values
    return Metrics([START_S + 15 * index for index in range(LENGTH)], {k: list(v) for k, v in series.items()})
