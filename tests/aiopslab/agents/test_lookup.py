"""The values that --agent accepts, and the errors for those it does not."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

from aiopslab.agents import NoSuchAgent, agent, find_agent, load_agents, registry
from aiopslab.agents.floors import Noop
from aiopslab.orchestrator.agent import SubprocessAgent
from aiopslab.utils import get_summary

OWN = '''
class Careful:
    """Takes its time."""

    def __init__(self, model="none"):
        self.model = model

    def get_action(self, state):
        return "submit()"


class Needy:
    def __init__(self, wisdom):
        self.wisdom = wisdom

    def get_action(self, state):
        return self.wisdom


class Broken:
    def __init__(self):
        raise OSError("no battery")


def quick(state):
    return "submit()"


NUMBER = 7
'''


@pytest.fixture
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / "own_agents.py"
    path.write_text(OWN)
    monkeypatch.syspath_prepend(str(tmp_path))
    return path


def test_ours_are_known_by_name_and_say_what_they_are() -> None:
    known = load_agents()
    assert {"noop", "yes", "random", "restart-all", "scripted", "engineer", "shell"} <= set(known)
    assert all(get_summary(factory).endswith(".") for factory in known.values())


def test_a_name_makes_a_new_one_each_time() -> None:
    (name, first), (_, second) = find_agent("noop"), find_agent("noop")
    assert name == "noop"
    assert isinstance(first, Noop)
    assert first is not second


@pytest.mark.parametrize(
    ("former", "present"),
    [
        ("idle", "noop"),
        ("alarmist", "yes"),
        ("restarter", "restart-all"),
        ("reverter", "revert-all"),
    ],
)
def test_a_former_name_finds_the_agent_under_its_present_name(former: str, present: str) -> None:
    name, made = find_agent(former)
    assert name == present
    assert type(made) is load_agents()[present]
    assert former not in load_agents()


def test_a_class_in_a_file_gets_the_model_it_asks_for(own: Path) -> None:
    name, made = find_agent(f"{own}:Careful", "gpt-9")
    assert (name, made.model) == ("Careful", "gpt-9")
    assert find_agent(f"{own}:Careful")[1].model == "none"


def test_a_function_in_a_module_is_an_agent(own: Path) -> None:
    name, made = find_agent("own_agents:quick")
    assert (name, made("")) == ("quick", "submit()")
    sys.modules.pop("own_agents", None)


def test_a_command_is_an_agent() -> None:
    name, made = find_agent("cmd:sh -c 'two words'")
    assert name == "sh"
    assert isinstance(made, SubprocessAgent)
    assert made.argv == ("sh", "-c", "two words")


def test_a_model_is_not_passed_over_in_silence() -> None:
    with pytest.raises(NoSuchAgent, match="The agent noop takes no model"):
        find_agent("noop", "gpt-9")


@pytest.mark.parametrize(
    ("named", "told"),
    [
        ("idel", "Did you mean 'idle'?"),
        ("restrt-all", "Did you mean 'restart-all'?"),
        ("nobody", "Known agents: apply-all"),
        ("scripted", "requires 'path'; pass it as scripted:PATH"),
        ("scripted:/no/such/file", "cannot be created"),
        ("llm", "pass it as --model"),
        ("nosuch.py:Name", "There is no file nosuch.py"),
        ("no_such_module:Name", "no_such_module cannot be loaded"),
        ("{own}:Carefull", "Did you mean 'Careful'?"),
        ("{own}:NUMBER", "is not an agent"),
        ("{own}:Needy", "requires 'wisdom'"),
        ("{own}:Broken", "cannot be created: no battery"),
        ("cmd:", "There is no command"),
        ("cmd:'unfinished", "cannot be parsed"),
    ],
)
def test_what_is_no_agent_is_told_with_a_way_out(own: Path, named: str, told: str) -> None:
    with pytest.raises(NoSuchAgent, match=told.replace("(", r"\(").replace("?", r"\?")):
        find_agent(named.replace("{own}", str(own)))


def test_a_file_that_cannot_be_read_is_told(tmp_path: Path) -> None:
    path = tmp_path / "torn.py"
    path.write_text("def (")
    with pytest.raises(NoSuchAgent, match=r"torn\.py cannot be loaded: SyntaxError"):
        find_agent(f"{path}:Name")


def test_a_file_named_as_a_module_takes_nobodys_place(tmp_path: Path) -> None:
    path = tmp_path / "random.py"
    path.write_text("def get_action(state):\n    return 'submit()'\n")
    find_agent(f"{path}:get_action")
    assert hasattr(sys.modules["random"], "Random")


def test_the_agent_of_the_page_is_found_by_its_entry_point(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = (Path(__file__).parents[3] / "docs" / "agents.md").read_text()
    (source,) = re.findall(r"^```python\n(# careful\.py\n.*?)^```$", page, re.DOTALL | re.MULTILINE)
    (points,) = re.findall(r"^```toml\n(.*?)^```$", page, re.DOTALL | re.MULTILINE)
    (tmp_path / "careful.py").write_text(source)
    info = tmp_path / "careful-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: careful\nVersion: 1.0\n")
    lines = points.replace('project.entry-points."', "").replace('"', "")
    (info / "entry_points.txt").write_text(lines)
    monkeypatch.setattr("aiopslab.agents.registry._REGISTERED", dict(registry._REGISTERED))
    monkeypatch.syspath_prepend(str(tmp_path))
    assert load_agents()["careful"].__module__ == "careful"
    with pytest.raises(NoSuchAgent, match="pass it as --model"):
        find_agent("careful")
    sys.modules.pop("careful", None)


def test_two_agents_of_one_name_are_refused() -> None:
    with pytest.raises(ValueError, match="two agents named 'noop'"):
        agent("noop")(type("Other", (), {}))
