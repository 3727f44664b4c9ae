"""What a session was worth: answers, costs, harm; and how bad things are at any moment."""

from aiopslab.orchestrator.evaluation.evaluate import Metric, evaluate, evaluate_record
from aiopslab.orchestrator.evaluation.health import Health, health
from aiopslab.orchestrator.evaluation.judge import case_of, judge_reasoning
from aiopslab.orchestrator.evaluation.summary import summary

__all__ = [
    "Health", "Metric", "case_of", "evaluate", "evaluate_record", "health", "judge_reasoning", "summary",
]  # fmt: skip
