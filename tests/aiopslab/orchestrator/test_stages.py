"""Prepared problems in copies: users' own problems cross into them, and what is kept is bounded."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import pytest

from aiopslab.orchestrator.problems import ProblemRegistry, UnknownProblem
from aiopslab.orchestrator.records import comparable
from aiopslab.orchestrator.stages import Stage, Stages, run_episode
from simcloud.world.copies import CopyFailed
from tests.aiopslab.orchestrator.agents_at_work import said

OWN = """
from aiopslab import DetectionTask, HotelReservation, LocalizationTask, VirtFaultInjector


class Port(LocalizationTask):
    id = "own_port-localization-1"

    def __init__(self):
        self.app = HotelReservation()
        self.ans = "geo"

    def inject_fault(self):
        VirtFaultInjector(self.app.ns).inject([self.ans], "scale_pods_to_zero")


class Quiet(DetectionTask):
    id = "own_quiet-detection-1"
    policy = "operator"

    def __init__(self):
        self.app = HotelReservation()
"""
NOOP = "noop_detection_hotel_reservation-1"
LOOK = 'exec_shell("kubectl get deployment geo -n test-hotel-reservation --no-headers; kubectl auth whoami")'


@dataclass
class Prepared:
    stages: Stages
    told: list[str]


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Prepared]:
    file = tmp_path_factory.mktemp("own") / "own.py"
    file.write_text(OWN)
    registry = ProblemRegistry()
    registry.load(file)
    told: list[str] = []
    with Stages(seed=2, registry=registry, tell=told.append) as stages:
        yield Prepared(stages, told)


@pytest.mark.slow
def test_a_user_s_own_problem_is_found_in_copies_and_shares_its_baseline(prepared: Prepared) -> None:
    with prepared.stages.episode("own_port-localization-1") as copy:
        result = copy.call(run_episode, partial(said, LOOK, 'submit(["geo"])'))
    assert result["results"]["success"] is True
    assert result["session"]["expected"] == ["geo"]
    assert "0/0" in result["history"][1]["content"]
    with prepared.stages.episode(NOOP) as copy:
        result = copy.call(run_episode, partial(said, LOOK, 'submit("No")'))
    assert "1/1" in result["history"][1]["content"]
    assert [line.partition(":")[0] for line in prepared.told] == [
        "hotel-reservation",
        "own_port-localization-1",
        NOOP,
    ]


def _loaded(_: Stage) -> set[str]:
    return {name for name in sys.modules if name.startswith("aiopslab.")}


def test_what_an_episode_needs_is_loaded_before_it_is_copied(prepared: Prepared) -> None:
    """What is loaded in a copy is loaded again in the next: an episode would wait for it each time."""
    with prepared.stages.episode(NOOP) as copy:
        before = copy.call(_loaded)
        copy.call(run_episode, partial(said, LOOK, 'submit("No")'))
        assert copy.call(_loaded) == before
    assert "aiopslab.orchestrator.oracles.whole_system" in before  # repairs are judged by it


@pytest.mark.slow
def test_what_an_agent_may_do_belongs_to_the_baseline(prepared: Prepared) -> None:
    with prepared.stages.episode("own_quiet-detection-1") as copy:
        result = copy.call(run_episode, partial(said, LOOK, 'submit("No")'))
    assert "operator" in result["history"][1]["content"]
    assert result["results"]["harm"]["changes_beyond_need"] == []
    assert prepared.told[-2].startswith("hotel-reservation")


def test_copies_live_and_end_one_by_one(prepared: Prepared) -> None:
    copy, other = prepared.stages.episode(NOOP), prepared.stages.episode(NOOP)
    assert copy.pid != other.pid
    copy.close()
    assert other.call(problem_of) == NOOP
    other.close()
    with pytest.raises((CopyFailed, OSError)):
        other.call(problem_of)


def test_so_many_worlds_are_kept_and_no_more(prepared: Prepared, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(prepared.stages, "max_processes", 3)
    problems = ("misconfig_app_hotel_res-detection-1", NOOP, "misconfig_app_hotel_res-detection-1")
    prepared.stages.copy_baseline(NOOP).close()
    before = len(prepared.told)
    for problem in problems:
        with prepared.stages.episode(problem) as copy:
            assert copy.call(problem_of) == problem
    # The baseline, which all need, has stayed; the fault has been injected anew.
    assert [line.partition(":")[0] for line in prepared.told[before:]] == [problems[0], NOOP, problems[2]]


def problem_of(world: Stage) -> str:
    assert world.problem is not None
    return world.problem.task.id


def test_only_loaded_problems_are_known() -> None:
    with Stages() as stages, pytest.raises(UnknownProblem):
        stages.episode("own_port-localization-1")


def test_episodes_of_a_problem_are_the_same_whether_a_copy_was_kept_ready_or_not(prepared: Prepared) -> None:
    agent = partial(said, LOOK, 'submit("No")')
    seen = []
    for _ in range(3):
        with prepared.stages.episode(NOOP) as copy:
            assert copy.call(run_episode, agent)["ending"] == "submitted"
        with prepared.stages.episode(NOOP) as copy:
            seen.append(copy.call(run_episode, agent)["history"])
    assert seen[0] == seen[1] == seen[2]


def open_after_thinking(world: Stage, thinking_s: float) -> None:
    world.open_problem(problem_of(world), thinking_s)


def describe(result: dict[str, Any]) -> Any:
    return comparable(json.loads(json.dumps(result["session"])))


@pytest.mark.parametrize("answers", [(LOOK, 'submit("No")'), ()], ids=["two answers", "no answer"])
def test_thinking_time_that_passed_before_the_copy_changes_nothing(
    prepared: Prepared, answers: tuple[str, ...]
) -> None:
    agent = partial(said, *answers)
    with prepared.stages.episode(NOOP) as copy, copy.branch(open_after_thinking, 5.0) as ahead:
        assert describe(ahead.call(run_episode, agent)) == describe(copy.call(run_episode, agent))


def test_a_copy_that_is_ahead_refuses_episodes_with_another_thinking_time(prepared: Prepared) -> None:
    refusal = "prepared for episodes with thinking_s=5"
    with (
        prepared.stages.episode(NOOP) as copy,
        copy.branch(open_after_thinking, 5.0) as ahead,
        pytest.raises(CopyFailed, match=refusal),
    ):
        ahead.call(run_episode, partial(said, 'submit("No")'), thinking_s=0.0)
