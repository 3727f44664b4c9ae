"""Noise is normal; a change of some metrics is not."""

from __future__ import annotations

import pytest

from aiopslab.agents.classical.mksmc import measure_anomaly
from tests.aiopslab.agents.classical.series import make_metrics


@pytest.mark.parametrize("seed", range(8))
def test_noise_stays_below_the_limit(seed: int) -> None:
    score, limit = measure_anomaly(list(make_metrics(seed=seed).series.values()))
    assert score < limit


@pytest.mark.parametrize("seed", range(8))
def test_a_change_of_one_component_is_above_the_limit(seed: int) -> None:
    changes = {("geo", "server rate"): 1.0, ("geo", "server errors"): 40.0, ("geo", "server latency"): 40.0}
    score, limit = measure_anomaly(list(make_metrics(changes, seed).series.values()))
    assert score > limit


def test_the_same_series_give_the_same_limit() -> None:
    series = list(make_metrics().series.values())
    assert measure_anomaly(series) == measure_anomaly(series)
