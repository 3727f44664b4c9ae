"""Plans of benchmarks: which agents work on which problems, with which seeds, how often."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any, Final, cast

from aiopslab.benchmark.episodes import HEALTHY, EpisodeKey, Facts
from aiopslab.benchmark.variations import MARK, NAMES, TEMPERATURES, add_temperature
from aiopslab.orchestrator import get_baseline_key, get_fault_key
from aiopslab.orchestrator.problems import ProblemRegistry, measure_difficulty, use_other_names
from aiopslab.orchestrator.transactions import TransactionOptions, Undo

if TYPE_CHECKING:
    from aiopslab.orchestrator.tasks import Task

NO_LAYER: Final = "none"


@dataclass(frozen=True)
class Contestant:
    """An agent with its model."""

    name: str
    """Its name in the store: ``runbook``, ``react@gpt-5-mini``."""
    spec: str
    """The value of ``--agent``."""
    model: str | None = None
    undo: str = ""
    """How commands are undone that make things worse: a value of ``--undo``; empty without transactions."""
    variation: str = ""
    """The variation of the problems that it gets; empty for the problems as they are."""

    def get_problem_id(self, problem: str) -> str:
        """Return the id under which a problem of the plan is posed to it."""
        return use_other_names(problem) if self.variation == NAMES else problem

    @property
    def transactions(self) -> TransactionOptions | bool:
        """The setting ``tnr`` of its sessions."""
        return TransactionOptions(cast(Undo, self.undo)) if self.undo else False


@dataclass(frozen=True)
class Plan:
    """All episodes of a benchmark."""

    contestants: Sequence[Contestant]
    problems: Sequence[str]
    seeds: Sequence[int]
    repeats: int = 1

    @property
    def size(self) -> int:
        return len(self.contestants) * len(self.problems) * len(self.seeds) * self.repeats

    def to_json(self) -> dict[str, Any]:
        """Return the plan as JSON types, for the store."""
        return {
            "contestants": [asdict(contestant) for contestant in self.contestants],
            "problems": list(self.problems),
            "seeds": list(self.seeds),
            "repeats": self.repeats,
        }

    @classmethod
    def from_json(cls, document: Mapping[str, Any]) -> Plan:
        """Return the plan that a store holds."""
        contestants = [Contestant(**contestant) for contestant in document["contestants"]]
        return cls(contestants, document["problems"], document["seeds"], document["repeats"])


@dataclass(frozen=True)
class Job:
    """One episode to run. Jobs with the same baseline, and those with the same fault, share a prepared world."""

    key: EpisodeKey
    contestant: Contestant
    facts: Facts
    baseline: str
    fault: str
    index: int
    """Position in the plan. It decides the order of the work, so that tasks of a fault follow each other."""


def make_contestants(
    specs: Sequence[str], models: Sequence[str], takes_model: Sequence[bool]
) -> list[Contestant]:
    """Return each agent, those that take a model once with each model."""
    found = []
    for spec, takes in zip(specs, takes_model, strict=True):
        name = shorten_spec(spec)
        if not (takes and models):
            found.append(Contestant(name, spec))
            continue
        plain = [model.partition("?")[0] for model in models]
        are_distinct = len(set(plain)) == len(plain)
        for model, short in zip(models, plain, strict=True):
            found.append(Contestant(f"{name}@{short if are_distinct else model}", spec, model))
    counts = Counter(contestant.name for contestant in found)
    return [
        contestant
        if counts[contestant.name] == 1
        else Contestant(contestant.spec, contestant.spec, contestant.model)
        for contestant in found
    ]


def use_transactions(contestant: Contestant, undo: str) -> Contestant:
    """Return the agent with transactions, and with a name that says so: ``react+tnr``, ``react+tnr-copy``."""
    suffix = "+tnr" if undo == "inverse" else f"+tnr-{undo}"
    return replace(contestant, name=contestant.name + suffix, undo=undo)


def add_variations(contestants: Sequence[Contestant], names: Sequence[str]) -> list[Contestant]:
    """Return each contestant, and after it the same in each variation; temperatures only for those that have a model."""
    found = []
    for contestant in contestants:
        found.append(contestant)
        for variation in names:
            model = contestant.model
            if variation in TEMPERATURES and model is None:
                continue
            name = f"{contestant.name}{MARK}{variation}"
            varied = None if model is None else add_temperature(model, variation)
            found.append(replace(contestant, name=name, model=varied, variation=variation))
    return found


def shorten_spec(spec: str) -> str:
    """Return a short name for a value of ``--agent``: the class of a file, the program of a command."""
    if spec.startswith("cmd:"):
        return spec.removeprefix("cmd:").split()[0].rpartition("/")[2] if spec != "cmd:" else spec
    place, _, name = spec.partition(":")
    return name if place.endswith(".py") or "." in place else spec


def list_jobs(plan: Plan, registry: ProblemRegistry) -> list[Job]:
    """Return the jobs of a plan, grouped so that problems that share a world follow each other; raises ``NoOtherNames``."""
    groups = []
    for seed in plan.seeds:
        for problem in plan.problems:
            contestants: dict[str, list[Contestant]] = {}
            for contestant in plan.contestants:
                contestants.setdefault(contestant.get_problem_id(problem), []).append(contestant)
            for posed, own in contestants.items():
                task = registry.get_problem_instance(posed, seed)
                baseline, fault = get_baseline_key(task, task.seed), get_fault_key(task, task.seed)
                groups.append((repr(baseline), repr(fault), seed, problem, task, own))
    groups.sort(key=lambda group: (group[2], *group[:2]))
    jobs: list[Job] = []
    for baseline_key, fault_key, seed, problem, task, own in groups:
        facts = find_facts(task)
        for contestant in own:
            for repeat in range(plan.repeats):
                key = EpisodeKey(contestant.name, problem, seed, repeat)
                jobs.append(Job(key, contestant, facts, baseline_key, fault_key, len(jobs)))
    return jobs


def find_facts(task: Task) -> Facts:
    """Return what reports group a problem by."""
    layers = dict.fromkeys(fault.layer for fault in task.faults)
    names = dict.fromkeys(fault.name for fault in task.faults)
    family = "+".join(names) or (task.id if task.breaks else HEALTHY)
    return Facts(
        task.task_type,
        task.app.name,
        family,
        "+".join(layers) or NO_LAYER,
        measure_difficulty(task).rating if task.breaks else NO_LAYER,
    )


class WorkQueue:
    """Jobs that are waiting. Workers get those whose world they hold, then those of worlds that no other worker holds."""

    def __init__(self, jobs: Iterable[Job]) -> None:
        self._groups: dict[str, dict[int, Job]] = {}
        """Jobs by fault, each by its index, in this order."""
        for job in jobs:
            self.put(job)

    def __len__(self) -> int:
        return sum(map(len, self._groups.values()))

    def put(self, job: Job) -> None:
        """Add a job, or put one back."""
        group = self._groups.setdefault(job.fault, {})
        is_late = bool(group) and job.index < next(reversed(group))
        group[job.index] = job
        if is_late:
            self._groups[job.fault] = dict(sorted(group.items()))

    def take(self, last: Job | None, others: Iterable[Job] = (), worthwhile: int = 1) -> Job | None:
        """Remove and return the best job for a worker, given the last jobs of this worker and of the others; None if there is none.

        A worker prepares a world that another one holds only if ``worthwhile`` jobs or more are waiting for it.
        """
        groups = {fault: jobs for fault, jobs in self._groups.items() if jobs}
        if not groups:
            return None
        others = list(others)
        faults, baselines = {job.fault for job in others}, {job.baseline for job in others}
        waiting: Counter[str] = Counter()
        for jobs in groups.values():
            waiting[next(iter(jobs.values())).baseline] += len(jobs)

        def rank(fault: str) -> tuple[int, int, int]:
            first = next(iter(groups[fault]))
            baseline = groups[fault][first].baseline
            if last is not None and fault == last.fault:
                preference = 0
            elif fault in faults:
                preference = 4
            elif last is not None and baseline == last.baseline:
                preference = 1
            else:
                preference = 3 if baseline in baselines else 2
            return preference, -waiting[baseline], first

        chosen = groups[min(groups, key=rank)]
        job = next(iter(chosen.values()))
        holds_world = last is not None and job.baseline == last.baseline
        if not holds_world and job.baseline in baselines and waiting[job.baseline] < worthwhile:
            return None
        return chosen.pop(job.index)
