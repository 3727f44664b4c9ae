"""Incidents through the environment interface: episodes, forks, records, seeds, members that are killed."""

from __future__ import annotations

import asyncio
import json
import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from aiopslab.env import EnvironmentFailed, IncidentEnv, Reward, VectorIncidentEnv
from aiopslab.orchestrator.problems import UnknownProblem

DETECTION, NOOP = "scale_pod_zero_social_net-detection-1", "noop_detection_social_network-1"
MITIGATION = "scale_pod_zero_social_net-mitigation-1"
NS = "test-social-network"
LOOK = f'exec_shell("kubectl get deployments -n {NS}")'
SCALE = f'exec_shell("kubectl -n {NS} scale deployment user-service --replicas=1")'


@pytest.fixture(scope="module")
def env(tmp_path_factory: pytest.TempPathFactory) -> Iterator[IncidentEnv]:
    with IncidentEnv(
        [DETECTION, MITIGATION, NOOP], seed=3, records=tmp_path_factory.mktemp("records")
    ) as env:
        yield env


def test_an_episode_from_the_first_observation_to_the_verdict(env: IncidentEnv) -> None:
    observation, info = env.reset(problem=DETECTION)
    assert observation.startswith(info["description"])
    assert observation.endswith("Take your first action.")
    assert (info["task"], info["problem"], info["seed"]) == ("detection", DETECTION, 3)
    assert {tool["name"] for tool in info["tools"]} == set(info["actions"])
    assert info["severity"] > 0.3
    observation, reward, terminated, truncated, info = env.step(LOOK)
    assert "user-service" in observation
    assert (reward, terminated, truncated, info["results"]) == (0.0, False, False, None)
    _, reward, terminated, truncated, info = env.step('submit("Yes")')
    assert (reward, terminated, truncated) == (1.0, True, False)
    assert info["results"]["success"] is True
    record = json.loads(Path(info["record"]).read_text())
    assert (record["agent"], record["problem_id"], len(record["steps"])) == ("environment", DETECTION, 2)


def test_a_step_needs_an_episode(env: IncidentEnv) -> None:
    env.reset(problem=NOOP)
    env.step('submit("No")')
    for call in (lambda: env.step(LOOK), env.fork):
        with pytest.raises(EnvironmentFailed, match=r"Call reset\(\)"):
            call()


def test_a_wrong_answer_earns_nothing_and_an_invalid_one_costs_a_step(env: IncidentEnv) -> None:
    env.reset(problem=DETECTION)
    observation, _, _, _, info = env.step("I have no idea.")
    assert not info["valid"]
    assert observation
    _, reward, terminated, _, info = env.step('submit("No")')
    assert (reward, terminated, info["results"]["success"]) == (0.0, True, False)


def test_a_fork_goes_on_from_the_same_state(env: IncidentEnv) -> None:
    env.reset(problem=MITIGATION)
    before, *_ = env.step(LOOK)
    with env.fork() as fork:
        fork.step(SCALE)
        observation, *_ = env.step(LOOK)
        changed, *_ = fork.step(LOOK)
        assert [line for line in changed.splitlines() if line.startswith("user-service ")] != [
            line for line in before.splitlines() if line.startswith("user-service ")
        ]
        assert "user-service" in observation
        _, repaired, _, _, fork_info = fork.step("submit()")
        _, unchanged, _, _, info = env.step("submit()")
    assert (repaired, unchanged) == (1.0, 0.0)
    assert fork_info["record"] != info["record"]


def test_an_episode_is_truncated_and_judged_at_the_step_limit(env: IncidentEnv) -> None:
    env.reset(problem=MITIGATION)
    with env.fork() as fork:
        fork.max_steps = 1
        _, reward, terminated, truncated, info = fork.step(SCALE)
    assert (terminated, truncated, info["ending"]) == (False, True, "step limit")
    assert info["results"] is not None
    assert reward == 0.0


def test_every_problem_comes_once_before_one_comes_again(env: IncidentEnv) -> None:
    seen = [env.reset()[1]["problem"] for _ in range(6)]
    assert set(seen[:3]) == set(seen[3:]) == {DETECTION, MITIGATION, NOOP}


def test_the_seed_decides_the_order_and_what_is_seen(env: IncidentEnv) -> None:
    def observe() -> list[str]:
        texts = []
        for number in range(3):
            _, info = env.reset(3 if number == 0 else None)
            texts += [info["problem"], env.step(LOOK)[0]]
        return texts

    assert observe() == observe()


def test_shaping_follows_severity(env: IncidentEnv) -> None:
    _, info = env.reset(problem=MITIGATION)
    with env.fork() as fork:
        fork.reward = Reward(shaping=1.0)
        _, reward, _, _, after = fork.step(f'{SCALE[:-2]}; sleep 40")')
    assert reward == pytest.approx(info["severity"] - after["severity"])
    assert reward > 0.2


def test_async_steps(env: IncidentEnv) -> None:
    async def work() -> float:
        await env.reset_async(problem=NOOP)
        return (await env.step_async('submit("No")'))[1]

    assert asyncio.run(work()) == 1.0


def test_an_unknown_problem_is_refused_at_once() -> None:
    with pytest.raises(UnknownProblem, match="no-such"):
        IncidentEnv(["no-such"])


def test_members_share_worlds_and_survive_the_end_of_another() -> None:
    with VectorIncidentEnv(2, [DETECTION], seed=3) as vector:
        observations, infos = vector.reset()
        assert [info["problem"] for info in infos] == [DETECTION] * 2
        assert observations[0] == observations[1]
        world = vector.envs[0]._world
        assert world is not None
        os.kill(world.pid, signal.SIGKILL)
        observations, rewards, terminated, truncated, infos = vector.step([LOOK, 'submit("Yes")'])
        assert "The episode was lost" in infos[0]["final_info"]["error"]
        assert (rewards, terminated, truncated) == ([0.0, 1.0], [False, True], [True, False])
        assert infos[1]["final_info"]["results"]["success"] is True
        assert all(observation.endswith("Take your first action.") for observation in observations)
        with pytest.raises(ValueError, match="2 actions are needed"):
            vector.step([LOOK])
        _, rewards, *_ = vector.step(['submit("Yes")', 'submit("No")'])
        assert rewards == [1.0, 0.0]
