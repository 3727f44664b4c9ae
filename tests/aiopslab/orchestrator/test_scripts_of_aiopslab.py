"""Scripts as users of the public release write them: their imports, their calls, what they take out of a session."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import aiopslab
from aiopslab.orchestrator import Orchestrator
from aiopslab.orchestrator.evaluators.quantitative import (
    is_exact_match,
    is_exact_match_lower,
    is_in_range,
    is_subset,
    is_superset,
    num_steps_taken,
)
from aiopslab.orchestrator.problems.registry import ProblemRegistry
from aiopslab.orchestrator.stages import Stage, Stages
from aiopslab.orchestrator.tasks import DetectionTask, LocalizationTask, Task
from aiopslab.service.apps.hotelres import HotelReservation
from aiopslab.service.apps.socialnet import SocialNetwork
from aiopslab.session import Session, SessionItem
from simcloud.world.copies import Copy
from tests.aiopslab.orchestrator import agents_at_work as agents

PROBLEM = "noop_detection_hotel_reservation-1"


@pytest.fixture(scope="module")
def copy(stages: Stages) -> Iterator[Copy[Stage]]:
    with stages.episode(PROBLEM) as fresh:
        yield fresh


def test_a_name_is_the_same_wherever_it_is_imported_from() -> None:
    assert aiopslab.Orchestrator is Orchestrator
    assert aiopslab.is_exact_match is is_exact_match
    with pytest.raises(AttributeError, match=r"'aiopslab\.orchestrator' has no attribute 'Conductor'"):
        aiopslab.orchestrator.Conductor  # noqa: B018 (naming it is what fails)


def test_the_parser_alone_does_not_load_a_cloud() -> None:
    done = subprocess.run(
        [
            sys.executable, "-c",
            "import sys, aiopslab.orchestrator.parser; print('aiopslab.cloud' in sys.modules)",
        ],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert done.stdout.strip() == "False"


# -- all problems --------------------------------------------------------------------------------


def test_a_script_goes_through_the_registry() -> None:
    registry = ProblemRegistry()
    problems = registry.PROBLEM_REGISTRY
    assert list(problems) == registry.get_problem_ids()
    assert "k8s_target_port-misconfig-detection-1" in problems
    assert registry.get_problem_count() == len(problems)
    assert registry.get_problem_count("mitigation") == len(registry.get_problem_ids(task_type="mitigation"))
    made = problems["revoke_auth_mongodb-localization-2"]()
    assert isinstance(made, LocalizationTask)
    assert (
        made.get_expected()
        == registry.get_problem_instance("revoke_auth_mongodb-localization-2").get_expected()
    )
    problems["mine-localization-7"] = lambda: LocalizationTask(HotelReservation())
    assert registry.get_problem_instance("mine-localization-7").id == "mine-localization-7"
    assert "mine-localization-7" in registry.get_problem_ids("localization")
    del problems["mine-localization-7"]
    assert registry.get_problem("mine-localization-7") is None


# -- what a session leaves -----------------------------------------------------------------------


def session_of_a_script(stage: Stage, folder: Path) -> dict[str, Any]:
    """Everything that scripts ask an orchestrator for when it is done."""
    orchestrator = Orchestrator(results_dir=str(folder))
    assert stage.problem is not None
    orchestrator.use_problem(stage.problem)
    orchestrator.register_agent(agents.said('exec_shell("date")', 'submit("No")'), name="gpt-w-shell")
    output = asyncio.run(orchestrator.start_problem(max_steps=5))
    session = orchestrator.session
    assert isinstance(session, Session)
    told = session.to_dict()
    told["trace"].insert(0, {"role": "system", "content": "mine"})
    return {
        "steps": sum(item.role == "assistant" for item in output["history"]),
        "said": [item.content for item in session.history if item["role"] == "assistant"],
        "dumped": session.history[0].model_dump(),
        "same": json.loads(json.dumps(output["history"])) == session.to_dict()["trace"],
        "told": told,
        "results": json.loads(json.dumps(output["results"])),
        "of_session": json.loads(json.dumps(session.results)),
        "solution": session.solution,
        "id": str(session.session_id),
    }


def test_a_script_takes_its_results_out_of_the_session(copy: Copy[Stage], tmp_path: Path) -> None:
    found = copy.call(session_of_a_script, tmp_path)
    assert found["steps"] == 2
    assert found["said"] == ['exec_shell("date")', 'submit("No")']
    assert found["dumped"] == {"role": "assistant", "content": 'exec_shell("date")'}
    assert found["same"], "what a script does to its dict does not change the session"
    assert found["results"] == found["of_session"]
    assert found["results"]["Detection Accuracy"] == "Correct"
    assert found["solution"] == "No"
    told = found["told"]
    assert told["trace"][0] == {"role": "system", "content": "mine"}
    assert (told["agent"], told["problem_id"]) == ("gpt-w-shell", PROBLEM)
    assert told["start_time"] < told["end_time"]
    (path,) = tmp_path.glob("*.json")
    assert path.name == f"{found['id']}_{told['start_time']}.json"


def test_a_session_that_is_not_over_has_what_is_known_of_it() -> None:
    known = Session("a-detection-1", "somebody", 0, 1, 0.0, 0.0, 5).to_dict()
    assert (known["problem_id"], known["agent"], known["end_time"], known["results"]) == (
        "a-detection-1",
        "somebody",
        None,
        {},
    )


class Where:
    """Notes the loop on which it is asked."""

    asked: asyncio.AbstractEventLoop | None = None

    async def get_action(self, state: str) -> str:
        self.asked = asyncio.get_running_loop()
        return 'submit("No")'


def loops_of(stage: Stage) -> tuple[bool, str, bool, str]:
    """Whether a script's agent was asked on the script's loop, and how the session ended: in a script's loop, and alone."""
    posed = stage.problem
    assert posed is not None

    async def script() -> tuple[bool, str]:
        told = await run()
        return agent.asked is asyncio.get_running_loop(), told["ending"]

    def run() -> Any:
        orchestrator.use_problem(posed)
        orchestrator.register_agent(agent)
        return orchestrator.start_problem(max_steps=2)

    agent, orchestrator = Where(), Orchestrator(results=None)
    here, ending = asyncio.run(script())
    agent = Where()
    with asyncio.Runner() as runner:
        alone = runner.run(run())
        return here, ending, agent.asked is runner.get_loop(), alone["ending"]


def test_an_async_agent_stays_on_the_loop_of_its_script(copy: Copy[Stage]) -> None:
    """There its client's open connections work; a loop that nobody else was on can hold nothing for it."""
    assert copy.call(loops_of) == (True, "submitted", False, "submitted")


# -- an author's own eval ------------------------------------------------------------------------


class TargetPortBase:
    """What the tasks of one fault share, as the public release arranges it."""

    def __init__(self, faulty_service: str = "user-service") -> None:
        self.app = SocialNetwork()
        self.namespace = self.app.namespace
        self.faulty_service = faulty_service

    def inject_fault(self) -> None:
        """Not called here."""


class MyDetection(TargetPortBase, DetectionTask):
    def __init__(self, faulty_service: str = "user-service") -> None:
        TargetPortBase.__init__(self, faulty_service=faulty_service)
        DetectionTask.__init__(self, self.app)

    def eval(self, soln: Any, trace: list[dict[str, str]], duration: float) -> dict[str, Any]:
        self.add_result("answered in", num_steps_taken(trace))
        return super().eval(soln, trace, duration)


class MyLocalization(TargetPortBase, LocalizationTask):
    def __init__(self, faulty_service: str = "user-service") -> None:
        TargetPortBase.__init__(self, faulty_service=faulty_service)
        LocalizationTask.__init__(self, self.app)
        self.ans = self.faulty_service

    def eval(self, soln: Any, trace: list[dict[str, str]], duration: float) -> dict[str, Any]:
        super().eval(soln, trace, duration)
        self.results["success"] = is_exact_match(soln, self.faulty_service)
        self.add_result("myMetric", len(soln))
        return self.results


class AsPrinted(LocalizationTask):
    """The first listing's ``eval``, its gap filled."""

    def __init__(self) -> None:
        self.app = HotelReservation()
        self.ans = "geo"

    def eval(self, soln: Any, trace: list[dict[str, str]], duration: float) -> dict[str, Any]:
        res: dict[str, Any] = {}
        res["TTL"] = duration
        res["success"] = aiopslab.is_exact_match(soln, self.ans)
        return res


SAID = [SessionItem(role="assistant", content="submit()"), SessionItem(role="env", content="taken")]


@pytest.mark.parametrize(
    ("task", "soln", "told"),
    [
        (MyDetection(), "Yes", {"Detection Accuracy": "Correct", "TTD": 9.0, "success": True, "answered in": 1}),
        (MyDetection(), "No", {"Detection Accuracy": "Incorrect", "success": False, "answered in": 1}),
        (MyLocalization(), ["user-service"], {"success": True, "myMetric": 1, "TTL": 9.0, "is_subset": True}),
        (MyLocalization("text-service"), ["user-service", "x"], {"success": False, "myMetric": 2}),
        (AsPrinted(), ["geo"], {"success": True, "TTL": 9.0}),
        (AsPrinted(), ["geo", "rate"], {"success": False}),
    ],
)  # fmt: skip
def test_an_author_s_own_eval(task: Task, soln: Any, told: dict[str, Any]) -> None:
    assert told.items() <= task.eval(soln, SAID, 9.0).items()


def test_two_judgements_of_one_task_are_two_results() -> None:
    task = MyDetection()
    first = task.eval("Yes", SAID, 9.0)
    assert task.eval("No", SAID, 9.0)["success"] is False
    assert first["success"] is True


@pytest.mark.parametrize(
    ("found", "right"),
    [
        (is_exact_match("geo", "geo"), True),
        (is_exact_match(["geo"], "geo"), True),
        (is_exact_match("geo", ["geo"]), True),
        (is_exact_match(["geo", "rate"], "geo"), False),
        (is_exact_match([], "geo"), False),
        (is_exact_match(None, "geo"), False),
        (is_exact_match(9090, 9090), True),
        (is_exact_match([1], 1), False),
        (is_exact_match_lower(" Yes ", "yes"), True),
        (is_in_range(9.5, 10, 0.5), True),
        (is_in_range(9.4, 10, 0.5), False),
        (is_subset(["geo"], ["geo", "rate"]), True),
        (is_subset("geo", ["rate"]), False),
        (is_superset(["geo", "rate"], "geo"), True),
    ],
)
def test_comparisons(found: bool, right: bool) -> None:
    assert found is right
