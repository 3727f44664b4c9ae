"""Floors answer in the form that the task asks for, and a script is followed to its end."""

from __future__ import annotations

from pathlib import Path

import pytest

from aiopslab.agents.engineer import Engineer
from aiopslab.agents.floors import Alarmist, Floor, Idle, Restarter, Reverter
from aiopslab.agents.scripted import Scripted, parse_script
from aiopslab.orchestrator.actions.registry import Action
from aiopslab.orchestrator.parser import ResponseParser
from aiopslab.orchestrator.problems import TYPES, ProblemRegistry
from aiopslab.orchestrator.tasks import Task

FAMILY = "scale_pod_zero_social_net"
SEEN = "test-social-network   user-service\ntest-social-network   text-service\n"


def problem(task: str) -> Task:
    return ProblemRegistry().get_problem_instance(f"{FAMILY}-{task}-1")


def worked(floor: Floor, task: Task, seen: str = "") -> list[dict[str, object]]:
    """All that it does until it submits."""
    docs = {"submit": Action.of(task.submit, "submit").documentation}  # type: ignore[attr-defined]
    floor.init_context(task.get_task_description(), task.get_instructions(), docs)
    calls = []
    for _ in range(10):
        calls.append(ResponseParser().parse(floor.get_action(seen)))
        if calls[-1]["api_name"] == "submit":
            return calls
    raise AssertionError("it never submits")


@pytest.mark.parametrize("task", TYPES)
@pytest.mark.parametrize("floor", [Idle, Alarmist, Restarter, Reverter, Engineer])
def test_every_floor_submits_what_every_task_can_take(floor: type[Floor], task: str) -> None:
    registry = ProblemRegistry()
    posed = registry.get_problem_instance(registry.get_problem_ids(task)[-1])
    call = worked(floor(), posed, SEEN)[-1]
    posed.take_submission(call["args"], call["kwargs"])  # type: ignore[arg-type]


def test_the_idle_one_says_that_all_is_well() -> None:
    assert [call["args"] for call in worked(Idle(), problem("detection"))] == [["No"]]
    assert [call["args"] for call in worked(Idle(), problem("localization"))] == [[[]]]


def test_the_alarmist_names_everything_and_is_not_taken_for_right() -> None:
    posed = problem("localization")
    call = worked(Alarmist(), posed, SEEN)[-1]
    assert call["args"] == [["user-service", "text-service"]]
    results = posed.eval(posed.take_submission(call["args"], {}), [], 1.0)  # type: ignore[arg-type]
    assert (results["success"], results["is_subset"]) == (False, True)


def test_the_restarter_restarts_before_it_submits() -> None:
    lines = [call["args"] for call in worked(Restarter(), problem("mitigation"))]
    assert "rollout restart" in str(lines[0])
    assert "delete pods --all" in str(lines[1])


def test_whoever_has_said_everything_says_so() -> None:
    floor = Idle()
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
