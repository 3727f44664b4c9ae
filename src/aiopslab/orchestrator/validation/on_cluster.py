"""Validates problems on a real cluster: the incident is visible, doing nothing fails, and the reference repair passes.

A cluster cannot be copied, so each fault is injected once for all its tasks, and is repaired at the end. Other shortcuts are
tried on copies of the embedded cloud only.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Final

from aiopslab.orchestrator.oracles import Finding
from aiopslab.orchestrator.preparation import (
    NotAvailable,
    deploy_on_cluster,
    get_fault_key,
    open_problem,
    stage,
)
from aiopslab.orchestrator.problems import ProblemRegistry
from aiopslab.orchestrator.tasks import MitigationTask, Task
from aiopslab.orchestrator.validation.answers import check_answers
from aiopslab.orchestrator.validation.evidence import Symptoms, check_no_harm, check_symptoms, find_symptoms
from aiopslab.orchestrator.validation.repairs import CannotBeTyped, judge, type_reference_repair
from aiopslab.utils import AIOpsLabError, ProgressCallback, ignore_progress

if TYPE_CHECKING:
    from aiopslab.cloud.kubernetes import KubernetesOptions

PREPARED: Final = "the problem can be prepared"


def validate_on_cluster(
    problems: ProblemRegistry,
    wanted: Sequence[str],
    options: KubernetesOptions,
    seed: int = 0,
    tell: ProgressCallback = ignore_progress,
) -> Iterator[tuple[str, list[Finding]]]:
    """Yield each problem with its findings; those with one fault share its injection."""
    tasks = [problems.get_problem_instance(pid, seed) for pid in wanted]
    keys = {task.id: repr(get_fault_key(task, task.seed)) for task in tasks}
    for _, group in groupby(sorted(tasks, key=lambda task: keys[task.id]), lambda task: keys[task.id]):
        # The repair, which ends the incident, comes last.
        ordered = sorted(group, key=lambda task: isinstance(task, MitigationTask))
        try:
            yield from _validate_fault(ordered, options, tell)
        except NotAvailable as error:
            yield from (
                (task.id, [Finding("the problem is available on this cluster", False, str(error))])
                for task in ordered
            )
        except AIOpsLabError as error:
            yield from ((task.id, [Finding(PREPARED, False, str(error))]) for task in ordered)


def _validate_fault(
    tasks: Sequence[Task], options: KubernetesOptions, tell: ProgressCallback
) -> Iterator[tuple[str, list[Finding]]]:
    first = tasks[0]
    site = deploy_on_cluster(first, first.seed, options, tell)
    try:
        untouched = find_symptoms(site)
        stage(first, site, tell)
        visible = list(check_visibility(find_symptoms(site), untouched, first.breaks))
        is_repaired = False
        for task in tasks:
            task.environment, task.faults = site, first.faults
            findings = [*visible, *check_answers(task)]
            if isinstance(task, MitigationTask) and not is_repaired:
                tell(f"{task.id}: doing nothing, then repairing")
                findings += _check_repair(task)
                is_repaired = True
            yield task.id, findings
    finally:
        site.close()


def check_visibility(after: Symptoms, untouched: Symptoms, breaks: bool) -> Iterator[Finding]:
    """Check that a fault has symptoms, and that users and objects are well without one.

    Innocent changes by other teams are no symptoms; ``untouched`` is from before them, because a cluster cannot be copied.
    """
    if breaks:
        yield from check_symptoms(after, untouched, breaks)
    else:
        yield from check_no_harm(after, untouched)


def _check_repair(task: Task) -> Iterator[Finding]:
    outcome = judge(task)
    yield Finding("doing nothing fails", not outcome.passed, outcome.why)
    what = "the reference repair passes"
    try:
        type_reference_repair(open_problem(task))
    except CannotBeTyped as error:
        yield Finding(what, False, str(error))
        return
    outcome = judge(task)
    yield Finding(what, outcome.passed, outcome.why)
