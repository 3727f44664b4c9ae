"""Validates that problems are fair, by checks on copies of their worlds.

    with Validator(seed=7) as validator:
        for finding in validator.validate("scale_pod_zero_social_net-mitigation-1"):
            print(finding)

For every problem: the incident is visible (and without a fault there are no symptoms), and no text that an agent can read
names it. For answers: the right one succeeds, and those that can be given without looking fail. For repairs: the reference
repair, typed at an agent's terminal, passes, and doing nothing, restarting, deleting, scaling to zero or rolling
everything back fail. On demand: one seed gives one outcome.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Final, TypeVar

from aiopslab.cloud import Environment
from aiopslab.generators import Noise
from aiopslab.orchestrator.oracles import Finding
from aiopslab.orchestrator.preparation import (
    PreparedProblem,
    get_baseline_key,
    get_fault_key,
    make_noise,
)
from aiopslab.orchestrator.problems import TYPES, ProblemRegistry
from aiopslab.orchestrator.stages import Stage, Stages
from aiopslab.orchestrator.tasks import IncidentTask, MitigationTask, PredictionTask, Task
from aiopslab.orchestrator.validation.answers import check_answers
from aiopslab.orchestrator.validation.evidence import Symptoms, check_no_harm, check_symptoms, find_symptoms
from aiopslab.orchestrator.validation.leaks import AUTHOR_WORDS, TELLTALES, Leak, find_names, find_new_leaks
from aiopslab.orchestrator.validation.passages import Passage, read_containers, read_world
from aiopslab.orchestrator.validation.repairs import (
    ROLLBACKS,
    SHORTCUTS,
    CannotBeTyped,
    RepairOutcome,
    judge,
    must_keep_cause,
    repair_by_reference,
    try_rollback,
)
from aiopslab.utils import ProgressCallback, ignore_progress
from simcloud.world import Copy, CopyFailed

JOBS: Final = 2
"""Number of repairs that are tried in parallel."""
SHOWN: Final = 3
REFERENCE: Final = "the reference repair"
T = TypeVar("T")
Outcome = RepairOutcome | str
"""The outcome of a repair, or why it could not be tried."""
_TASK_SUFFIX: Final = re.compile(rf"(-({'|'.join(TYPES)}))?(-\d+)?(\+\w+)?(@\d+)?$")


@dataclass(frozen=True)
class Names:
    """Names of an incident that must not occur: in the world, in the agent's prompt, and in runbooks."""

    world: tuple[str, ...]
    prompt: tuple[str, ...]
    """Without labels of fault types, which are part of the analysis task."""
    runbooks: tuple[str, ...]
    """Without names of faults: ``target port`` is a field of every Service."""

    @classmethod
    def of(cls, task: Task) -> Names:
        """Return the names of a problem's incident."""
        faults = [name for fault in task.faults for name in (fault.name, fault.known_as)]
        ids = (task.id, _TASK_SUFFIX.sub("", task.id))
        kinds = [fault.truth.fault_type for fault in task.faults]
        # An id contains its family's name. Without the ids, all problems of a fault share one search.
        return cls((ids[-1], *faults, *kinds, *TELLTALES), (*ids, *faults), (*ids, *AUTHOR_WORDS))


class Validator:
    """Validates problems, and keeps worlds that they share."""

    def __init__(
        self,
        seed: int = 0,
        *,
        problems: ProblemRegistry | None = None,
        tell: ProgressCallback = ignore_progress,
        twice: bool = False,
    ) -> None:
        """With ``twice``, each problem is also staged a second time from scratch, and must be the same."""
        self._problems = problems or ProblemRegistry()
        self._seed = seed
        self._tell = tell
        self._stages = Stages(seed, registry=self._problems, tell=tell)
        self._again = Stages(seed, registry=self._problems) if twice else None
        self._untouched: tuple[Hashable, Copy[Stage]] | None = None
        """The latest world without a fault: problems that share one come one after the other."""
        self._answers: dict[Hashable, Any] = {}

    def validate(self, problem_id: str) -> list[Finding]:
        """Return all findings; the problem is fair when every check passed. Raises ``UnknownProblem``."""
        task = self._problems.get_problem_instance(problem_id, self._seed)
        checks = (self._check_visibility, self._check_answers, self._check_repairs, self._check_determinism)
        findings: list[Finding] = []
        try:
            for check in checks:
                findings += check(task)
        except CopyFailed as error:
            findings.append(Finding("the problem can be prepared", False, error.last_line))
        return findings

    def _check_visibility(self, task: Task) -> Iterator[Finding]:
        self._tell(f"{task.id}: checking symptoms and leaks")
        names = Names.of(task)
        fault, healthy = get_fault_key(task, task.seed), ("untouched", *self._get_untouched_key(task))
        untouched = self._ask(self._get_untouched(task), _find_stage_symptoms, healthy)
        with self._stages.episode(task.id) as copy:
            after = self._ask(copy, _find_stage_symptoms, fault)
            leaks = self._ask(copy, _find_world_leaks, fault, names.world)
            leaks = [*copy.call(_find_agent_leaks, names), *leaks]
        if isinstance(task, PredictionTask):
            yield from check_no_harm(after, untouched)
        else:
            yield from check_symptoms(after, untouched, task.breaks)
        if leaks:
            found = tuple(sorted({leak.name for leak in leaks}))
            known = self._ask(self._get_untouched(task), _find_world_leaks, healthy, found)
            leaks = find_new_leaks(leaks, known)
        yield Finding("no text names the fault", not leaks, "; ".join(map(str, leaks[:SHOWN])))

    def _ask(
        self, copy: Copy[Stage], question: Callable[..., T], key: tuple[object, ...], *details: Hashable
    ) -> T:
        """Return what a function says of a world. Problems with the same key share the answer."""
        cache_key = (question, *key, *details)
        if cache_key not in self._answers:
            self._answers[cache_key] = copy.call(question, *details)
        answer: T = self._answers[cache_key]
        return answer

    def _get_untouched_key(self, task: Task) -> tuple[object, ...]:
        return *get_baseline_key(task, task.seed), repr(task.noise), task.soak_s

    def _get_untouched(self, task: Task) -> Copy[Stage]:
        """Return the same world at the same age without a fault. Observing it does not change it."""
        key = self._get_untouched_key(task)
        if self._untouched is None or self._untouched[0] != key:
            self._close_untouched()
            self._untouched = key, self._stages.copy_baseline(task.id)
            self._untouched[1].call(_pass_time, task.noise, task.soak_s)
        return self._untouched[1]

    def _close_untouched(self) -> None:
        if self._untouched is not None:
            self._untouched[1].close()
            self._untouched = None

    def _check_answers(self, task: Task) -> Iterator[Finding]:
        with self._stages.episode(task.id) as copy:
            yield from copy.call(_check_stage_answers)

    def _check_repairs(self, task: Task) -> Iterator[Finding]:
        if not isinstance(task, MitigationTask):
            return
        # The system of an incident is judged as that of a mitigation, which all shortcuts are tried on.
        ways = (REFERENCE, *SHORTCUTS, *ROLLBACKS)[: 2 if isinstance(task, IncidentTask) else None]
        self._tell(f"{task.id}: trying {REFERENCE} and {len(ways) - 1} shortcuts")
        for way, outcome in self._try_repairs(task, ways).items():
            yield _make_finding(way, outcome, must_keep_cause(way, task))

    def _try_repairs(self, task: Task, ways: tuple[str, ...]) -> dict[str, Outcome]:
        with ThreadPoolExecutor(JOBS) as pool:
            copies = [self._stages.episode(task.id) for _ in ways]
            try:
                return dict(zip(ways, pool.map(_try_in_copy, copies, ways), strict=True))
            finally:
                for copy in copies:
                    copy.close()

    def _check_determinism(self, task: Task) -> Iterator[Finding]:
        if self._again is None:
            return
        self._tell(f"{task.id}: staging a second time from scratch")
        with self._again.episode(task.id) as second, self._stages.episode(task.id) as first:
            same = second.call(_get_fingerprint) == first.call(_get_fingerprint)
        yield Finding("one seed, one outcome", same, "" if same else "two stagings of it differ")

    def close(self) -> None:
        """End all kept processes."""
        for stages in (self._stages, self._again):
            if stages is not None:
                stages.close()
        self._close_untouched()

    def __enter__(self) -> Validator:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def _get_problem(stage: Stage) -> PreparedProblem:
    assert stage.problem is not None, "no problem was opened here"
    return stage.problem


def _get_world(stage: Stage) -> Environment:
    assert isinstance(stage.environment, Environment), "a real cluster cannot be copied"
    return stage.environment


def _find_stage_symptoms(stage: Stage) -> Symptoms:
    """Return the observable state of a copy."""
    return find_symptoms(stage.environment)


def _find_world_leaks(stage: Stage, names: tuple[str, ...]) -> list[Leak]:
    """Return the leaks that do not depend on the agent."""
    return find_names(read_world(_get_world(stage)), names)


def _find_agent_leaks(stage: Stage, names: Names) -> list[Leak]:
    """Return the leaks in the agent's prompt, in runbooks, and on the agent's host."""
    problem = _get_problem(stage)
    prompt = problem.prompt
    passages = [
        Passage("the description", prompt.description),
        Passage("the instructions", prompt.instructions),
        *(Passage(f"the documentation of {name}", text) for name, text in prompt.actions.items()),
    ]
    runbooks = [Passage(f"the runbook {name}", text) for name, text in problem.task.app.runbooks.items()]
    return [
        *find_names(passages, names.prompt),
        *find_names(runbooks, names.runbooks),
        *find_names(read_containers([_get_world(stage).terminal().machine.host]), names.world),
    ]


def _pass_time(stage: Stage, noise: Noise, seconds: float) -> None:
    """Let the noise of a problem happen and time pass, without a fault."""
    make_noise(stage.environment, (*noise.before, *noise.after))
    stage.environment.run_for(seconds)
    make_noise(stage.environment, noise.late)


def _check_stage_answers(stage: Stage) -> list[Finding]:
    return list(check_answers(_get_problem(stage).task))


def _try_in_copy(copy: Copy[Stage], way: str) -> Outcome:
    try:
        return copy.call(_try_repair, way)
    except CopyFailed as error:
        return f"it failed: {error.last_line}"


def _try_repair(stage: Stage, way: str) -> Outcome:
    problem = _get_problem(stage)
    if way in ROLLBACKS:
        return try_rollback(problem, way)
    try:
        (repair_by_reference if way == REFERENCE else SHORTCUTS[way])(problem)
    except CannotBeTyped as error:
        return str(error)
    return judge(problem.task)


def _make_finding(way: str, outcome: Outcome, keep_cause: bool) -> Finding:
    what = f"{way} passes" if way == REFERENCE else f"{way} fails"
    if isinstance(outcome, str):
        return Finding(what, False, outcome)
    if way == REFERENCE:
        return Finding(what, outcome.passed, outcome.why)
    if outcome.passed:
        return Finding(what, False, "it passes as a repair")
    if keep_cause and outcome.cause_gone:
        return Finding(
            what, False, f"it removes the cause, and fails only by its side effects: {outcome.why}"
        )
    return Finding(what, True, outcome.why)


def _get_fingerprint(stage: Stage) -> tuple[str, str]:
    return stage.environment.world.fingerprint(), stage.environment.cluster.api.log.hash()
