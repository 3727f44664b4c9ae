"""Through the door that users use: a session with a judge, its record on the disk, and what can be had of that later."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest

from aiopslab.orchestrator.agent_link import Usage
from aiopslab.orchestrator.evaluation import case_of, evaluate_record, judge_reasoning
from aiopslab.orchestrator.models import ScriptedModel
from aiopslab.orchestrator.orchestrator import Orchestrator

VERDICT = json.dumps(
    {
        "score": 3,
        "reasoning_supports_answer": False,
        "right_for_wrong_reasons": True,
        "evidence": [],
        "wrong_reasons": ["all is quiet at night"],
        "judgement": "It looked at one thing and then guessed.",
    }
)


class Guesser:
    """Looks once, twice the same; answers what cannot be read; then guesses right."""

    def __init__(self) -> None:
        self._answers = [
            'exec_shell("kubectl get pods -n test-hotel-reservation")',
            'exec_shell("kubectl get pods -n test-hotel-reservation")',
            "I wonder what to do.",
            'All is quiet at night.\nsubmit("No")',
        ]
        self.usage = Usage(0, 0, 0.0)

    async def get_action(self, state: str) -> str:
        self.usage = Usage(self.usage.in_tokens + 100, self.usage.out_tokens + 10, 0.01)
        return self._answers.pop(0)


@pytest.mark.slow
def test_a_session_is_judged_recorded_and_evaluated_again_without_its_world(tmp_path: Path) -> None:
    judge = ScriptedModel([VERDICT], name="judge-1")
    orchestrator = Orchestrator(tmp_path, seed=5, judge=judge)
    orchestrator.init_problem("noop_detection_hotel_reservation-1")
    orchestrator.register_agent(Guesser(), name="guesser")
    results = asyncio.run(orchestrator.start_problem(max_steps=6))["results"]

    assert results["Detection Accuracy"] == "Correct"
    assert (results["steps"], results["repeated_actions"], results["invalid_actions"]) == (4, 1, 1)
    assert (results["in_tokens"], results["out_tokens"], results["cost_usd"]) == (400, 40, 0.01)
    assert results["harm"]["severity"]["peak"] < 0.05
    assert results["harm"]["changes_beyond_need"] == []
    assert results["reasoning_score"] == 3
    assert "All is quiet at night." in judge.asked[0][1].content

    [path] = tmp_path.iterdir()
    record = json.loads(path.read_text())
    assert record["results"]["judge"]["model"] == "judge-1"
    again = evaluate_record(record)
    assert {**again, "wall": None} == {**json.loads(json.dumps(results)), "wall": None}
    later = judge_reasoning(ScriptedModel([VERDICT]), case_of(record))
    assert later["judge"]["right_for_wrong_reasons"] is True
