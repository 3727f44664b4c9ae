from __future__ import annotations

from hypothesis import given, strategies as st

from aiopslab.orchestrator.agent_link import Usage
from aiopslab.orchestrator.evaluation.conduct import count_conduct, count_tokens
from aiopslab.orchestrator.evaluators.quantitative import estimate_tokens
from tests.aiopslab.orchestrator.evaluation.steps import step


def test_steps_actions_and_repetitions_are_counted() -> None:
    steps = [
        step(1, "kubectl get pods"),
        step(2, "kubectl get svc"),
        step(3, "kubectl get pods"),
        step(4, api_name="get_logs", args=("ns", "geo")),
        step(5, api_name="get_logs", args=("ns", "rate")),
        step(6, api_name="submit", args=("Yes",)),
    ]
    told = count_conduct(steps)
    assert told["steps"] == 6
    assert told["repeated_actions"] == 1
    assert told["actions_by_name"] == {"exec_shell": 3, "get_logs": 2, "submit": 1}
    assert told["invalid_actions"] == 0


def test_mistakes_are_told_apart_and_are_no_actions() -> None:
    steps = [
        step(1, api_name="", args=(), valid=False),
        step(2, api_name="", args=(), valid=False),
        step(3, api_name="reboot_moon", args=(), valid=False),
        step(4, api_name="submit", args=("Maybe",), valid=False),
    ]
    told = count_conduct(steps)
    assert told["invalid_actions"] == 4
    assert told["invalid_by_kind"] == {
        "unreadable answers": 2,
        "unknown or misused actions": 1,
        "refused submissions": 1,
    }
    assert told["actions_by_name"] == {}
    assert told["repeated_actions"] == 0


def test_arguments_that_json_does_not_know_are_compared_all_the_same() -> None:
    odd = step(1, args=({1, 2},), kwargs={"b": 1, "a": b"x"})
    assert count_conduct([odd, odd])["repeated_actions"] == 1


def test_tokens_are_what_the_agent_says() -> None:
    used = Usage(in_tokens=100, out_tokens=20, cost_usd=0.25)
    assert count_tokens([step(1, in_tokens=7, out_tokens=8)], used) == {
        "in_tokens": 100,
        "out_tokens": 20,
        "tokens_estimated": False,
        "cost_usd": 0.25,
    }
    free = Usage(in_tokens=1, out_tokens=2, cost_usd=None)
    assert "cost_usd" not in count_tokens([], free)


def test_else_they_are_what_its_steps_say() -> None:
    told = count_tokens([step(1, in_tokens=7, out_tokens=8), step(2, in_tokens=3, out_tokens=None)], None)
    assert told == {"in_tokens": 10, "out_tokens": 8, "tokens_estimated": False}


def test_else_they_are_estimated_and_marked_so() -> None:
    told = count_tokens([step(1, observation="x" * 400, response="y" * 41)], None)
    assert told == {"in_tokens": 100, "out_tokens": 11, "tokens_estimated": True}


@given(st.text())
def test_any_text_has_an_estimate(text: str) -> None:
    assert estimate_tokens(text) >= (1 if text else 0)
