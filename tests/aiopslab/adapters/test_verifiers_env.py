"""The program of verifiers evaluates a model on an incident: a right and a wrong answer, and a limit of the run."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("verifiers", reason="the extra verifiers is not installed")

from tests.aiopslab.orchestrator.models.endpoint import Answer, Endpoint, open_endpoint

NOOP = "noop_detection_hotel_reservation-1"
LOOK = 'I look at the nodes first.\n\nexec_shell("kubectl get nodes")'


@pytest.fixture
def endpoint() -> Iterator[Endpoint]:
    with open_endpoint() as served:
        yield served


def evaluate(endpoint: Endpoint, folder: Path, *options: str, problems: str = NOOP) -> list[dict[str, Any]]:
    """Run ``vf-eval`` as users do; return the traces of its episodes."""
    command = [str(Path(sys.executable).with_name("vf-eval")), "aiopslab-incidents", "--no-push", "--no-rich"]
    model = ["-m", "small", "--client.base-url", endpoint.url, "--client.api-key-var", "NO_KEY"]
    places = ["--env.taskset.problems", problems, "-o", str(folder), "-c", "1"]
    done = subprocess.run(
        [*command, *model, *places, *options], capture_output=True, text=True, check=False, cwd=folder
    )
    assert done.returncode == 0, done.stderr
    (path,) = folder.glob("*/traces.jsonl")
    episodes = [json.loads(line) for line in path.read_text().splitlines()]
    assert [episode["errors"] for episode in episodes] == [[]] * len(episodes)
    return [trace for episode in episodes for trace in episode["traces"]]


def test_a_model_operates_and_the_verdict_is_the_reward(endpoint: Endpoint, tmp_path: Path) -> None:
    endpoint.answers = [Answer(LOOK), Answer('submit("No")'), Answer("What?"), Answer('submit("Yes")')]
    right, wrong = evaluate(endpoint, tmp_path, "-r", "2")
    assert right["rewards"]["success"]["score"] == 1.0
    assert right["metrics"] == {"steps": 2.0}
    assert right["info"]["results"]["Detection Accuracy"] == "Correct"
    said = [node["message"]["content"] for node in right["nodes"]]
    assert "exec_shell(command: str" in said[0] and said[1] == LOOK and "control-plane" in said[2]
    assert wrong["rewards"]["success"]["score"] == 0.0


def test_an_episode_that_a_limit_of_the_run_ends_is_judged(endpoint: Endpoint, tmp_path: Path) -> None:
    endpoint.answers = [Answer(LOOK)]
    (trace,) = evaluate(endpoint, tmp_path, "--env.agent.max-turns", "1")
    assert trace["stop_condition"] == "max_turns"
    assert trace["rewards"]["success"]["score"] == 0.0
    assert trace["metrics"] == {"steps": 1.0}
