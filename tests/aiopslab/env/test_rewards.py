"""Rewards of steps and episodes."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given, strategies as st

from aiopslab.env import Reward, Transition

SEVERITIES = st.lists(st.floats(0, 1), min_size=2, max_size=12)


def sum_discounted(reward: Reward, severities: list[float], success: bool) -> float:
    """Return the discounted sum of an episode in which severity takes these values."""
    total = 0.0
    for number, (before, after) in enumerate(pairwise(severities)):
        ended = number == len(severities) - 2
        total += reward.discount**number * reward(
            Transition(before, after, True, ended, success if ended else None)
        )
    return total


@given(SEVERITIES, st.booleans(), st.floats(0.1, 1), st.floats(0.1, 5))
def test_shaping_adds_the_same_constant_to_every_episode_from_a_state(
    severities: list[float], success: bool, discount: float, weight: float
) -> None:
    plain = sum_discounted(Reward(step=-0.01, discount=discount), severities, success)
    shaped = sum_discounted(Reward(step=-0.01, shaping=weight, discount=discount), severities, success)
    assert shaped - plain == pytest.approx(weight * severities[0], abs=1e-9)


@given(SEVERITIES)
def test_severity_alone_earns_nothing_by_default(severities: list[float]) -> None:
    assert sum_discounted(Reward(), severities, success=False) == 0.0


def test_each_weight_counts() -> None:
    reward = Reward(success=2, failure=-1, step=-0.1, invalid=-0.5, harm=-0.25)
    assert reward(Transition(1, 1, True, False)) == pytest.approx(-0.1)
    assert reward(Transition(1, 1, False, False)) == pytest.approx(-0.6)
    assert reward(Transition(1, 0, True, True, True)) == pytest.approx(1.9)
    assert reward(Transition(1, 0, True, True, None)) == pytest.approx(-1.1)
    assert reward(Transition(1, 0, True, True, True, 1, 3)) == pytest.approx(0.9)
