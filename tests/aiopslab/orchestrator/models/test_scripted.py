from __future__ import annotations

import pytest

from aiopslab.orchestrator.models import ChatModel, Message, ModelFailed, Reply, ScriptedModel, Tool, ToolCall


def test_it_says_what_it_was_told_and_remembers_what_it_was_asked() -> None:
    scripted = ScriptedModel(["one", ModelFailed("The line is dead. Call again.")])
    model: ChatModel = scripted
    assert model.complete([Message("user", "a")]) == Reply("one")
    with pytest.raises(ModelFailed, match="line is dead"):
        model.complete([Message("user", "b")])
    with pytest.raises(ModelFailed, match="has 2 answers"):
        model.complete([Message("user", "c")])
    assert [asked[0].content for asked in scripted.asked] == ["a", "b", "c"]


def test_replies_with_tool_calls_may_be_scripted() -> None:
    look = Tool("look", "Looks.", {"type": "object"})
    reply = Reply("", tool_calls=(ToolCall("1", "look", "{}"),))
    model = ScriptedModel([reply])
    assert model.complete([Message("user", "a")], [look]) is reply
    assert model.tools == (look,)
