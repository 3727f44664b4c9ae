"""Blind recipes: what an agent can do without diagnosing anything. A fair pool of problems gives them next to nothing.

Answers are recipes for detection and localization, lines for mitigation. ``try_recipe`` tries one on a prepared problem.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from aiopslab.orchestrator.oracles import is_present
from aiopslab.orchestrator.preparation import PreparedProblem
from aiopslab.orchestrator.stages import Stage
from aiopslab.orchestrator.tasks import DetectionTask, LocalizationTask, MitigationTask, Task
from aiopslab.orchestrator.validation.answers import is_success
from aiopslab.orchestrator.validation.commands import BLIND_REPAIRS, NEWEST
from aiopslab.orchestrator.validation.repairs import (
    COMMAND_TIMEOUT_S,
    TAKES_EFFECT_S,
    judge,
    restart_everything,
)

ANSWERS: Final = ("yes", "no", "no component", "most common component", "all components", "newest object")
"""Recipes for detection and localization."""


def list_recipes(task: Task) -> tuple[str, ...]:
    """Return the recipes for a task."""
    if isinstance(task, MitigationTask):
        return tuple(BLIND_REPAIRS)
    if isinstance(task, DetectionTask):
        return ANSWERS[:2]
    return ANSWERS[2:] if isinstance(task, LocalizationTask) else ()


def try_recipe(stage: Stage, recipe: str, common: str) -> bool:
    """Whether a recipe succeeds on the prepared problem of a copy; ``common`` is the pool's most common component."""
    assert stage.problem is not None, "no problem was opened here"
    problem = stage.problem
    if isinstance(problem.task, MitigationTask):
        return _try_repair(problem, recipe)
    answers: dict[str, Callable[[], Any]] = {
        "yes": lambda: "Yes",
        "no": lambda: "No",
        "no component": list,
        "most common component": lambda: [common],
        "all components": lambda: [component.name for component in problem.task.app.components],
        "newest object": lambda: [_type(problem, NEWEST).strip()],
    }
    submission = problem.task.take_submission((answers[recipe](),), {})
    return is_success(problem.task.eval(submission, [], 1.0))


def _try_repair(problem: PreparedProblem, recipe: str) -> bool:
    if recipe == "restart all":
        restart_everything(problem)
    for line in BLIND_REPAIRS[recipe]:
        _type(problem, line)
    problem.environment.run_for(TAKES_EFFECT_S)
    if any(is_present(problem.environment, fault) for fault in problem.task.faults):
        return False
    return judge(problem.task).passed


def _type(problem: PreparedProblem, line: str) -> str:
    filled = line.replace("{ns}", problem.environment.namespace)
    return problem.terminal.run(filled, COMMAND_TIMEOUT_S).stdout.decode(errors="replace")
