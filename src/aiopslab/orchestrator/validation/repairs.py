"""The reference repair of a problem, and shortcuts that must not pass, each tried on a copy and judged like an agent's.

The reference repair is the faults' own recovery, typed at the agent's terminal with the agent's permissions, twice, because
it must be idempotent. The shortcuts are commands of an operator who has not found the cause.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Final

from aiopslab.cloud import CopyFailed, IncidentSite, SessionTerminal, call_in_copy
from aiopslab.generators import OperationFailed, Site, at_site
from aiopslab.orchestrator.oracles import is_present
from aiopslab.orchestrator.preparation import PreparedProblem
from aiopslab.orchestrator.tasks import Task
from aiopslab.orchestrator.transactions import analyse
from aiopslab.orchestrator.validation.answers import is_success, write_right_answer
from aiopslab.orchestrator.validation.commands import (
    APPLY_ALL,
    FLUSH_FILTERS,
    REAPPLY_RELEASES,
    SCALE_ALL,
    UNDO_ROLLOUTS,
)
from simcloud.kubernetes.api import Object
from simcloud.machine.process import Completed, Program

COMMAND_TIMEOUT_S: Final = 600.0
SHOWN: Final = 2
TAKES_EFFECT_S: Final = 30.0


class CannotBeTyped(OperationFailed):
    """A repair cannot be typed at a terminal; the message says why."""


class TerminalSite(Site):
    """A site whose operations are typed at the agent's terminal."""

    def __init__(self, environment: IncidentSite, terminal: SessionTerminal) -> None:
        self.app = environment.app
        self._environment = environment
        self._terminal = terminal
        self.lines: list[str] = []
        """All lines that were typed."""

    def operate(self, line: str) -> Completed:
        """Type a line; raises ``CannotBeTyped`` when it does not succeed."""
        self.lines.append(line)
        done = self._terminal.run(line, COMMAND_TIMEOUT_S)
        if done.status != 0:
            output = (done.stderr or done.stdout).decode(errors="replace").strip()
            raise CannotBeTyped(f"'{line}' ends with {done.status}: {output[-300:]}")
        return done

    def hardware(self, node: str) -> Any:
        """Hardware cannot be changed from a terminal."""
        raise CannotBeTyped("it changes hardware, which an agent cannot do")

    def find(self, resource: str, name: str, namespace: str | None = None) -> Object | None:
        """Return an object, or None."""
        return self._environment.find(resource, name, namespace)

    def find_original(self, resource: str, name: str, namespace: str | None = None) -> Object | None:
        """Return a declared object as it was before the fault, or None."""
        return self._environment.find_original(resource, name, namespace)

    def is_as_injected(self, resource: str, name: str, namespace: str | None = None) -> bool:
        """Return whether a declared object still has everything that the fault did to it."""
        return self._environment.is_as_injected(resource, name, namespace)

    def start_outside(self, name: str, program: Program) -> None:
        """Programs cannot be started outside the cluster from a terminal."""
        raise CannotBeTyped("it starts a program outside the cluster, which an agent cannot do")

    def __getattr__(self, name: str) -> Any:
        return getattr(self._environment, name)


def repair_by_reference(problem: PreparedProblem) -> None:
    """Type the reference repair twice; raises ``CannotBeTyped``."""
    type_reference_repair(problem)
    type_reference_repair(problem)


def type_reference_repair(problem: PreparedProblem) -> list[str]:
    """Type the reference repair, and return the lines; raises ``CannotBeTyped``."""
    site = TerminalSite(problem.environment, problem.terminal)
    _recover_at(site, problem)
    return site.lines


def _recover_at(site: Any, problem: PreparedProblem) -> None:
    task, environment = problem.task, problem.environment
    task.environment = site
    try:
        with at_site(site):
            task.recover_fault()
    finally:
        task.environment = environment


def list_reference_commands(problem: PreparedProblem) -> list[str]:
    """Return the commands of the reference repair that may change something, as typed in a copy of this process.

    There are fewer or none if the repair cannot be typed at the agent's terminal.
    """
    site = TerminalSite(problem.environment, problem.terminal)

    def collect() -> list[str]:
        with suppress(OperationFailed):
            _recover_at(site, problem)
        return site.lines

    try:
        typed = call_in_copy(collect)
    except CopyFailed:
        return []
    return [line for line in typed if analyse(line, problem.task.app.components).can_change]


def do_nothing(problem: PreparedProblem) -> None:
    """Do nothing."""


def restart_everything(problem: PreparedProblem) -> None:
    """Restart every Deployment and delete every pod."""
    ns = problem.environment.namespace
    _type(problem, f"kubectl -n {ns} rollout restart deployment", f"kubectl -n {ns} delete pods --all")


def delete_faulty(problem: PreparedProblem) -> None:
    """Delete the faulty workloads and the resources that the faults concern, except those that a repair deletes."""
    known = problem.environment.find_original
    resources = [resource for fault in problem.task.faults for resource in fault.concerned]
    concerned = [resource for resource in resources if known(*resource) is not None]
    for resource, name, *namespace in dict.fromkeys((*concerned, *_find_workloads(problem))):
        ns = namespace[0] if namespace else problem.environment.namespace
        _type(problem, f"kubectl {f'-n {ns} ' if ns else ''}delete {resource} {name} --ignore-not-found")


def scale_faulty_to_zero(problem: PreparedProblem) -> None:
    """Scale the faulty workloads to zero."""
    ns = problem.environment.namespace
    lines = (f"kubectl -n {ns} scale deployment/{name} --replicas=0" for _, name in _find_workloads(problem))
    _type(problem, *lines)


SHORTCUTS: Final[Mapping[str, Callable[[PreparedProblem], None]]] = {
    "doing nothing": do_nothing,
    "restarting everything": restart_everything,
    "deleting the faulty component": delete_faulty,
    "scaling the faulty component to zero": scale_faulty_to_zero,
}
"""Ways that must not pass as a repair, by name; nor must those in ``ROLLBACKS``."""
ROLLBACKS: Final[Mapping[str, tuple[str, ...]]] = {
    "undoing every rollout": (UNDO_ROLLOUTS,),
    "reapplying everything": (APPLY_ALL, REAPPLY_RELEASES),
    "scaling everything to one": (SCALE_ALL,),
    "flushing packet filters": (FLUSH_FILTERS,),
}
"""Commands that undo one kind of change everywhere, wanted changes included."""
KEEP_CAUSE: Final = frozenset({"doing nothing", "restarting everything"})
"""Ways that must not even remove the cause: if they fail only for another reason, they may pass later."""
RESTARTS: Final = frozenset({"restarting everything"})
"""Those of them that do remove the cause where a restart is a repair; they must fail by their side effects."""


@dataclass(frozen=True)
class RepairOutcome:
    """Whether a repair passed, whether it removed the cause, and which checks failed."""

    passed: bool
    cause_gone: bool
    why: str


def judge(task: Task) -> RepairOutcome:
    """Judge the state of the system; simulated time passes meanwhile."""
    results = task.eval(task.take_submission(write_right_answer(task), {}), [], 1.0)
    failed = [finding for finding in results.get("findings", ()) if finding.startswith("NOT")]
    passed = is_success(results)
    present = any(is_present(task.environment, fault) for fault in task.faults)
    return RepairOutcome(passed, not present if task.faults else passed, "; ".join(failed[:SHOWN]))


def try_rollback(problem: PreparedProblem, way: str) -> RepairOutcome:
    """Type the commands of a rollback, and judge the outcome if the cause is gone."""
    _type(problem, *ROLLBACKS[way])
    task, environment = problem.task, problem.environment
    environment.run_for(TAKES_EFFECT_S)
    if any(fault.present(environment) for fault in task.faults):
        return RepairOutcome(False, False, "the root cause is still present")
    return judge(task)


def must_keep_cause(way: str, task: Task) -> bool:
    """Whether a way must not even remove the cause of the problem."""
    cured = bool(task.faults) and all(fault.restart_repairs for fault in task.faults)
    return way in KEEP_CAUSE and not (cured and way in RESTARTS)


def _find_workloads(problem: PreparedProblem) -> list[tuple[str, str]]:
    """Return the Deployments of the faulty components."""
    names = dict.fromkeys(fault.truth.component for fault in problem.task.faults)
    kind = "deployments.apps"
    return [(kind, name) for name in names if problem.environment.find(kind, name) is not None]


def _type(problem: PreparedProblem, *lines: str) -> None:
    for line in lines:
        problem.terminal.run(line, COMMAND_TIMEOUT_S)
