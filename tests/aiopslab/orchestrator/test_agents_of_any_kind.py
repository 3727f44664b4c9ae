"""Whatever an agent is made of, its session is the same."""

from collections.abc import Callable

import pytest

from aiopslab.orchestrator.stages import Stages, run_episode
from tests.aiopslab.orchestrator import agents_of_any_kind as agents

PROBLEM = "misconfig_app_hotel_res-detection-1"


@pytest.mark.slow
@pytest.mark.parametrize(
    "make_agent", [agents.a_class, agents.a_function, agents.an_async_function, agents.a_program]
)
def test_it_looks_and_answers(stages: Stages, make_agent: Callable[[], object]) -> None:
    with stages.episode(PROBLEM) as copy:
        result = copy.call(run_episode, make_agent, "somebody")
    assert result["ending"] == "submitted"
    assert [turn["content"] for turn in result["history"] if turn["role"] == "assistant"] == [
        agents.LOOK,
        agents.ANSWER,
    ]
    assert result["results"]["Detection Accuracy"] == "Correct"
    if make_agent is agents.a_program:
        assert (result["results"]["in_tokens"], result["results"]["out_tokens"]) == (40, 4)
