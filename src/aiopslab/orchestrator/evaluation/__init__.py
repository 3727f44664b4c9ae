"""Evaluation of sessions: answers, costs, harm, and the system's health at any moment."""

from aiopslab.orchestrator.evaluation.health import Health, health
from aiopslab.orchestrator.evaluation.judge import case_of, judge_reasoning
from aiopslab.orchestrator.evaluation.results import evaluate, evaluate_record
from aiopslab.orchestrator.evaluation.summary import summary
from aiopslab.orchestrator.evaluation.trajectory import cut_middle
from aiopslab.orchestrator.tasks import Metric

__all__ = [
    "Health", "Metric", "case_of", "cut_middle", "evaluate", "evaluate_record", "health", "judge_reasoning", "summary",
]  # fmt: skip
