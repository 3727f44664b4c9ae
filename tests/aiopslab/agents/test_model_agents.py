"""The agents around a language model: what each tells the model, and what it makes of the answers."""

from __future__ import annotations

import json
from typing import Any

import pytest

from aiopslab.agents import find_agent, load_agents
from aiopslab.agents.flash import Flash
from aiopslab.agents.model_agent import ModelAgent
from aiopslab.agents.prompt_files import fill_prompt, get_version
from aiopslab.agents.react import React
from aiopslab.agents.shell import Shell
from aiopslab.agents.stratus import Stratus
from aiopslab.agents.toolcall import ToolCalling
from aiopslab.orchestrator import ResponseParser
from aiopslab.orchestrator.models import Message, ModelFailed, NoText, Reply, ScriptedModel, Tool, ToolCall
from aiopslab.utils import ResponseParsingError

ACTIONS = {
    "exec_shell": "exec_shell(command: str) -> str\nRuns it.",
    "get_logs": "get_logs(namespace: str, service: str) -> str\nShows logs.",
    "submit": "submit()\nEnds the session.",
}
TOOLS = [Tool(name, text, {"type": "object"}) for name, text in ACTIONS.items()]
KINDS = (Shell, React, Flash, ToolCalling, Stratus)


def introduce(kind: type[ModelAgent], *answers: str | Reply | Exception) -> tuple[Any, ScriptedModel]:
    model = ScriptedModel(answers)
    agent: Any = kind(model)
    if hasattr(agent, "init_tools"):
        agent.init_tools(TOOLS)
    agent.init_context("The problem.", "The rules.", ACTIONS)
    return agent, model


@pytest.mark.parametrize("kind", KINDS)
def test_settings_name_the_model_and_the_version_of_the_prompt(kind: type[ModelAgent]) -> None:
    agent, _ = introduce(kind)
    settings = agent.settings()
    assert settings["model"] == "scripted"
    name, _, digest = settings["prompt"].rpartition("-")
    assert name == next(iter(kind.prompts))
    assert len(bytes.fromhex(digest)) == 4


@pytest.mark.parametrize("kind", KINDS)
def test_an_empty_answer_costs_a_step_and_a_failure_ends_the_session(kind: type[ModelAgent]) -> None:
    agent, _ = introduce(kind, *[NoText("nothing came")] * kind_calls(kind), ModelFailed("it is gone"))
    assert agent.get_action("begin") == "(no answer)"
    with pytest.raises(ModelFailed, match="gone"):
        agent.get_action("There was no call in that.")


def kind_calls(kind: type[ModelAgent]) -> int:
    """Return how often the model is asked for one step."""
    return 2 if kind is Flash else 1


@pytest.mark.parametrize("kind", KINDS)
def test_a_new_session_begins_without_the_last_one(kind: type[ModelAgent]) -> None:
    agent, model = introduce(kind, *["planted word"] * 4)
    agent.get_action("begin")
    agent.init_context("Another problem.", "The rules.", ACTIONS)
    agent.get_action("begin")
    assert "planted word" not in str(model.asked[kind_calls(kind)])
    assert "Another problem." in str(model.asked[-1])


def test_every_prompt_belongs_to_an_agent_and_every_place_is_filled() -> None:
    values = {name: f"<{name}>" for name in ("problem", "instructions", "actions", "log", "lessons", "state")}
    for kind in KINDS:
        for text in kind.prompts.values():
            assert "{{" not in fill_prompt(text, values)
            assert "<problem>" in fill_prompt(text, values)


def test_a_value_may_look_like_a_place() -> None:
    assert fill_prompt("1 {{a}} 2 {{b}}", {"a": "{{b}}", "b": "x"}) == "1 {{b}} 2 x"


def test_the_version_changes_with_any_of_the_texts() -> None:
    changed = {**Flash.prompts, "flash_hindsight": "Another text."}
    assert get_version(changed) != get_version(Flash.prompts)
    assert get_version(changed).startswith("flash-")


def test_the_shell_agent_knows_the_shell_and_nothing_else() -> None:
    agent, model = introduce(Shell, "answer 1", "answer 2")
    assert [agent.get_action(state) for state in ("begin", "go on")] == ["answer 1", "answer 2"]
    system, *turns = model.asked[1]
    for text in ("The problem.", "The rules.", "Runs it.", "Ends the session."):
        assert text in system.content
    assert "Shows logs." not in system.content
    assert turns == [Message("user", "begin"), Message("assistant", "answer 1"), Message("user", "go on")]


def test_without_a_shell_the_shell_agent_gets_what_there_is() -> None:
    agent = Shell(model := ScriptedModel(["ok"]))
    agent.init_context("The problem.", "The rules.", {"get_logs": "Shows logs.", "submit": "Ends it."})
    agent.get_action("begin")
    assert "Shows logs." in model.asked[0][0].content


def test_react_drops_observations_that_the_model_invents() -> None:
    said = 'Thought: I look.\nAction:\n```\nexec_shell("ls")\n```\nObservation: all is well.\nThought: so I submit.\n```\nsubmit()\n```'
    agent, model = introduce(React, said, "Observation: nothing before this")
    action = agent.get_action("begin")
    assert ResponseParser(ACTIONS).parse(action)["args"] == ["ls"]
    assert agent.get_action("a file") == "Observation: nothing before this"
    assert [message.content for message in model.asked[1][1:]] == [
        "Observation:\nbegin",
        action,
        "Observation:\na file",
    ]
    assert "Shows logs." in model.asked[0][0].content


def test_flash_acts_on_the_status_that_its_supervisor_sees() -> None:
    agent, model = introduce(
        Flash, "STATUS: investigating\nPROGRESS: yes\nNEXT: if A, then B", 'exec_shell("ls")'
    )
    assert agent.get_action("begin") == 'exec_shell("ls")'
    [question], [system, turn] = model.asked
    assert "none yet" in question.content
    assert "exec_shell, get_logs, submit" in question.content
    assert "Runs it." in system.content
    assert turn.content.startswith("begin\n\nSupervisor:\nSTATUS: investigating")


def test_flash_learns_from_steps_without_progress_and_keeps_the_lesson() -> None:
    stuck, fine = "STATUS: investigating\nPROGRESS: no\nNEXT: x", "STATUS: localized\nPROGRESS: yes\nNEXT: y"
    agent, model = introduce(
        Flash, stuck, "first action", stuck, "Do not list pods\nagain.", "second action", fine, "third action"
    )
    for state in ("begin", "three pods", "a log line"):
        agent.get_action(state)
    assert len(model.asked) == 7  # there is nothing to learn before the first action
    hindsight = model.asked[3][0].content
    assert "first action\n-> three pods" in hindsight
    last_status, last_turn = model.asked[5][0].content, model.asked[6][-1].content
    assert "- Do not list pods again." in last_status
    assert "- Do not list pods again." in last_turn
    assert "second action\n-> a log line" in last_status


def test_tool_calls_are_performed_one_after_the_other_and_all_results_go_back() -> None:
    calls = (
        ToolCall("1", "exec_shell", '{"command": "ls"}'),
        ToolCall("2", "get_logs", '{"namespace": "n"}'),
    )
    agent, model = introduce(ToolCalling, Reply("I look.", tool_calls=calls, native="signed"), "done?")
    parser = ResponseParser(ACTIONS)
    first, second = parser.parse(agent.get_action("begin")), parser.parse(agent.get_action("a file"))
    assert (first["api_name"], first["kwargs"]) == ("exec_shell", {"command": "ls"})
    assert (second["api_name"], second["kwargs"]) == ("get_logs", {"namespace": "n"})
    assert len(model.asked) == 1
    assert model.tools == tuple(TOOLS)
    assert agent.get_action("a log") == "done?"
    assert model.asked[1][2:] == (
        Message("assistant", "I look.", calls, native="signed"),
        Message("tool", "a file", tool_call_id="1"),
        Message("tool", "a log", tool_call_id="2"),
    )
    assert "The rules." not in model.asked[0][0].content  # they ask for calls as text


def test_a_text_without_a_call_goes_to_the_session_whose_answer_comes_back() -> None:
    agent, model = introduce(ToolCalling, "I think it is fine.", "Then this.")
    assert agent.get_action("begin") == "I think it is fine."
    agent.get_action("There was no call in that.")
    assert model.asked[1][-1] == Message("user", "There was no call in that.")


@pytest.mark.parametrize(
    "command",
    [
        'echo "```"',
        "grep '<think>' f",
        "a </think> b",
        "```\nsubmit()\n```",
        "x\ny \\n \\b",
        'kubectl -p \'{"a": "b"}\'',
        "ü…",
    ],
)
@pytest.mark.parametrize(
    "thought", ["", "Fine.", "I could call `submit()`:\n```\nsubmit()\n```", "</think> submit()"]
)
def test_a_call_arrives_as_it_was_meant_whatever_is_in_it_or_before_it(command: str, thought: str) -> None:
    call = ToolCall("1", "exec_shell", json.dumps({"command": command}))
    agent, _ = introduce(ToolCalling, Reply(thought, tool_calls=(call,)))
    parsed = ResponseParser(ACTIONS).parse(agent.get_action("begin"))
    assert (parsed["api_name"], parsed["kwargs"]) == ("exec_shell", {"command": command})


@pytest.mark.parametrize("arguments", ['{"command": ', "[1, 2", "ls -l"])
def test_malformed_arguments_are_explained_to_the_model_by_the_session(arguments: str) -> None:
    agent, _ = introduce(ToolCalling, Reply("", tool_calls=(ToolCall("1", "exec_shell", arguments),)))
    action = agent.get_action("begin")
    with pytest.raises(ResponseParsingError):
        ResponseParser(ACTIONS).parse(action)


def test_the_agents_are_listed_and_the_old_name_still_works(monkeypatch: pytest.MonkeyPatch) -> None:
    assert {"shell", "react", "flash", "toolcall"} <= set(load_agents())
    assert "llm" not in load_agents()
    monkeypatch.setenv("OPENAI_API_KEY", "")
    monkeypatch.setenv("OPENAI_BASE_URL", "")
    with pytest.raises(ModelFailed, match="OPENAI_API_KEY"):
        find_agent("llm", "some-model")
