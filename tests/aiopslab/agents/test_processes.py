"""Agents in processes of their own: what they get of the environment, what they may reach, and what they load."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

import pytest

from aiopslab.agents import NoSuchAgent, make_process
from aiopslab.orchestrator import AgentFailed, AgentNotStarted, SubprocessAgent, Usage

OWN = '''
import asyncio, sys

class Agent:
    """Counts its turns, on one event loop."""

    def __init__(self, model="none"):
        self.turns, self.model = 0, model

    async def get_action(self, state):
        self.turns += 1
        self.loop = getattr(self, "loop", asyncio.get_running_loop())
        assert self.loop is asyncio.get_running_loop()
        print("thinking about", state)
        return f"{self.turns} {self.model} {[name for name in sys.modules if name.startswith('simcloud.')]}"

    def usage(self):
        return {"in_tokens": self.turns * 10, "out_tokens": self.turns}


class Checked(Agent):
    def check(self):
        raise ConnectionError("the endpoint does not answer")


def fails(state):
    raise ValueError("oh dear")


class FailsEarly(Agent):
    def init_context(self, problem, instructions, actions):
        raise ValueError("too much to read")
'''


@pytest.fixture
def own(tmp_path: Path) -> Path:
    path = tmp_path / "own.py"
    path.write_text(OWN)
    return path


def ask(agent: SubprocessAgent, *states: str) -> tuple[list[str], Usage | None]:
    async def session() -> tuple[list[str], Usage | None]:
        linked = agent.link("somebody", timeout_s=120)
        try:
            await linked.start()
            await linked.init("A problem.", "Some instructions.", {"submit": "submit() ends the session."})
            return [await linked.get_action(state) for state in states], linked.usage()
        finally:
            await linked.close()

    return asyncio.run(session())


def test_an_agent_keeps_its_state_and_loads_no_world(own: Path) -> None:
    printed: list[str] = []
    _, agent = make_process(f"{own}:Agent", "gpt-9")
    agent.on_output = printed.append
    answers, usage = ask(agent, "this", "that")
    assert answers == ["1 gpt-9 ['simcloud.exports']", "2 gpt-9 ['simcloud.exports']"]
    assert usage == Usage(20, 2)
    assert "".join(printed) == "thinking about this\nthinking about that\n"


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("fails", "The agent fails raised ValueError: oh dear ({own}, line 27, in fails)"),
        ("FailsEarly", "ValueError: too much to read ({own}, line 32, in init_context)"),
    ],
)
def test_a_failure_is_told_with_file_and_line(own: Path, name: str, told: str) -> None:
    with pytest.raises(AgentFailed) as failure:
        ask(make_process(f"{own}:{name}")[1], "this")
    assert told.format(own=own) in str(failure.value)


@pytest.mark.parametrize(
    ("spec", "told"),
    [
        ("{own}:Checked", "ConnectionError: the endpoint does not answer"),
        ("{own}:Chekced", "Did you mean 'Checked'?"),
        ("nop", "Did you mean 'noop'?"),
    ],
)
def test_what_cannot_work_does_not_start(own: Path, spec: str, told: str) -> None:
    with pytest.raises(AgentNotStarted, match=told.replace("?", r"\?")):
        ask(make_process(spec.format(own=own))[1], "this")


def test_variables_are_passed_by_name(monkeypatch: pytest.MonkeyPatch, own: Path) -> None:
    monkeypatch.setenv("MY_SECRET", "s3cret")
    monkeypatch.setenv("SOME_API_KEY", "a key")
    assert make_process("cmd:sh")[1].env == {}
    assert make_process("cmd:sh", env=["MY_SECRET"])[1].env == {"MY_SECRET": "s3cret"}
    variables = make_process(f"{own}:Agent")[1].env
    assert "MY_SECRET" not in variables
    assert variables["SOME_API_KEY"] == "a key"
    with pytest.raises(NoSuchAgent, match="The environment variable MY_OTHER_KEY is not set"):
        make_process("cmd:sh", env=["MY_OTHER_KEY"])


def test_a_command_is_checked_before_it_starts() -> None:
    assert make_process("cmd:/bin/sh -c 'two words'")[1].argv == ("/bin/sh", "-c", "two words")
    with pytest.raises(NoSuchAgent, match=r"There is no program './bin/my-agent'"):
        make_process("cmd:./bin/my-agent --fast")
    with pytest.raises(NoSuchAgent, match="A command takes no model"):
        make_process("cmd:sh", "gpt-9")


def test_an_isolated_agent_may_reach_its_models(monkeypatch: pytest.MonkeyPatch, own: Path) -> None:
    for name, value in (("OPENAI_BASE_URL", "http://gateway:8000/v1"), ("ANTHROPIC_API_KEY", "a key")):
        monkeypatch.setenv(name, value)
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    _, agent = make_process(f"{own}:Agent", isolate=True, hidden=[Path("records")], endpoints=["db:5432"])
    assert agent.isolation is not None
    assert {"db:5432", "gateway:8000", "api.anthropic.com:443"} <= set(agent.isolation.endpoints)
    assert agent.isolation.hidden == (str(Path("records").absolute()),)
    assert {str(own), str(own.parent), sys.prefix} <= set(agent.isolation.kept)
