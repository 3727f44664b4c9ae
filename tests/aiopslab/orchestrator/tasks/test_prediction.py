"""Predictions are taken in one form, and are right within a factor of two."""

from __future__ import annotations

from typing import Any

import pytest

from aiopslab.apps.hotelres import HotelReservation
from aiopslab.generators.fault.disk_filling import DiskFilling
from aiopslab.orchestrator.tasks import PredictionTask
from aiopslab.utils import InvalidSubmissionError

RIGHT = {"component": "geo", "failure": "out of memory", "within_min": 60}


def judged(given: dict[str, Any] | None, right: dict[str, Any] | None = RIGHT) -> dict[str, Any]:
    task = PredictionTask(HotelReservation())
    task.ans = right
    return task.eval(task.take_submission((given,), {}), [], 600.0)


@pytest.mark.parametrize(
    ("change", "success"),
    [
        ({}, True),
        ({"within_min": 31}, True),
        ({"within_min": 119.5}, True),
        ({"within_min": 29}, False),
        ({"within_min": 121}, False),
        ({"component": "rate"}, False),
        ({"component": "deployment/geo", "failure": "Out of memory "}, True),
        ({"failure": "disk full"}, False),
    ],
)
def test_a_prediction_is_right_within_a_factor_of_two(change: dict[str, Any], success: bool) -> None:
    assert judged(RIGHT | change)["success"] is success


def test_the_parts_are_told_apart() -> None:
    results = judged(RIGHT | {"within_min": 500})
    assert [results[f"{part}_correct"] for part in ("component", "failure", "time")] == [True, True, False]


def test_none_is_right_when_nothing_fails() -> None:
    assert judged(None, None)["success"]
    assert not judged(RIGHT, None)["success"]
    assert not judged(None)["success"]
    assert not PredictionTask(HotelReservation()).eval(None, [], 1.0)["success"], "nothing was submitted"


def test_only_unbounded_growth_breaks_something() -> None:
    assert PredictionTask(HotelReservation(), [DiskFilling("geo")]).breaks
    assert not PredictionTask(HotelReservation(), [DiskFilling("geo", bounded=True)]).breaks


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("geo", "must be None or a dictionary"),
        (RIGHT | {"component": None}, '"component" must be'),
        (RIGHT | {"failure": "boredom"}, '"failure" must be one of disk full, '),
        (RIGHT | {"within_min": "soon"}, '"within_min" must be a number'),
        (RIGHT | {"within_min": 0}, '"within_min" must be a number'),
    ],
)
def test_another_form_is_answered_with_the_right_one(given: Any, said: str) -> None:
    with pytest.raises(InvalidSubmissionError, match=said):
        judged(given)
