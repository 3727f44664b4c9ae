from __future__ import annotations

from io import StringIO
from typing import Any

from rich.console import Console

from aiopslab.orchestrator.evaluation import summarize_results

RESULTS: dict[str, Any] = {
    "success": False,
    "TTM": 61.5,
    "repaired": False,
    "findings": ["NOT the root cause is gone", "ok  users of search: 300 requests"],
    "steps": 4,
    "repeated_actions": 1,
    "invalid_actions": 2,
    "actions_by_name": {"exec_shell": 2},
    "in_tokens": 1200,
    "out_tokens": 80,
    "tokens_estimated": True,
    "simulated_s": 61.5,
    "harm": {
        "severity": {"start": 0.4, "peak": 0.9, "final": 0.8, "area_s": 30.0},
        "after": {"severity": 0.7, "failed": 0.5, "slow": 0.0, "unhealthy": []},
        "regressions": [
            {
                "step": 3,
                "action": "exec_shell([bold]kubectl delete svc geo[/bold])",
                "severity_before": 0.4,
                "severity_after": 0.9,
                "became_unhealthy": ["services/geo"],
                "mended_at_the_end": False,
            }
        ],
        "changes_beyond_need": [f"configmaps/{number} was added" for number in range(8)],
        "error_budget": {"requests": 600, "failed": 90, "slow": 2, "burn_rate": 150.0, "burnt": 0.0036},
    },
    "wall": {"wall_s": 2.0, "agent_wall_s": 0.5, "framework_wall_s": 1.5},
    "reasoning_judgement": "It guessed.",
    "reasoning_score": 3,
    "judge": {"right_for_wrong_reasons": True},
    "metric_errors": ["The metric x failed: KeyError: 'y'"],
}


def shown(results: dict[str, Any]) -> str:
    file = StringIO()
    Console(width=200, file=file).print(summarize_results(results))
    return file.getvalue()


def test_it_says_what_a_person_wants_to_know() -> None:
    text = shown(RESULTS)
    for words in (
        "time to mitigate",
        "61.5 s cluster time",
        "NOT the root cause is gone",
        "4, 1 repeated, 2 invalid",
        "about 1200 in, 80 out",
        "0.40 at the start, 0.90 peak, 0.70 at the end",
        "90 of 600 requests failed, 2 were slow: 0.36% of a month's error budget",
        "worse at step 3",
        "and 3 more",
        "3 of 10 (right for wrong reasons)",
        "The metric x failed",
    ):
        assert words in text


def test_what_others_wrote_is_no_markup() -> None:
    assert "[bold]kubectl delete svc geo[/bold]" in shown(RESULTS)


def test_it_takes_whatever_is_there() -> None:
    assert "own key" in shown({"own key": [1, 2.5, {"a": True}]})
    shown({})
    shown({"reasoning_judgement": "There is no judgement.", "reasoning_score": None})
