"""Blind recipes: what an agent can do without diagnosing anything. A fair pool of problems gives them next to nothing.

Answers are recipes for detection and localization, lines for mitigation. ``try_recipe`` tries one on a prepared problem.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from aiopslab.orchestrator.oracles import is_present
from aiopslab.orchestrator.preparation import PreparedProblem
from aiopslab.orchestrator.stages import Stage
from aiopslab.orchestrator.tasks import DetectionTask, LocalizationTask, MitigationTask, Task
from aiopslab.orchestrator.validation.answers import is_success
from aiopslab.orchestrator.validation.commands import (
    APPLY_ALL,
    FLUSH_FILTERS,
    REAPPLY_RELEASES,
    ROLL_BACK_RELEASES,
    UNDO_ROLLOUTS,
)
from aiopslab.orchestrator.validation.repairs import (
    COMMAND_TIMEOUT_S,
    TAKES_EFFECT_S,
    judge,
    restart_everything,
)

KINDS: Final = "deployments,services,configmaps,networkpolicies"
NEWEST: Final = (
    f"kubectl -n {{ns}} get {KINDS} -o json | "
    "jq -r '.items | max_by(.metadata.resourceVersion | tonumber) | (.kind | ascii_downcase) + \"/\" + .metadata.name'"
)
"""Prints the object with the newest resource version."""
UNREADY: Final = (
    "kubectl -n {ns} get deployments -o json | "
    "jq -r '.items[] | select((.status.readyReplicas // 0) < .spec.replicas) | .metadata.name'"
)
RESET: Final = (
    "kubectl -n {ns} apply view-last-applied $object -o json 2> /dev/null | kubectl apply -f - 2> /dev/null"
)
WORKERS: Final = "$(kubectl get nodes -o name | grep -v control-plane)"

REPAIRS: Final[Mapping[str, tuple[str, ...]]] = {
    "nothing": (),
    "restart all": (),
    "undo all": (UNDO_ROLLOUTS,),
    "apply all again": (APPLY_ALL, REAPPLY_RELEASES),
    "roll back all": (ROLL_BACK_RELEASES, UNDO_ROLLOUTS),
    "drain all": (
        f"for node in {WORKERS}; do kubectl drain $node --ignore-daemonsets --delete-emptydir-data --force --timeout=60s; "
        "kubectl uncordon $node; done",
    ),
    "recreate from a dump": (
        "kubectl -n {ns} get deployments,services -o json | "
        "jq 'del(.items[].metadata.resourceVersion, .items[].metadata.uid, .items[].status)' > dump.json; "
        "kubectl -n {ns} delete -f dump.json; kubectl -n {ns} create -f dump.json",
    ),
    "revert the newest change": (
        f"object=$({NEWEST}); case $object in deployment/*) kubectl -n {{ns}} rollout undo $object;; "
        f"networkpolicy/*) kubectl -n {{ns}} delete $object;; *) {RESET};; esac",
    ),
    "reset live to last-applied": (
        f"for object in $(kubectl -n {{ns}} get {KINDS} -o name); do "
        "kubectl -n {ns} apply view-last-applied $object -o json 2> /dev/null > applied.json && "
        "! kubectl diff -f applied.json > /dev/null 2>&1 && kubectl apply -f applied.json; done",
    ),
    "a fixed script of guarded lines": (
        "for node in $(kubectl get nodes -o json | jq -r '.items[] | select(.spec.unschedulable) | .metadata.name'); do kubectl uncordon $node; done",
        "kubectl -n {ns} get deployments -o json | jq -r '.items[] | select(.spec.replicas == 0) | .metadata.name' | "
        "xargs -r -I@ kubectl -n {ns} scale deployment/@ --replicas=1",
        f"for name in $({UNREADY}); do kubectl -n {{ns}} rollout undo deployment/$name; done",
        "sleep 20",
        f"for name in $({UNREADY}); do object=deployment/$name; {RESET}; done",
        "sleep 20",
        "for name in $(kubectl -n {ns} get endpoints -o json | jq -r '.items[] | select(.subsets | not) | .metadata.name'); do "
        f"object=service/$name; {RESET}; done",
        f"for name in $({UNREADY}); do kubectl -n {{ns}} rollout restart deployment/$name; done",
        FLUSH_FILTERS,
    ),
}
"""Lines that are typed before the submission, by recipe."""
ANSWERS: Final = ("yes", "no", "no component", "most common component", "all components", "newest object")
"""Recipes for detection and localization."""


def list_recipes(task: Task) -> tuple[str, ...]:
    """Return the recipes for a task."""
    if isinstance(task, MitigationTask):
        return tuple(REPAIRS)
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
    for line in REPAIRS[recipe]:
        _type(problem, line)
    problem.environment.run_for(TAKES_EFFECT_S)
    if any(is_present(problem.environment, fault) for fault in problem.task.faults):
        return False
    return judge(problem.task).passed


def _type(problem: PreparedProblem, line: str) -> str:
    filled = line.replace("{ns}", problem.environment.namespace)
    return problem.terminal.run(filled, COMMAND_TIMEOUT_S).stdout.decode(errors="replace")
