"""The orchestrator as the papers' third listing uses it, and as somebody at a keyboard ends it."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from aiopslab import Orchestrator
from aiopslab.orchestrator.problems import UnknownProblem

ROOT = Path(__file__).parents[3]
NS = "test-hotel-reservation"


class Model:
    """Stands in for a language model: it answers by what it has been told so far."""

    def run(self, told: list[str]) -> str:
        if len(told) == 1:
            return f'I look first.\n```\nexec_shell("kubectl rollout history deployment/geo -n {NS}")\n```'
        if len(told) == 2:
            return f'```bash\nexec_shell("kubectl rollout undo deployment/geo -n {NS}")\n```'
        if len(told) == 3:
            return f'exec_shell("kubectl rollout status deployment/geo -n {NS} --timeout=25s")'
        return "It works again.\n```\nsubmit()\n```"


class Agent:
    """Knows its problem from the beginning, and asks its model what to do."""

    def __init__(self, description: str, instructions: str, actions: dict[str, str]) -> None:
        self.prompt = "\n\n".join((description, instructions, *actions.values()))
        self.model = Model()
        self.told: list[str] = []

    async def get_action(self, state: str) -> str:
        self.told.append(state)
        return self.model.run(self.told)


@pytest.mark.slow
def test_an_agent_is_brought_in_as_in_the_third_listing(tmp_path: Path) -> None:
    pid = "misconfig_app_hotel_res-mitigation-1"
    said: list[str] = []
    orch = Orchestrator(tmp_path, tell=said.append)
    prob_desc, instructs, apis = orch.init_problem(pid)
    agent = Agent(prob_desc, instructs, apis)
    orch.register_agent(agent, name="myAgent")
    result = asyncio.run(orch.start_problem(max_steps=10))

    assert NS in agent.prompt
    assert set(apis) >= {
        "get_logs",
        "get_metrics",
        "read_metrics",
        "get_traces",
        "read_traces",
        "exec_shell",
        "submit",
    }
    assert result["results"]["success"] is True, result["results"]
    assert set(result) >= {"history", "final_state", "results", "framework_overhead"}
    assert result["results"]["steps"] == 4
    record = json.loads(result["record"].read_text())
    assert record["agent"] == "myAgent"
    (fault,) = record["settings"]["faults"]
    assert (fault["name"], fault["parameters"]["service"]) == ("misconfig_app", "geo")
    assert len(said) >= 3


@pytest.mark.slow
def test_the_agent_may_be_registered_first_and_problems_be_listed() -> None:
    orch = Orchestrator(results=None)
    orch.register_agent(Agent("", "", {}), name="early")
    assert "misconfig_app_hotel_res-mitigation-1" in orch.probs.get_problem_ids("mitigation")
    orch.init_problem("noop_detection_hotel_reservation-1", seed=3)
    result = asyncio.run(orch.start_problem(max_steps=2))
    assert (result["ending"], result["record"], result["record_error"]) == ("step limit", None, None)
    assert orch.session is not None
    assert orch.session.seed == 3


def test_a_mistyped_problem_is_answered_with_the_nearest() -> None:
    with pytest.raises(UnknownProblem, match="misconfig_app_hotel_res-mitigation-1"):
        Orchestrator(None).init_problem("misconfig_app_hotel_res-mitigaton-1")


SCRIPT = """
import asyncio, sys
from aiopslab import Orchestrator
from tests.aiopslab.orchestrator.agents_at_work import interrupting
orch = Orchestrator(sys.argv[1])
orch.register_agent(interrupting(), name="slow")
orch.init_problem("noop_detection_hotel_reservation-1")
asyncio.run(orch.start_problem())
"""


def test_control_c_ends_a_session_in_a_record(tmp_path: Path) -> None:
    results = tmp_path / "results"
    child = subprocess.run(
        [sys.executable, "-c", SCRIPT, str(results)],
        env={**os.environ, "PYTHONPATH": f"{ROOT / 'src'}{os.pathsep}{ROOT}"},
        stderr=subprocess.PIPE,
        text=True,
        timeout=300,
        check=False,
    )
    assert "KeyboardInterrupt" in child.stderr
    assert child.returncode == -signal.SIGINT
    (path,) = results.iterdir()
    record = json.loads(path.read_text())
    assert record["ending"] == "interrupted"
    assert len(record["steps"]) == 1
    assert record["results"]["Detection Accuracy"] == "Invalid Format"
