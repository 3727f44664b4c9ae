"""Deviations are measured in standard deviations, and a common change is found."""

from __future__ import annotations

import pytest

from aiopslab.agents.classical.deviations import MAX_SIGMAS, find_change, measure_sigmas
from tests.aiopslab.agents.classical.series import CHANGE, make_metrics


def test_sigmas_have_a_sign_and_a_cap() -> None:
    normal = [8.0, 12.0, 8.0, 12.0]
    assert measure_sigmas([10.0, 14.0, 4.0, 1000.0], normal) == [0.0, 2.0, -3.0, MAX_SIGMAS]


def test_a_first_error_deviates_as_much_as_possible_and_a_small_change_of_a_constant_little() -> None:
    assert measure_sigmas([0.5], [0.0] * 5) == [MAX_SIGMAS]
    assert measure_sigmas([10.5], [10.0] * 5) == pytest.approx([0.5])


@pytest.mark.parametrize("seed", range(5))
def test_the_change_is_found(seed: int) -> None:
    changes = {("geo", "cpu"): 0.0, ("geo", "server rate"): 2.0, ("search", "server errors"): 30.0}
    assert find_change(make_metrics(changes, seed).series.values()) == CHANGE
