"""Ways to deal with an incident, good and bad, each tried on a copy and judged as an agent's repair would be.

The reference repair is the faults' own way back, typed at an agent's terminal with the rights that the problem gives it,
and twice, because it may be done twice. The others are what somebody does who has not understood anything.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from aiopslab.cloud.environment import Environment
from aiopslab.generators.site import at_site
from aiopslab.orchestrator.oracles import remains
from aiopslab.orchestrator.posing import Posed
from aiopslab.orchestrator.tasks import Task
from aiopslab.orchestrator.validation import taking_back
from aiopslab.orchestrator.validation.answers import succeeded
from simcloud.machine.process import Completed
from simcloud.world.terminal import Terminal

PATIENCE_S: Final = 600.0
SHOWN: Final = 2
TAKES_EFFECT_S: Final = 30.0


class CannotBeTyped(Exception):
    """A repair needs more than a terminal; the sentence says what."""


class AgentsSite:
    """A site as an agent has it: what is operated there is typed at the agent's own terminal."""

    def __init__(self, environment: Environment, terminal: Terminal) -> None:
        self._environment = environment
        self._terminal = terminal

    def operate(self, line: str) -> Completed:
        """Type a line; raises ``CannotBeTyped`` when it does not succeed."""
        done = self._terminal.run(line, PATIENCE_S)
        if done.status != 0:
            told = (done.stderr or done.stdout).decode(errors="replace").strip()
            raise CannotBeTyped(f"'{line}' ends with {done.status}: {told[-300:]}")
        return done

    @property
    def machines(self) -> Mapping[str, Any]:
        """Nobody types at hardware."""
        raise CannotBeTyped("it changes machines directly, which no agent can")

    def __getattr__(self, name: str) -> Any:
        return getattr(self._environment, name)


def referenced(posed: Posed) -> None:
    """The reference repair, typed, twice; raises ``CannotBeTyped``."""
    task, environment = posed.task, posed.environment
    site: Any = AgentsSite(environment, posed.terminal)
    task.environment = site
    try:
        with at_site(site):
            task.recover_fault()
            task.recover_fault()
    finally:
        task.environment = environment


def nothing(posed: Posed) -> None:
    """Hands in the lap."""


def restarted(posed: Posed) -> None:
    """Off and on again."""
    ns = posed.environment.namespace
    _type(posed, f"kubectl -n {ns} rollout restart deployment", f"kubectl -n {ns} delete pods --all")


def deleted(posed: Posed) -> None:
    """What is at fault is taken away, and all that belongs to it."""
    concerned = [one for fault in posed.task.faults for one in fault.concerned]
    ns = posed.environment.namespace
    for resource, name in dict.fromkeys((*concerned, *_workloads(posed))):
        _type(posed, f"kubectl -n {ns} delete {resource} {name} --ignore-not-found")


def scaled_away(posed: Posed) -> None:
    """What is at fault is scaled to nothing."""
    ns = posed.environment.namespace
    _type(posed, *(f"kubectl -n {ns} scale deployment/{name} --replicas=0" for _, name in _workloads(posed)))


SHORTCUTS: Final[Mapping[str, Callable[[Posed], None]]] = {
    "doing nothing": nothing,
    "restarting everything": restarted,
    "deleting what is at fault": deleted,
    "scaling it to nothing": scaled_away,
}
"""What must not pass for a repair, by what it is called; as must not what is in ``TAKEN_BACK``."""
TAKEN_BACK: Final[Mapping[str, tuple[str, ...]]] = {
    "undoing every rollout": (taking_back.UNDO,),
    "applying everything again": (taking_back.APPLY, taking_back.THIS_RELEASE),
    "scaling everything to one": (taking_back.SCALE,),
    "emptying packet filters": (taking_back.FILTERS,),
}
"""Lines that take something back everywhere, without a look at what it is."""
CAUSE_STAYS: Final = frozenset({"doing nothing", "restarting everything"})
"""Those that must not even remove the cause: where they fail for another reason, patience would make them pass."""
RESTARTS: Final = frozenset({"restarting everything"})
"""Those of them that remove the cause where starting pods anew is a repair; they must fail by what else they do."""


@dataclass(frozen=True)
class Judged:
    """Whether a way to repair passed, whether it removed the cause, and what is not well."""

    passed: bool
    cause_gone: bool
    why: str


def judged(task: Task) -> Judged:
    """Judge the system as it stands; the world goes on meanwhile."""
    results = task.eval(task.take_submission((), {}), [], 1.0)
    bad = [finding for finding in results.get("findings", ()) if finding.startswith("NOT")]
    passed = succeeded(results)
    left = any(remains(task.environment, fault) for fault in task.faults)
    return Judged(passed, not left if task.faults else passed, "; ".join(bad[:SHOWN]))


def took_back(posed: Posed, way: str) -> Judged:
    """Type the lines of one way to take things back, and judge what came of it, if the cause is gone at all."""
    _type(posed, *TAKEN_BACK[way])
    task, environment = posed.task, posed.environment
    environment.run_for(TAKES_EFFECT_S)
    if any(fault.present(environment) for fault in task.faults):
        return Judged(False, False, "the root cause is still there")
    return judged(task)


def cause_must_stay(way: str, task: Task) -> bool:
    """Whether a way to deal with the problem must not even remove its cause."""
    cured = bool(task.faults) and all(fault.restart_repairs for fault in task.faults)
    return way in CAUSE_STAYS and not (cured and way in RESTARTS)


def _workloads(posed: Posed) -> list[tuple[str, str]]:
    """The Deployments of the components at fault."""
    names = dict.fromkeys(fault.truth.component for fault in posed.task.faults)
    kind = "deployments.apps"
    return [(kind, name) for name in names if posed.environment.find(kind, name) is not None]


def _type(posed: Posed, *lines: str) -> None:
    for line in lines:
        posed.terminal.run(line, PATIENCE_S)
