"""The agent around a language model: what the model is told, and how long the conversation may get."""

from __future__ import annotations

import pytest

from aiopslab.agents import llm
from aiopslab.agents.llm import LEFT_OUT, LlmAgent
from aiopslab.orchestrator.models import Message, ModelFailed, NoText, Reply, ScriptedModel

ACTIONS = {"exec_shell": "exec_shell(command: str) -> str\nRuns it.", "submit": "submit()"}


class Echo:
    """Notes what it is told, and always says the same."""

    name = "echo"

    def __init__(self) -> None:
        self.heard: list[list[Message]] = []

    def complete(self, messages: list[Message]) -> Reply:
        self.heard.append(list(messages))
        return Reply(f"answer {len(self.heard)}", 10, 2)


def introduced() -> tuple[LlmAgent, Echo]:
    model = Echo()
    agent = LlmAgent(model)  # type: ignore[arg-type]
    agent.init_context("The problem.", "The rules.", ACTIONS)
    return agent, model


def test_the_model_is_told_problem_rules_and_actions_first() -> None:
    agent, model = introduced()
    assert agent.get_action("begin") == "answer 1"
    system, first = model.heard[0]
    assert (system.role, first) == ("system", Message("user", "begin"))
    for text in ("The problem.", "The rules.", "exec_shell", "Runs it."):
        assert text in system.content


def test_it_remembers_what_was_said_and_counts_what_it_used() -> None:
    agent, model = introduced()
    agent.get_action("begin")
    agent.get_action("saw this")
    roles = [message.role for message in model.heard[1]]
    assert roles == ["system", "user", "assistant", "user"]
    assert (agent.usage().in_tokens, agent.usage().out_tokens) == (20, 4)


def test_a_long_observation_is_cut_in_its_middle() -> None:
    agent, model = introduced()
    agent.get_action("a" * 20_000 + "end")
    told = model.heard[0][1].content
    assert len(told) < 13_000
    assert told.endswith("end")
    assert "characters omitted" in told


def test_a_long_conversation_loses_its_oldest_turns_and_says_so() -> None:
    agent, model = introduced()
    for number in range(30):
        agent.get_action(f"{number} " + "x" * (llm.OBSERVATION_CHARS - 100))
    sent = model.heard[-1]
    assert sum(len(message.content) for message in sent[1:]) <= llm.HISTORY_CHARS + len(LEFT_OUT) + 2
    assert sent[1].role == "user"
    assert sent[1].content.startswith(LEFT_OUT)
    assert sent[-1].content.startswith("29 ")


def test_an_answer_without_a_word_costs_a_turn_and_not_the_session() -> None:
    model = ScriptedModel([NoText("nothing came"), "submit()", ModelFailed("it is gone")])
    agent = LlmAgent(model)
    assert agent.get_action("begin") == llm.NO_ANSWER
    assert agent.get_action("There was no call in that.") == "submit()"
    assert [message.role for message in model.asked[1]] == ["system", "user", "assistant", "user"]
    with pytest.raises(ModelFailed, match="gone"):
        agent.get_action("on")
