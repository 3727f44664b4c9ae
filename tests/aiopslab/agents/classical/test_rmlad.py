"""The metrics that move together with anomalous logs name the cause."""

from __future__ import annotations

from math import log

import pytest

from aiopslab.agents.classical.rmlad import measure_information, rank_by_information, score_windows
from aiopslab.agents.classical.telemetry import LogLine
from tests.aiopslab.agents.classical.series import CHANGE, LENGTH, make_metrics

METRICS = make_metrics({("geo", "cpu"): 0.0, ("geo", "memory"): 1.0, ("rate", "cpu"): 5.0})
USUAL = [
    LogLine("search", time_s - 7 + number, f"GET /hotels took {number} ms")
    for time_s in METRICS.times_s
    for number in range(3)
]
ERRORS = [
    LogLine("search", time_s - 5, f"call {number} failed: unavailable")
    for time_s in METRICS.times_s[CHANGE:]
    for number in range(20)
]


def test_only_windows_with_unusual_lines_have_a_score() -> None:
    scores = score_windows([*USUAL, *ERRORS], METRICS.times_s)
    assert scores[:CHANGE] == [0.0] * CHANGE
    assert scores[CHANGE:] == pytest.approx([log(21, 2)] * (LENGTH - CHANGE))


def test_the_component_whose_metrics_move_with_the_score_is_first() -> None:
    scores = score_windows([*USUAL, *ERRORS], METRICS.times_s)
    assert rank_by_information(METRICS, scores)[0] == "geo"


def test_normal_logs_blame_nobody() -> None:
    assert rank_by_information(METRICS, score_windows(USUAL, METRICS.times_s)) == []


def test_mutual_information() -> None:
    assert measure_information([0, 0, 1, 1], [1, 1, 0, 0]) == pytest.approx(log(2))
    assert measure_information([0, 1, 0, 1], [0, 0, 1, 1]) == pytest.approx(0.0)
