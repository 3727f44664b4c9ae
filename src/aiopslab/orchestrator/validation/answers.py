"""Checks that a task accepts the right answers and rejects those that can be given without looking."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import product
from typing import Any

from aiopslab.orchestrator.oracles import Finding
from aiopslab.orchestrator.tasks import LABELS, AnalysisTask, DetectionTask, LocalizationTask, Task
from aiopslab.utils import AIOpsLabError

RIGHT_ANSWERS = "the right answer succeeds"
WRONG_ANSWERS = "wrong answers fail"


def check_answers(task: Task) -> Iterator[Finding]:
    """Yield findings about the answers to a task; ``repairs`` checks mitigation tasks."""
    if isinstance(task, DetectionTask):
        yield from _compare(task, ["Yes", "No"], [task.get_expected()])
    elif isinstance(task, LocalizationTask):
        yield from _check_localization(task)
    elif isinstance(task, AnalysisTask):
        yield from _check_analysis(task)


def _check_localization(task: LocalizationTask) -> Iterator[Finding]:
    expected, everything = task.get_expected(), [component.name for component in task.app.components]
    rights = [*expected, *(name for names in task.get_right_answers() for name in names)]
    others = [[name] for name in everything if name not in rights]
    yield from _compare(task, [expected, [], everything, *others], [expected])


def _check_analysis(task: AnalysisTask) -> Iterator[Finding]:
    every = [dict(zip(LABELS, labels, strict=True)) for labels in product(*LABELS.values())]
    yield from _compare(task, every, task.get_right_answers())


def _compare(task: Task, given: list[Any], rights: list[Any]) -> Iterator[Finding]:
    """Submit every answer: the right ones must succeed, the others must fail."""
    refused = [answer for answer in rights if not _is_accepted(task, answer)]
    yield Finding(RIGHT_ANSWERS, not refused, _describe_answer(refused, "does not succeed"))
    accepted = [answer for answer in given if answer not in rights and _is_accepted(task, answer)]
    yield Finding(WRONG_ANSWERS, not accepted, _describe_answer(accepted, "succeeds too"))


def _is_accepted(task: Task, answer: Any) -> bool:
    try:
        solution = task.take_submission((answer,), {})
    except AIOpsLabError:
        return False
    return is_success(task.eval(solution, [], 1.0))


def is_success(results: Mapping[str, Any]) -> bool:
    """Whether results are a success; tasks written as in the papers may have only an accuracy."""
    success = results.get("success")
    if success is not None:
        return bool(success)
    return any(
        value in ("Correct", 100, 100.0) for name, value in results.items() if name.endswith("Accuracy")
    )


def _describe_answer(answers: list[Any], what: str) -> str:
    return f"{answers[0]!r} {what}" if answers else ""
