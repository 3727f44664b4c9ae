"""Agents around language models from the command line, against endpoints on loopback."""

from __future__ import annotations

import json
import os
import re
import socket
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from aiopslab.orchestrator import PreparedProblem
from simcloud.world.copies import Copy
from tests.aiopslab.cli.command_line import ROOT, call_aiopslab
from tests.aiopslab.cli.posed_world import Called, called
from tests.aiopslab.orchestrator.models.endpoint import Answer, Endpoint, open_endpoint

PROBLEM = "revoke_auth_mongodb-detection-1"
SECRET = "sk-planted-0123456789abcdef"
LOOK = 'I look first.\n```\nexec_shell("kubectl get ns -o name | head -1")\n```'
SUBMIT = 'Users see errors.\n```\nsubmit("Yes")\n```'
SEEN = "namespace/default"
CALLS = Answer("Two looks.", [("exec_shell", '{"command": "kubectl get ns -o name | head -1"}'),
                              ("exec_shell", '{"command": "echo twice"}')])  # fmt: skip
CALL_SUBMIT = Answer(calls=[("submit", '{"has_anomaly": "Yes"}')])
SCRIPTS = {
    "shell": [Answer(LOOK), Answer(SUBMIT)],
    "react": [Answer(f"Thought: {LOOK}\nObservation: invented"), Answer(SUBMIT)],
    "flash": [
        Answer("PROGRESS: yes"),
        Answer(LOOK),
        Answer("PROGRESS: no"),
        Answer("Learn."),
        Answer(SUBMIT),
    ],
    "toolcall": [CALLS, CALL_SUBMIT],
}


@pytest.fixture(scope="module")
def world(copy_problem: Callable[[str], Copy[PreparedProblem]]) -> Copy[PreparedProblem]:
    return copy_problem(PROBLEM)


@pytest.fixture
def endpoint() -> Iterator[Endpoint]:
    with open_endpoint() as served:
        yield served


def called_with(world: PreparedProblem, environ: dict[str, str], *args: str) -> Called:
    os.environ.update(environ)
    return called(world, *args)


def run(
    world: Copy[PreparedProblem], results: Path, agent: str, model: str, *args: str, **environ: str
) -> tuple[Called, dict[str, Any]]:
    """Run a session; return what was printed, and the record."""
    line = (
        "run",
        PROBLEM,
        "--seed",
        "3",
        "--results",
        str(results),
        "--agent",
        agent,
        "--model",
        model,
        *args,
    )
    with world.branch() as copy:
        done = copy.call(called_with, environ, *line)
    (path,) = results.glob("*.json")
    return done, json.loads(path.read_text())


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
@pytest.mark.parametrize("api", ["openai", "anthropic"])
@pytest.mark.parametrize("agent", SCRIPTS)
def test_each_agent_finishes_an_episode(
    world: Copy[PreparedProblem], endpoint: Endpoint, tmp_path: Path, agent: str, api: str, stream: bool
) -> None:
    endpoint.answers = list(SCRIPTS[agent])
    model = f"{api}:small?base_url={endpoint.url}&stream={int(stream)}&effort=low"
    done, record = run(world, tmp_path, agent, model)
    assert done.code == 0, done.err + done.out
    assert (record["agent"], record["ending"], record["results"]["success"]) == (agent, "submitted", True)
    assert record["steps"][0]["observation"].startswith(SEEN)
    assert SEEN in json.dumps(endpoint.asked[-1].body)
    settings = record["agent_settings"]
    assert (settings["model"], settings["provider"]) == ("small", api)
    assert settings["parameters"] == {"effort": "low"}
    assert settings["prompt"].startswith(f"{agent}-")
    results = record["results"]
    assert results["in_tokens"] == 120 * len(SCRIPTS[agent])
    assert results["tokens_estimated"] is False
    assert "cost_usd" not in results


def test_tools_are_the_actions_with_their_schemas(
    world: Copy[PreparedProblem], endpoint: Endpoint, tmp_path: Path
) -> None:
    endpoint.answers = list(SCRIPTS["toolcall"])
    _, record = run(world, tmp_path, "toolcall", f"small?base_url={endpoint.url}")
    tools = {tool["function"]["name"]: tool["function"] for tool in endpoint.asked[0].body["tools"]}
    documented = record["system_prompt"]["actions"]
    assert list(tools) == list(documented)
    for name, tool in tools.items():
        assert documented[name].endswith(tool["description"])
    command = tools["exec_shell"]["parameters"]["properties"]["command"]
    assert command["type"] == "string"
    assert tools["exec_shell"]["parameters"]["required"] == ["command"]
    assert [step["api_name"] for step in record["steps"]] == ["exec_shell", "exec_shell", "submit"]


def test_the_cost_of_a_known_model_is_in_the_results(
    world: Copy[PreparedProblem], endpoint: Endpoint, tmp_path: Path
) -> None:
    endpoint.listed = [{"id": "gpt-5"}]
    endpoint.answers = [Answer(SUBMIT, tokens=(1_000_000, 0, 600_000))]
    done, record = run(world, tmp_path, "shell", f"gpt-5?base_url={endpoint.url}")
    assert record["results"]["cost_usd"] == pytest.approx(0.4 * 1.25 + 0.6 * 0.125)
    assert record["results"]["cached_tokens"] == 600_000
    assert "1000000 in (600000 cached), 0 out, $0.5750" in done.out


def test_passing_trouble_refusals_and_nonsense_do_not_end_a_session(
    world: Copy[PreparedProblem], endpoint: Endpoint, tmp_path: Path
) -> None:
    endpoint.answers = [
        Answer(status=429, error="slow down", headers={"Retry-After": "0"}),
        Answer("I cannot help with that.", refusal=True),
        Answer(raw=b"{}"),
        Answer(LOOK),
        Answer(status=400, error="Too long.", code="context_length_exceeded"),
        Answer(status=500, error="oops", headers={"Retry-After": "0"}),
        Answer(SUBMIT),
    ]
    done, record = run(world, tmp_path, "react", f"small?base_url={endpoint.url}")
    assert done.code == 0, done.err + done.out
    assert record["results"]["success"] is True
    assert [step["valid"] for step in record["steps"]] == [False, False, True, True]
    assert record["steps"][0]["response"] == "I cannot help with that."
    assert "contains no call" in record["steps"][0]["observation"]


def test_lasting_trouble_ends_the_session_with_its_reason_and_a_record(
    world: Copy[PreparedProblem], endpoint: Endpoint, tmp_path: Path
) -> None:
    endpoint.answers = [Answer(LOOK), Answer(status=401, error="The key was revoked")]
    done, record = run(world, tmp_path, "shell", f"small?base_url={endpoint.url}")
    assert done.code == 1
    assert record["ending"] == "agent error"
    assert "(401: The key was revoked). Check the key in OPENAI_API_KEY." in record["why"]
    assert record["agent_settings"]["model"] == "small"


def test_the_key_is_nowhere_but_in_the_requests(
    world: Copy[PreparedProblem], endpoint: Endpoint, tmp_path: Path
) -> None:
    leak = f"My key is {SECRET}. In parts: echo {SECRET[:15]}.\n{LOOK}"
    endpoint.answers = [Answer(leak), Answer(status=403, error=f"Incorrect API key provided: {SECRET}")]
    model = f"small?base_url={endpoint.url}&api_key_env=MY_API_KEY&note={SECRET}"
    done, record = run(world, tmp_path, "shell", model, "--verbose", MY_API_KEY=SECRET)
    assert endpoint.asked[0].headers["authorization"] == f"Bearer {SECRET}"
    assert "Incorrect API key provided: [redacted]" in record["why"]
    assert SECRET not in done.out + done.err + json.dumps(record)
    assert record["agent_settings"]["parameters"] == {"note": "[redacted]"}


def test_the_agent_that_the_page_registers_is_short_and_works(
    world: Copy[PreparedProblem], endpoint: Endpoint, tmp_path: Path
) -> None:
    page = (ROOT / "docs" / "agents.md").read_text()
    (source,) = re.findall(r"^```python\n(# careful\.py\n.*?)^```$", page, re.DOTALL | re.MULTILINE)
    assert len(source.splitlines()) <= 60
    (tmp_path / "careful.py").write_text(source)
    endpoint.answers = [Answer(SUBMIT), Answer(LOOK), Answer(SUBMIT)]
    model = f"small?base_url={endpoint.url}"
    done, record = run(world, tmp_path / "results", f"{tmp_path / 'careful.py'}:Careful", model)
    assert done.code == 0, done.err + done.out
    assert [step["api_name"] for step in record["steps"]] == ["exec_shell", "submit"]
    assert "which observations support this answer" in endpoint.asked[1].body["messages"][-1]["content"]
    assert record["agent_settings"]["prompt"].startswith("careful-")


def test_an_unreachable_endpoint_is_reported_before_a_world_is_prepared() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # nothing listens there
        url = f"http://127.0.0.1:{taken.getsockname()[1]}/v1"
        done = call_aiopslab(
            "run", PROBLEM, "--agent", "react", "--model", "m", OPENAI_BASE_URL=url, OPENAI_API_KEY=""
        )
    assert (done.returncode, done.stdout) == (2, "")
    assert (
        "cannot be reached: Connection refused. Check that it runs, and the URL in OPENAI_BASE_URL."
        in done.stderr
    )
    assert "deploying" not in done.stderr


def test_a_missing_key_is_reported_before_a_world_is_prepared() -> None:
    nothing = {"ANTHROPIC_API_KEY": "", "ANTHROPIC_BASE_URL": ""}
    done = call_aiopslab("run", PROBLEM, "--agent", "toolcall", "--model", "claude-opus-5-5", **nothing)
    assert (done.returncode, done.stdout) == (2, "")
    assert "Set the environment variable ANTHROPIC_API_KEY" in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1


def test_an_unknown_model_is_reported_before_a_world_is_prepared(endpoint: Endpoint) -> None:
    endpoint.answers = [Answer(status=404, error="The model smol does not exist")]
    done = call_aiopslab(
        "run", PROBLEM, "--agent", "shell", "--model", f"smol?base_url={endpoint.url}", OPENAI_API_KEY="x"
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert "404: The model smol does not exist" in done.stderr
    assert "The endpoint offers: small." in done.stderr
