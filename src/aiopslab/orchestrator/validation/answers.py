"""Whether a task tells right answers from wrong ones: the expected one succeeds, and what could be said unseen does not."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import product
from typing import Any

from aiopslab.orchestrator.oracles import Finding
from aiopslab.orchestrator.tasks import AnalysisTask, DetectionTask, LocalizationTask, Task
from aiopslab.orchestrator.tasks.analysis import LABELS
from aiopslab.utils.status import AIOpsLabError

WHAT_IS_RIGHT = "the right answer succeeds"
WHAT_IS_WRONG = "wrong answers fail"


def answers_told_apart(task: Task) -> Iterator[Finding]:
    """Findings about the answers to a task. A repair is no answer: see ``repairs``."""
    if isinstance(task, DetectionTask):
        yield from _compared(task, ["Yes", "No"], [task.expected()])
    elif isinstance(task, LocalizationTask):
        yield from _localization(task)
    elif isinstance(task, AnalysisTask):
        yield from _analysis(task)


def _localization(task: LocalizationTask) -> Iterator[Finding]:
    expected, everything = task.expected(), [component.name for component in task.app.components]
    rights = [*expected, *(name for names in task.right_answers() for name in names)]
    others = [[name] for name in everything if name not in rights]
    yield from _compared(task, [expected, [], everything, *others], [expected])


def _analysis(task: AnalysisTask) -> Iterator[Finding]:
    every = [dict(zip(LABELS, labels, strict=True)) for labels in product(*LABELS.values())]
    yield from _compared(task, every, task.right_answers())


def _compared(task: Task, given: list[Any], rights: list[Any]) -> Iterator[Finding]:
    """Every answer is given: the right ones must succeed, the others must not."""
    refused = [answer for answer in rights if not _accepted(task, answer)]
    yield Finding(WHAT_IS_RIGHT, not refused, _told(refused, "does not succeed"))
    taken = [answer for answer in given if answer not in rights and _accepted(task, answer)]
    yield Finding(WHAT_IS_WRONG, not taken, _told(taken, "succeeds, too"))


def _accepted(task: Task, answer: Any) -> bool:
    try:
        solution = task.take_submission((answer,), {})
    except AIOpsLabError:
        return False
    return succeeded(task.eval(solution, [], 1.0))


def succeeded(results: Mapping[str, Any]) -> bool:
    """Whether results tell of a success; tasks in the papers' manner may tell it by their accuracy alone."""
    told = results.get("success")
    if told is not None:
        return bool(told)
    return any(
        value in ("Correct", 100, 100.0) for name, value in results.items() if name.endswith("Accuracy")
    )


def _told(answers: list[Any], what: str) -> str:
    return f"{answers[0]!r} {what}" if answers else ""
