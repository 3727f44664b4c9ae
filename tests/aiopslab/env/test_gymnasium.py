"""Gymnasium's own checker, and a problem chosen through its interface."""

from __future__ import annotations

import warnings

import pytest
from gymnasium.utils.env_checker import check_env

from aiopslab.env import GymIncidentEnv

NOOP = "noop_detection_hotel_reservation-1"


@pytest.mark.slow
def test_gymnasium_accepts_the_environment() -> None:
    env = GymIncidentEnv([NOOP], max_steps=5)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            check_env(env, skip_render_check=True)
        observation, info = env.reset(options={"problem": NOOP})
        assert info["problem"] == NOOP
        assert env.observation_space.contains(observation)
        *_, reward, terminated, truncated, _ = env.step('submit("No")')
        assert (reward, terminated, truncated) == (1.0, True, False)
    finally:
        env.close()
