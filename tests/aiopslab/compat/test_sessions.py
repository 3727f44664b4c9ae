"""Sessions as scripts, servers and the onboarding assessment of the public AIOpsLab release run them."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest

from aiopslab.onboarding_evaluator import Evaluator
from aiopslab.orchestrator import Orchestrator
from aiopslab.orchestrator.actions.base import TaskActions
from aiopslab.orchestrator.tasks import DetectionTask
from aiopslab.service import KubeCtl, current
from aiopslab.service.apps.base import Application
from aiopslab.service.apps.hotelres import HotelReservation
from aiopslab.utils.actions import action
from aiopslab.utils.status import SubmissionStatus

NS = "test-social-network"
PROBLEM = "scale_pod_zero_social_net-mitigation-1"
REPAIR = f"kubectl -n {NS} scale deployment/user-service --replicas=1; sleep 20"


@pytest.fixture(autouse=True)
def alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(current, "_LATEST", [])


class Typist:
    """Answers with prepared texts."""

    def __init__(self, *answers: str) -> None:
        self.answers = list(answers)

    async def get_action(self, input: str) -> str:
        return self.answers.pop(0)


@pytest.mark.slow(keep=1)
def test_a_script_runs_the_loop_itself(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    orchestrator = Orchestrator(results_dir=tmp_path)
    agent = Typist(f'exec_shell("{REPAIR}", timeout=60)', "submit()")
    orchestrator.register_agent(agent, name="mine")
    orchestrator.init_problem(PROBLEM)
    session = orchestrator.session
    assert session is not None
    assert (session.pid, session.agent_name, orchestrator.agent) == (PROBLEM, "mine", agent)
    assert orchestrator.parser.parse("submit()")["api_name"] == "submit"
    problem = session.problem
    assert (problem.namespace, problem.faulty_service) == (NS, "user-service")
    assert problem.kubectl.get_deployment("user-service", NS).spec.replicas == 0
    assert "user-service" in TaskActions.exec_shell(f"kubectl get deployments -n {NS}"), "as servers call it"

    async def run() -> list[str | SubmissionStatus]:
        return [await orchestrator.ask_env(await orchestrator.ask_agent("go")) for _ in range(2)]

    told = asyncio.run(run())
    assert "scaled" in str(told[0])
    assert told[1] is SubmissionStatus.VALID_SUBMISSION
    assert [item.role for item in session.history] == ["assistant", "env"] * 2
    results = problem.eval(session.solution, session.history, session.get_duration())
    assert results["success"]
    session.set_results(results)
    assert json.loads(session.to_json().read_text())["results"]["success"]
    assert capsys.readouterr().out == ""


@pytest.mark.slow
def test_the_assessment_goes_on_after_a_wrong_answer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    evaluator = Evaluator()
    evaluator.register_agent(Typist("submit", f"```\n{REPAIR}\n```", "submit"), name="human")
    evaluator.init_problem(PROBLEM)
    output = asyncio.run(evaluator.start_problem())
    assert output["results"]["success"]
    assert output["final_state"] is SubmissionStatus.VALID_SUBMISSION
    printed = capsys.readouterr().out
    assert "not solved yet" in printed
    assert "Results:" in printed
    assert len(list(tmp_path.glob("results/*.json"))) == 1


class PublicActions(TaskActions):
    """The usual actions and one of an author."""

    @staticmethod
    @action
    def count_pods(namespace: str) -> str:
        """
        Counts the pods of a namespace.

        Args:
            namespace (str): The namespace.

        Returns:
            str: Their number.
        """
        return str(len(KubeCtl().list_pods(namespace).items))


class Own(DetectionTask):
    """A problem with its own texts and actions, in which nothing is wrong."""

    def __init__(self) -> None:
        super().__init__(HotelReservation())
        self.actions = PublicActions()
        self.task_desc = "Detect.\n{app_summary}"
        self.instructions = "Answer."

    def inject_fault(self) -> None:
        KubeCtl().create_configmap("notes", self.namespace, {"a": "b"})

    def eval(self, soln: object, trace: list[dict[str, str]], duration: float) -> dict[str, object]:
        self.add_result("Detection Accuracy", "Correct" if soln == "No" else "Incorrect")
        return super().eval(soln, trace, duration)


@pytest.mark.slow
def test_an_author_s_texts_actions_and_judgement_count() -> None:
    orchestrator = Orchestrator(results=None, tell=lambda _message: None)
    orchestrator.probs.PROBLEM_REGISTRY["own-detection-1"] = Own
    description, instructions, actions = orchestrator.init_problem("own-detection-1")
    assert description.startswith(
        "Detect.\nService Name: hotel-reservation\nNamespace: test-hotel-reservation"
    )
    assert instructions == "Answer."
    assert {"count_pods", "exec_shell", "submit"} <= set(actions)
    orchestrator.register_agent(Typist('count_pods("test-hotel-reservation")', 'submit("No")'))
    output = asyncio.run(orchestrator.start_problem(max_steps=3))
    assert int(output["history"][1]["content"]) > 15
    assert output["results"]["success"]
    assert output["results"]["Detection Accuracy"] == "Correct"


@pytest.mark.slow
def test_an_application_without_a_front_end(tmp_path: Path) -> None:
    (tmp_path / "app.json").write_text(
        '{"Name": "Batch", "Namespace": "batch", "K8S Deploy Path": "pod.yaml"}'
    )
    pod = "apiVersion: v1\nkind: Pod\nmetadata: {name: work}\nspec: {containers: [{name: work, image: nginx}]}\n"
    (tmp_path / "pod.yaml").write_text(pod)
    orchestrator = Orchestrator(results=None, tell=lambda _message: None)
    problems = orchestrator.probs.PROBLEM_REGISTRY
    problems["batch-detection-1"] = lambda: DetectionTask(Application(tmp_path / "app.json"))
    description, _, _ = orchestrator.init_problem("batch-detection-1")
    assert "Entry point" not in description
    orchestrator.register_agent(Typist('exec_shell("kubectl get pods -n batch")', 'submit("No")'))
    output = asyncio.run(orchestrator.start_problem(max_steps=3))
    assert "work" in output["history"][1]["content"]
    assert output["results"]["success"]
