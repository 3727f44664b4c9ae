"""Is a problem fair? Every claim is tried on copies of its world, and what was found is said of each.

    with Validator(seed=7) as validator:
        for finding in validator.validate("scale_pod_zero_social_net-mitigation-1"):
            print(finding)

For every problem: the incident shows (and nothing does where nothing is wrong), and nothing that an agent can read names it.
For answers: the right one succeeds, and none that could be given unseen. For repairs: the reference repair passes when
it is typed at an agent's terminal, and doing nothing, restarting, deleting, scaling away or taking everything back does
not. On demand: one seed gives one outcome.
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from types import TracebackType
from typing import Final

from aiopslab.orchestrator.oracles import Finding
from aiopslab.orchestrator.posing import Posed
from aiopslab.orchestrator.problems import ProblemRegistry
from aiopslab.orchestrator.stages import Stage, Stages
from aiopslab.orchestrator.staging import Tell, baseline_key, fault_key, silent
from aiopslab.orchestrator.tasks import MitigationTask, Task
from aiopslab.orchestrator.validation.answers import answers_told_apart
from aiopslab.orchestrator.validation.evidence import Signs, shows, signs
from aiopslab.orchestrator.validation.leaks import OURS_ALONE, TELLTALES, Leak, find_names, new_leaks
from aiopslab.orchestrator.validation.readable import Passage, on_hosts, readable
from aiopslab.orchestrator.validation.repairs import (
    SHORTCUTS,
    TAKEN_BACK,
    CannotBeTyped,
    Judged,
    cause_must_stay,
    judged,
    referenced,
    took_back,
)
from simcloud.world.copies import Copy, CopyFailed

JOBS: Final = 2
"""So many ways to repair are tried at a time."""
SHOWN: Final = 3
REFERENCE: Final = "the reference repair"
Outcome = Judged | str
"""How a way to repair was judged, or why it could not even be tried."""
_OF_FAMILY: Final = re.compile(r"(-(detection|localization|analysis|mitigation))?(-\d+)?$")


@dataclass(frozen=True)
class Names:
    """By what we know an incident: in the world, and in what its agent is told."""

    world: tuple[str, ...]
    told: tuple[str, ...]
    written: tuple[str, ...]
    """What stands in no runbook. A fault's name may: ``target port`` is a field of every Service."""

    @classmethod
    def of(cls, task: Task) -> Names:
        """All of them. The labels that are asked for are told everybody."""
        faults = [name for fault in task.faults for name in (fault.name, fault.known_as)]
        ours = (task.id, _OF_FAMILY.sub("", task.id))
        kinds = [fault.truth.fault_type for fault in task.faults]
        # Who finds the id finds the family: so the problems of a fault are searched for by the same names, and once.
        return cls((ours[-1], *faults, *kinds, *TELLTALES), (*ours, *faults), (*ours, *OURS_ALONE))


@dataclass(frozen=True)
class Seen:
    """What can be seen in a copy."""

    signs: Signs
    named: list[Leak]


class Validator:
    """Tries problems, and keeps between them what they share."""

    def __init__(
        self,
        seed: int = 0,
        *,
        problems: ProblemRegistry | None = None,
        tell: Tell = silent,
        twice: bool = False,
    ) -> None:
        """With ``twice`` each problem is also staged a second time, from nothing, and must come out the same."""
        self._problems = problems or ProblemRegistry()
        self._seed = seed
        self._tell = tell
        self._stages = Stages(seed, registry=self._problems, tell=tell)
        self._again = Stages(seed, registry=self._problems) if twice else None
        self._untouched: dict[Hashable, Copy[Stage]] = {}
        self._seen: dict[Hashable, Seen] = {}

    def validate(self, problem_id: str) -> list[Finding]:
        """All findings; the problem is fair when each of them is well. Raises ``UnknownProblem``."""
        task = self._problems.get_problem(problem_id)
        return [*self._looked(task), *self._answered(task), *self._repaired(task), *self._repeated(task)]

    def _looked(self, task: Task) -> Iterator[Finding]:
        self._tell(f"{task.id}: what shows, and what is told")
        names = Names.of(task)
        untouched = self._looked_at(self._left_alone(task), ("untouched", *self._age(task)), names)
        with self._stages.episode(task.id) as copy:
            after = self._looked_at(copy, fault_key(task, self._seed), names)
            told = copy.call(_told, names)
        yield from shows(after.signs, untouched.signs, task.breaks)
        leaks = new_leaks((*told, *after.named), untouched.named)
        yield Finding("nothing names it", not leaks, "; ".join(map(str, leaks[:SHOWN])))

    def _looked_at(self, copy: Copy[Stage], key: tuple[object, ...], names: Names) -> Seen:
        """What can be seen in a world, which the key says which is; problems that share it share the look."""
        looked = (*key, names.world)
        if looked not in self._seen:
            self._seen[looked] = copy.call(_seen, names)
        return self._seen[looked]

    def _age(self, task: Task) -> tuple[object, ...]:
        return *baseline_key(task, self._seed), task.soak_s

    def _left_alone(self, task: Task) -> Copy[Stage]:
        """The same world, as old, in which nothing was done; looking at it does not change it."""
        key = self._age(task)
        if key not in self._untouched:
            self._untouched[key] = self._stages.untouched(task.id)
            self._untouched[key].call(_waited, task.soak_s)
        return self._untouched[key]

    def _answered(self, task: Task) -> Iterator[Finding]:
        if isinstance(task, MitigationTask):
            return
        with self._stages.episode(task.id) as copy:
            yield from copy.call(_answers)

    def _repaired(self, task: Task) -> Iterator[Finding]:
        if not isinstance(task, MitigationTask):
            return
        ways = (REFERENCE, *SHORTCUTS, *TAKEN_BACK)
        self._tell(f"{task.id}: {REFERENCE}, and {len(ways) - 1} that are none")
        for way, outcome in self._tried(task, ways).items():
            yield _repair_found(way, outcome, cause_must_stay(way, task))

    def _tried(self, task: Task, ways: tuple[str, ...]) -> dict[str, Outcome]:
        with ThreadPoolExecutor(JOBS) as pool:
            copies = [self._stages.episode(task.id) for _ in ways]
            try:
                return dict(zip(ways, pool.map(_outcome, copies, ways), strict=True))
            finally:
                for copy in copies:
                    copy.close()

    def _repeated(self, task: Task) -> Iterator[Finding]:
        if self._again is None:
            return
        self._tell(f"{task.id}: a second time, from nothing")
        with self._again.episode(task.id) as again, self._stages.episode(task.id) as once:
            same = again.call(_fingerprint) == once.call(_fingerprint)
        yield Finding("one seed, one outcome", same, "" if same else "two stagings of it differ")

    def close(self) -> None:
        """End everything that is kept."""
        for stages in (self._stages, self._again):
            if stages is not None:
                stages.close()
        while self._untouched:
            self._untouched.popitem()[1].close()

    def __enter__(self) -> Validator:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def _posed(stage: Stage) -> Posed:
    assert stage.posed is not None, "no problem was posed here"
    return stage.posed


def _seen(stage: Stage, names: Names) -> Seen:
    """What can be seen in a world, whoever looks."""
    return Seen(signs(stage.environment), find_names(readable(stage.environment), names.world))


def _told(stage: Stage, names: Names) -> list[Leak]:
    """What names it among all that this problem's agent is told, and finds on its own host."""
    posed = _posed(stage)
    prompt = posed.prompt
    told = [
        Passage("the description", prompt.description),
        Passage("the instructions", prompt.instructions),
        *(Passage(f"the documentation of {name}", text) for name, text in prompt.actions.items()),
    ]
    runbooks = [Passage(f"the runbook {name}", text) for name, text in posed.task.app.runbooks.items()]
    return [
        *find_names(told, names.told),
        *find_names(runbooks, names.written),
        *find_names(on_hosts([posed.terminal.machine.host]), names.world),
    ]


def _waited(stage: Stage, seconds: float) -> None:
    stage.environment.run_for(seconds)


def _answers(stage: Stage) -> list[Finding]:
    return list(answers_told_apart(_posed(stage).task))


def _outcome(copy: Copy[Stage], way: str) -> Outcome:
    try:
        return copy.call(_tried_and_judged, way)
    except CopyFailed as error:
        return f"it broke off: {str(error).strip().splitlines()[-1]}"


def _tried_and_judged(stage: Stage, way: str) -> Outcome:
    posed = _posed(stage)
    if way in TAKEN_BACK:
        return took_back(posed, way)
    try:
        (referenced if way == REFERENCE else SHORTCUTS[way])(posed)
    except CannotBeTyped as error:
        return str(error)
    return judged(posed.task)


def _repair_found(way: str, outcome: Outcome, cause_stays: bool) -> Finding:
    what = f"{way} passes" if way == REFERENCE else f"{way} fails"
    if isinstance(outcome, str):
        return Finding(what, False, outcome)
    if way == REFERENCE:
        return Finding(what, outcome.passed, outcome.why)
    if outcome.passed:
        return Finding(what, False, "it passes for a repair")
    if cause_stays and outcome.cause_gone:
        return Finding(
            what, False, f"it removes the cause, and fails only by what else it does: {outcome.why}"
        )
    return Finding(what, True, outcome.why)


def _fingerprint(stage: Stage) -> tuple[str, str]:
    return stage.environment.world.fingerprint(), stage.environment.cluster.api.log.hash()
