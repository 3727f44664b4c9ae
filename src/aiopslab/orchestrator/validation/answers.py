"""Checks that a task accepts the right answers and rejects those that can be given without looking."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import product
from typing import Any

from aiopslab.generators.fault.growing import FAILURES
from aiopslab.orchestrator.oracles import Finding
from aiopslab.orchestrator.tasks import (
    LABELS,
    AnalysisTask,
    DetectionTask,
    IncidentTask,
    LocalizationTask,
    MitigationTask,
    PredictionTask,
    Task,
)
from aiopslab.utils import AIOpsLabError

RIGHT_ANSWERS = "the right answer succeeds"
WRONG_ANSWERS = "wrong answers fail"


def check_answers(task: Task) -> Iterator[Finding]:
    """Yield findings about the answers to a task; ``repairs`` checks the state that a repair leaves."""
    if isinstance(task, DetectionTask):
        yield from _compare(task, ["Yes", "No"], [task.get_expected()])
    elif isinstance(task, LocalizationTask):
        yield from _check_localization(task)
    elif isinstance(task, AnalysisTask):
        yield from _check_analysis(task)
    elif isinstance(task, PredictionTask):
        yield from _check_prediction(task)
    elif isinstance(task, IncidentTask):
        yield from _check_diagnosis(task)


def write_right_answer(task: Task) -> tuple[Any, ...]:
    """Return the arguments of a right submission; a repair itself has none."""
    if isinstance(task, IncidentTask):
        return _write_diagnosis(task), task.get_expected()["components"]
    return () if isinstance(task, MitigationTask) else (task.get_expected(),)


def _write_diagnosis(task: IncidentTask) -> str:
    """Return the shortest diagnosis that meets the checklists."""
    items = [item for items in task.checklists for item in items]
    return ", ".join(phrase for item in items for phrase in item.phrases[: item.needs])


def _check_diagnosis(task: IncidentTask) -> Iterator[Finding]:
    lacking = task.check_diagnosis(_write_diagnosis(task))
    yield Finding(RIGHT_ANSWERS, not lacking, "; ".join(lacking))
    names = " ".join(component.name for component in task.app.components)
    labels = " ".join(label for labels in LABELS.values() for label in labels)
    accepted = [text for text in ("", names, labels, f"{names} {labels}") if not task.check_diagnosis(text)]
    yield Finding(WRONG_ANSWERS, not accepted, _describe_answer(accepted, "succeeds too"))


def _check_prediction(task: PredictionTask) -> Iterator[Finding]:
    expected = task.get_expected()
    if expected is None:
        guess = {"component": task.app.components[0].name, "failure": FAILURES[0], "within_min": 60}
        yield from _compare(task, [guess], [None])
        return
    hours = [{**expected, "within_min": expected["within_min"] * factor} for factor in (0.4, 2.5)]
    others = [{**expected, "failure": label} for label in FAILURES if label != expected["failure"]]
    names = [component.name for component in task.app.components if component.name != expected["component"]]
    elsewhere = [{**expected, "component": name} for name in names]
    yield from _compare(task, [None, *hours, *others, *elsewhere], [expected])


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
