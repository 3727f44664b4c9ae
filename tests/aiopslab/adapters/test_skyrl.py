"""SkyRL-Gym makes the environment by its name and plays an episode."""

from __future__ import annotations

import pytest

from aiopslab.utils import AIOpsLabError

skyrl_gym = pytest.importorskip("skyrl_gym", reason="the extra skyrl is not installed")

NOOP = "noop_detection_hotel_reservation-1"


def test_an_episode_by_the_name_of_the_environment() -> None:
    import aiopslab.adapters.skyrl  # noqa: F401 (registers the environment)

    env = skyrl_gym.make("aiopslab", env_config={}, extras={"problem": NOOP, "max_steps": 5})
    try:
        conversation, info = env.init([{"role": "system", "content": "Think first."}])
        assert [message["role"] for message in conversation] == ["system", "user"]
        assert info["severity"] < 0.1
        look = env.step('exec_shell("kubectl get nodes")')
        assert (look["reward"], look["done"]) == (0.0, False)
        assert "control-plane" in look["observations"][0]["content"]
        end = env.step('submit("No")')
        assert (end["reward"], end["done"]) == (1.0, True)
        assert env.get_metrics() == {"success": 1.0, "steps": 2.0}
    finally:
        env.close()


def test_a_row_without_a_problem_is_refused() -> None:
    from aiopslab.adapters.skyrl import SkyrlIncidentEnv

    with pytest.raises(AIOpsLabError, match="column 'problem'"):
        SkyrlIncidentEnv({}, extras={})
