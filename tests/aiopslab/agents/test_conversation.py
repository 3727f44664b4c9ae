"""A conversation stays within the context window, and its cost is counted."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given, strategies as st

from aiopslab.agents.conversation import KEPT, LEFT_OUT, NO_ANSWER, Conversation, Meter
from aiopslab.orchestrator import Usage
from aiopslab.orchestrator.models import (
    ContextOverflow,
    Message,
    NoText,
    Reply,
    ScriptedModel,
    Tool,
    ToolCall,
)

WINDOW_TOKENS = 4_000
ROOM_CHARS = 3_000 * 3
TOO_LONG = ContextOverflow("The conversation is too long.")


def make(answers: list[str | Reply | Exception]) -> tuple[Conversation, ScriptedModel]:
    model = ScriptedModel(answers, context_tokens=WINDOW_TOKENS)
    conversation = Conversation(Meter(model))
    conversation.start("The system prompt.")
    return conversation, model


def count_chars(messages: tuple[Message, ...]) -> int:
    return sum(len(message.content) for message in messages)


def test_the_model_reads_everything_while_there_is_room() -> None:
    conversation, model = make(["first", "second"])
    for state in ("begin", "go on"):
        conversation.add(Message("user", state))
        conversation.ask()
    assert [message.content for message in model.asked[-1]] == [
        "The system prompt.",
        "begin",
        "first",
        "go on",
    ]


def test_a_long_observation_loses_its_middle() -> None:
    conversation, model = make(["ok"])
    conversation.add(Message("user", "a" * 20_000 + "end"))
    conversation.ask()
    sent = model.asked[0][-1].content
    assert len(sent) < ROOM_CHARS // 4 + 100
    assert sent.endswith("end")
    assert "characters omitted" in sent


def test_old_observations_make_room_before_old_replies_do() -> None:
    conversation, model = make([f"reply {number}" for number in range(6)])
    for number in range(6):
        conversation.add(Message("user", f"{number} " + "x" * 2_000))
        conversation.ask()
    sent = model.asked[-1]
    assert count_chars(sent) <= ROOM_CHARS
    assert "Removed to save space: an earlier observation of 2002 characters" in sent[1].content
    assert [message.content for message in sent if message.role == "assistant"] == [
        f"reply {n}" for n in range(5)
    ]
    assert sent[-1].content.startswith("5 ")


def test_room_is_made_rarely_so_that_the_beginning_stays_the_same() -> None:
    conversation, model = make(["ok"] * 40)
    for number in range(40):
        conversation.add(Message("user", f"{number} " + "x" * 1_000))
        conversation.ask()
    kept = [
        asked[: len(before)] == before for before, asked in zip(model.asked, model.asked[1:], strict=False)
    ]
    assert kept.count(False) < len(kept) / 3
    assert all(count_chars(asked) <= ROOM_CHARS for asked in model.asked)


def test_when_replies_alone_are_too_long_the_oldest_turns_go() -> None:
    conversation, model = make(["y" * 2_000] * 8)
    for _ in range(8):
        conversation.add(Message("user", "go on"))
        conversation.ask()
    sent = model.asked[-1]
    assert count_chars(sent) <= ROOM_CHARS
    assert (sent[1].role, sent[1].content) == ("user", LEFT_OUT)
    assert sent[2].role == "assistant"


def test_calls_and_their_results_stay_together() -> None:
    calls = (ToolCall("1", "look", "z" * 1_500), ToolCall("2", "look", "{}"))
    conversation, model = make([Reply("", tool_calls=calls)] * 6)
    tool = Tool("look", "Looks.", {"type": "object"})
    conversation.add(Message("user", "begin"))
    for _ in range(6):
        conversation.ask([tool])
        for call in calls:
            conversation.add(Message("tool", "seen " * 100, tool_call_id=call.id))
    for asked in model.asked:
        waiting: list[str] = []
        for message in asked:
            if message.role == "tool":
                waiting.remove(message.tool_call_id)
            else:
                assert not waiting
                waiting = [call.id for call in message.tool_calls]


def test_a_window_smaller_than_believed_is_met_by_sending_less() -> None:
    conversation, model = make(["a", "b", TOO_LONG, TOO_LONG, "c", "d"])
    for number in range(4):
        conversation.add(Message("user", f"{number} " + "x" * 2_000))
        conversation.ask()
    sizes = [count_chars(asked) for asked in model.asked]
    assert sizes[3] < sizes[2] * KEPT + 1
    assert sizes[4] < sizes[3] * KEPT + 1
    assert sizes[5] <= sizes[3]  # it has learnt how much the model can read


STEPS = st.lists(
    st.tuples(st.integers(0, 6_000), st.integers(0, 6_000), st.integers(0, 3)), min_size=1, max_size=25
)


@given(STEPS)
def test_any_conversation_fits_and_stays_in_order(steps: list[tuple[int, int, int]]) -> None:
    calls = tuple(ToolCall(str(number), "look", "{}") for number in range(3))
    conversation, model = make([Reply("r" * said, tool_calls=calls[:count]) for _, said, count in steps])
    tool = Tool("look", "Looks.", {"type": "object"})
    running: tuple[ToolCall, ...] = ()
    for seen, _, _ in steps:
        for call in running:
            conversation.add(Message("tool", "s" * seen, tool_call_id=call.id))
        if not running:
            conversation.add(Message("user", "s" * seen))
        running = conversation.ask([tool]).tool_calls
    for asked in model.asked:
        assert count_chars(asked) <= ROOM_CHARS
        assert [message.role for message in asked[:2]] == ["system", "user"]
        waiting: list[str] = []
        for message in asked:
            if message.role == "tool":
                waiting.remove(message.tool_call_id)
            else:
                assert not waiting
                waiting = [call.id for call in message.tool_calls]
        assert not waiting


@pytest.mark.parametrize("chars_per_token", [1.5, 2.0, 3.5])
def test_the_estimate_is_corrected_by_the_counts_of_the_model(chars_per_token: float) -> None:
    class Counting(ScriptedModel):
        def complete(self, messages: Sequence[Message], tools: Sequence[Tool] = ()) -> Reply:
            super().complete(messages, tools)
            return Reply("ok", int(count_chars(tuple(messages)) / chars_per_token), 1)

    model = Counting([""] * 60, context_tokens=WINDOW_TOKENS)
    conversation = Conversation(Meter(model))
    conversation.start("The system prompt.")
    for number in range(60):
        conversation.add(Message("user", f"{number} " + "x" * 400))
        conversation.ask()
    tokens = [count_chars(asked) / chars_per_token for asked in model.asked]
    assert max(tokens) <= WINDOW_TOKENS
    assert max(tokens[10:]) > WINDOW_TOKENS / 2


def test_a_conversation_that_no_window_can_hold_ends_in_its_error() -> None:
    conversation, _ = make([TOO_LONG] * 9)
    conversation.add(Message("user", "begin"))
    with pytest.raises(ContextOverflow):
        conversation.ask()


def test_a_question_aside_is_no_part_of_the_conversation_and_may_be_too_long_as_well() -> None:
    conversation, model = make([TOO_LONG, TOO_LONG, "aside", "answer"])
    assert conversation.ask_aside(lambda room_chars: "q" * room_chars) == "aside"
    sizes = [count_chars(asked) for asked in model.asked]
    assert sizes == [ROOM_CHARS, int(ROOM_CHARS * KEPT), int(ROOM_CHARS * KEPT * KEPT)]
    conversation.add(Message("user", "begin"))
    conversation.ask()
    assert [message.content for message in model.asked[-1]] == ["The system prompt.", "begin"]
    conversation, _ = make([TOO_LONG] * 9)
    with pytest.raises(ContextOverflow):
        conversation.ask_aside(lambda room_chars: "q")


def test_an_empty_answer_costs_a_turn_and_not_the_session() -> None:
    conversation, _ = make([NoText("nothing came")])
    conversation.add(Message("user", "begin"))
    assert conversation.ask().text == NO_ANSWER


def test_tokens_and_cost_are_summed() -> None:
    meter = Meter(
        ScriptedModel([Reply("a", 10, 2, cached_tokens=4, cost_usd=0.5), Reply("b", 20, 3, cost_usd=0.25)])
    )
    assert meter.usage() is None
    for _ in range(2):
        meter.complete([Message("user", "x")])
    assert meter.usage() == Usage(30, 5, 0.75, 4)


def test_an_empty_answer_is_counted_too() -> None:
    meter = Meter(ScriptedModel([NoText("nothing came", Reply("", 10, 9, cost_usd=0.5))]))
    meter.complete([Message("user", "x")])
    assert meter.usage() == Usage(10, 9, 0.5, 0)


def test_the_cost_is_unknown_if_that_of_one_reply_is() -> None:
    meter = Meter(ScriptedModel([Reply("a", 10, 2, cost_usd=0.5), Reply("b", 20, 3)]))
    for _ in range(2):
        meter.complete([Message("user", "x")])
    assert meter.usage() == Usage(30, 5, None, 0)
