"""Floors answer in the form that the task asks for, and a script is followed to its end."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from aiopslab.agents import load_agents
from aiopslab.agents.engineer import Engineer
from aiopslab.agents.floors import Floor, Noop, RandomAnswer, RestartAll, RevertNewest, Yes
from aiopslab.agents.scripted import Scripted, parse_script
from aiopslab.orchestrator.actions.registry import Action
from aiopslab.orchestrator.parser import ResponseParser
from aiopslab.orchestrator.problems import TYPES, ProblemRegistry
from aiopslab.orchestrator.stages import Stages, run_episode
from aiopslab.orchestrator.tasks import Task

FAMILY = "scale_pod_zero_social_net"
FLOORS = {
    name: factory
    for name, factory in load_agents().items()
    if isinstance(factory, type) and factory.__module__ == Floor.__module__
}
SEEN = "test-social-network   user-service\ntest-social-network   text-service\n"


def problem(task: str) -> Task:
    return ProblemRegistry().get_problem_instance(f"{FAMILY}-{task}-1")


def worked(floor: Floor, task: Task, seen: str = "") -> list[dict[str, object]]:
    """All that it does until it submits."""
    docs = {"submit": Action.of(task.submit, "submit").documentation}  # type: ignore[attr-defined]
    floor.init_context(task.get_task_description(), task.get_instructions(), docs)
    calls = []
    for _ in range(15):
        calls.append(ResponseParser().parse(floor.get_action(seen)))
        if calls[-1]["api_name"] == "submit":
            return calls
    raise AssertionError("it never submits")


@pytest.mark.parametrize("task", TYPES)
@pytest.mark.parametrize("floor", [*FLOORS.values(), Engineer], ids=[*FLOORS, "engineer"])
def test_every_floor_submits_what_every_task_can_take(floor: type[Floor], task: str) -> None:
    registry = ProblemRegistry()
    posed = registry.get_problem_instance(registry.get_problem_ids(task)[-1])
    call = worked(floor(), posed, SEEN)[-1]
    posed.take_submission(call["args"], call["kwargs"])  # type: ignore[arg-type]


def test_noop_says_that_all_is_well() -> None:
    assert [call["args"] for call in worked(Noop(), problem("detection"))] == [["No"]]
    assert [call["args"] for call in worked(Noop(), problem("localization"))] == [[[]]]


def test_yes_names_everything_and_is_not_counted_as_right() -> None:
    posed = problem("localization")
    call = worked(Yes(), posed, SEEN)[-1]
    assert call["args"] == [["user-service", "text-service"]]
    results = posed.eval(posed.take_submission(call["args"], {}), [], 1.0)  # type: ignore[arg-type]
    assert (results["success"], results["is_subset"]) == (False, True)


def test_restart_all_restarts_before_it_submits() -> None:
    lines = [call["args"] for call in worked(RestartAll(), problem("mitigation"))]
    assert "rollout restart" in str(lines[0])
    assert "delete pods --all" in str(lines[1])


def test_the_blind_repairs_are_typed_in_the_namespace_of_the_application() -> None:
    for name, floor in FLOORS.items():
        lines = str([call["args"] for call in worked(floor(), problem("mitigation"), SEEN)])
        assert "{ns}" not in lines, name
    assert "kubectl -n test-social-network get" in str(worked(RevertNewest(), problem("mitigation"))[0])


def test_revert_newest_names_the_object() -> None:
    call = worked(RevertNewest(), problem("localization"), "service/user-service\n\nTake your next action.")
    assert call[-1]["args"] == [["service/user-service"]]


def test_random_draws_the_same_from_the_same_observations() -> None:
    def draw(seen: str, seed: str = "") -> object:
        return worked(RandomAnswer(seed), problem("localization"), SEEN + seen)[-1]["args"]

    draws = [draw(f"test-social-network user-service-{number} 1m 20Mi") for number in range(20)]
    assert draws == [draw(f"test-social-network user-service-{number} 1m 20Mi") for number in range(20)]
    assert sorted({str(drawn) for drawn in draws}) == ["[['text-service']]", "[['user-service']]"]
    assert len({str(draw("", str(seed))) for seed in range(20)}) == 2


def test_yes_scores_chance_on_drawn_detections() -> None:
    registry = ProblemRegistry()
    detections = [pid for pid in registry.get_problem_ids("detection") if registry.is_drawn(pid)]
    right = 0
    for pid in detections:
        posed = registry.get_problem_instance(pid, 11)
        right += posed.eval(posed.take_submission(("Yes",), {}), [], 1.0)["success"]
    assert 0.4 < right / len(detections) < 0.6


@pytest.mark.slow(keep=2)
@pytest.mark.parametrize(
    ("name", "pid", "success"),
    [
        ("noop", "misconfig_app_hotel_res-mitigation-1", False),
        ("noop", "scale_pod_zero_social_net-mitigation-1", False),
        ("noop", "deleted_service_hotel_res-mitigation", False),
        ("noop", "wrong_image_hotel_res-mitigation", False),
        ("yes", "misconfig_app_hotel_res-detection-1", True),
        ("yes", "scale_pod_zero_social_net-detection-1", True),
        ("yes", "noop_detection_hotel_reservation-1", False),
        ("yes", "noop_detection_social_network-1", False),
    ],
)
def test_noop_scores_0_on_mitigation_and_yes_chance_on_detection(
    stages: Stages, name: str, pid: str, success: bool
) -> None:
    with stages.episode(pid) as world:
        done: dict[str, Any] = world.call(run_episode, FLOORS[name], name)
    assert done["results"]["success"] is success


@pytest.mark.slow(keep=1)
@pytest.mark.parametrize("name", [name for name in FLOORS if name not in ("noop", "yes")])
def test_a_floor_types_commands_that_run(stages: Stages, name: str) -> None:
    """Each line ends without an error of the shell, and the session with a verdict."""

    with stages.episode("misconfig_app_hotel_res-mitigation-1") as world:
        done: dict[str, Any] = world.call(run_episode, FLOORS[name], name)
    seen = str(done["history"])
    assert done["ending"] == "submitted"
    assert "syntax error" not in seen and "command not found" not in seen


def test_whoever_has_said_everything_says_so() -> None:
    floor = Noop()
    worked(floor, problem("detection"))
    with pytest.raises(RuntimeError, match="has no more actions"):
        floor.get_action("")


def test_a_script_is_lines_and_blocks() -> None:
    text = (
        '# look\nexec_shell("kubectl get pods -A")\n\n```\nexec_shell("""a\n# b""")\n```\n  submit("Yes")\n'
    )
    parsed = [ResponseParser().parse(one) for one in parse_script(text)]
    assert [(one["api_name"], one["args"]) for one in parsed] == [
        ("exec_shell", ["kubectl get pods -A"]),
        ("exec_shell", ["a\n# b"]),
        ("submit", ["Yes"]),
    ]


def test_a_script_that_ends_too_early_says_so(tmp_path: Path) -> None:
    path = tmp_path / "actions.txt"
    path.write_text('exec_shell("true")\n')
    agent = Scripted(str(path))
    agent.get_action("")
    with pytest.raises(RuntimeError, match=r"actions\.txt has no more actions"):
        agent.get_action("")
