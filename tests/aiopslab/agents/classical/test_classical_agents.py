"""Classical agents answer the task that they are made for, and decline others."""

from __future__ import annotations

from functools import partial
from importlib import util
from typing import Any

import pytest

from aiopslab.agents import load_agents
from aiopslab.agents.classical import Mksmc, PDiagnose, RcaEval, Rmlad
from aiopslab.agents.classical.agent import NotItsTask
from aiopslab.agents.floors import Floor
from aiopslab.orchestrator.actions.registry import Action
from aiopslab.orchestrator.problems import ProblemRegistry
from aiopslab.orchestrator.stages import Stages, run_episode
from aiopslab.utils import AIOpsLabError

SEED = 5


def introduce(agent: Floor, pid: str) -> None:
    task = ProblemRegistry().get_problem_instance(pid)
    docs = {"submit": Action.of(task.submit, "submit").documentation}  # type: ignore[attr-defined]
    agent.init_context(task.get_task_description(), task.get_instructions(), docs)


@pytest.mark.parametrize("task", ["localization-1", "analysis-1", "mitigation-1"])
def test_a_detector_declines_other_tasks(task: str) -> None:
    with pytest.raises(NotItsTask, match="answers detection tasks only"):
        introduce(Mksmc(), f"scale_pod_zero_social_net-{task}")


@pytest.mark.parametrize("agent", [PDiagnose, Rmlad])
def test_a_localizer_declines_other_tasks_and_knows_the_components(agent: type[PDiagnose | Rmlad]) -> None:
    with pytest.raises(NotItsTask, match="answers localization tasks only"):
        introduce(agent(), "scale_pod_zero_social_net-detection-1")
    made = agent()
    introduce(made, "scale_pod_zero_social_net-localization-1")
    assert "user-service" in made.components
    assert made.namespace == "test-social-network"


def test_the_number_of_names_must_be_a_number() -> None:
    assert PDiagnose("3").names == 3
    with pytest.raises(AIOpsLabError, match="must be a number, not 'all'"):
        PDiagnose("all")


def test_they_are_registered() -> None:
    assert {"mksmc", "pdiagnose", "rmlad", "rcaeval"} <= set(load_agents())


def run(stages: Stages, agent: Any, pid: str) -> dict[str, Any]:
    with stages.episode(pid) as world:
        done: dict[str, Any] = world.call(run_episode, agent, "agent")
    return done


@pytest.mark.slow(keep=1)
@pytest.mark.parametrize(
    ("agent", "pid"),
    [
        (Mksmc, "noop_detection_hotel_reservation-1"),
        (PDiagnose, "misconfig_app_hotel_res-localization-1"),
        (Rmlad, "scale_pod_zero_social_net-localization-1"),
        (Mksmc, "misconfig_app_hotel_res-detection-1"),
    ],
)
def test_they_solve_a_problem_through_the_actions(stages: Stages, agent: type[Floor], pid: str) -> None:
    done = run(stages, agent, pid)
    assert done["ending"] == "submitted"
    assert done["results"]["success"], done["results"]


@pytest.mark.slow
def test_more_names_are_submitted_if_asked_for(stages: Stages) -> None:
    done = run(stages, partial(PDiagnose, "3"), "misconfig_app_hotel_res-localization-1")
    assert done["results"]["accuracy@3"] == 100.0
    assert len(done["session"]["steps"][-1]["args"][0]) == 3


@pytest.mark.slow
def test_a_declined_task_is_an_error_of_its_own_and_no_wrong_answer(stages: Stages) -> None:
    done = run(stages, Mksmc, "misconfig_app_hotel_res-localization-1")
    assert done["ending"] == "agent error"
    assert "answers detection tasks only" in done["why"]
    assert done["results"]["success"] is None


@pytest.mark.slow
@pytest.mark.skipif(util.find_spec("RCAEval") is None, reason="the extra rcaeval is not installed")
@pytest.mark.parametrize("method", ["baro", "nsigma", "tracerca", "microrank"])
def test_the_baselines_of_rcaeval_name_components(stages: Stages, method: str) -> None:
    done = run(stages, partial(RcaEval, f"{method}:3"), "misconfig_app_hotel_res-localization-1")
    assert done["ending"] == "submitted", done["why"]
    assert 1 <= len(done["session"]["steps"][-1]["args"][0]) <= 3  # it may rank fewer components
