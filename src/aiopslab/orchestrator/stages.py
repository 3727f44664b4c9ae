"""Prepared problems, copied by fork: what several episodes need is prepared once.

    with Stages(seed=7) as stages:
        with stages.episode("scale_pod_zero_social_net-detection-1") as copy:
            result = copy.call(run_episode, make_agent)

A tree of processes stands behind it: an application's baseline is shared by all its faults, a fault by its four tasks, a
problem by its episodes. Problems cross into these processes by their ids, with the files they were loaded from. What an episode
does stays in its copy, and is the same as if ``Orchestrator`` had prepared the problem itself.
"""

from __future__ import annotations

import asyncio
import signal
from collections import OrderedDict
from collections.abc import Callable, Hashable, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Final

from aiopslab.orchestrator.agent import link
from aiopslab.orchestrator.episode import Episode, Pace
from aiopslab.orchestrator.orchestrator import MAX_STEPS, Orchestrator
from aiopslab.orchestrator.posing import Posed, pose
from aiopslab.orchestrator.problems import ProblemRegistry
from aiopslab.orchestrator.session import Session
from aiopslab.orchestrator.staging import Tell, baseline_key, fault_key, settled, silent, stage
from aiopslab.orchestrator.tasks import Task
from simcloud.world.copies import Copy

MOST_KEPT: Final = 48
"""So many processes hold prepared worlds at a time; the one that was not needed for longest ends first."""


class Stage:
    """What lives in such a process: a world on its way to an episode. Each of its steps is taken in a copy of its own."""

    def __init__(self, problem_id: str, seed: int, files: Sequence[Path] = ()) -> None:
        """The baseline of a problem, which may stand in one of these files."""
        self.registry = ProblemRegistry()
        for file in files:
            self.registry.load(file)
        self.environment = settled(self.registry.get_problem(problem_id), seed)
        self.task: Task | None = None
        """The one that broke this world, once it is broken."""
        self.posed: Posed | None = None
        """The problem that stands ready, once one does."""

    def stage(self, problem_id: str) -> None:
        """Break it."""
        self.task = self.registry.get_problem(problem_id)
        stage(self.task, self.environment)

    def pose(self, problem_id: str) -> None:
        """Open the agent's host, for the task that broke it or for another of the same fault."""
        assert self.task is not None
        if self.task.id != problem_id:
            broken_by, self.task = self.task, self.registry.get_problem(problem_id)
            self.task.environment = self.environment
            self.task.faults = broken_by.faults  # they may remember what they found
        self.posed = pose(self.task)


class Stages:
    """Prepares problems as they are asked for, and keeps what others can share."""

    def __init__(
        self, seed: int = 0, *, registry: ProblemRegistry | None = None, tell: Tell = silent
    ) -> None:
        """``registry`` is where problems are found, with the files that were loaded into it."""
        self._seed = seed
        self._registry = registry or ProblemRegistry()
        self._tell = tell
        self._kept: OrderedDict[Hashable, Copy[Stage]] = OrderedDict()
        self._repeated: Copy[Stage] | None = None
        """The problem that was asked for last: the only one of which a copy is kept ready."""

    def episode(self, problem_id: str) -> Copy[Stage]:
        """A fresh copy of a problem that stands ready; whoever takes it closes it. The next one is made meanwhile."""
        problem = self._problem(self._registry.get_problem(problem_id))
        copy = problem.branch()
        if problem is not self._repeated:
            if self._repeated is not None:
                self._repeated.keep_spare(None)
            problem.keep_spare(first_look)
            self._repeated = problem
        return copy

    def untouched(self, problem_id: str) -> Copy[Stage]:
        """A fresh copy of a problem's world in which nothing was done yet; whoever takes it closes it."""
        return self._baseline(self._registry.get_problem(problem_id)).branch()

    def _problem(self, task: Task) -> Copy[Stage]:
        fault = self._fault(task)
        return self._shared(("problem", task.id), lambda: fault.branch(Stage.pose, task.id))

    def _fault(self, task: Task) -> Copy[Stage]:
        baseline = self._baseline(task)

        def broken() -> Copy[Stage]:
            self._tell(f"{task.id}: the problem is posed, {task.soak_s:g} simulated seconds pass")
            return baseline.branch(Stage.stage, task.id)

        return self._shared(("fault", fault_key(task, self._seed)), broken)

    def _baseline(self, task: Task) -> Copy[Stage]:
        def prepared() -> Copy[Stage]:
            self._tell(f"{task.app.name}: the cluster comes up, users come, a baseline is recorded")
            return Copy.of(Stage, task.id, self._seed, self._registry.loaded)

        return self._shared(("baseline", baseline_key(task, self._seed)), prepared)

    def _shared(self, key: Hashable, make: Callable[[], Copy[Stage]]) -> Copy[Stage]:
        if key not in self._kept:
            self._kept[key] = make()
            while len(self._kept) > MOST_KEPT:
                self._kept.popitem(last=False)[1].close()
        self._kept.move_to_end(key)
        return self._kept[key]

    def close(self) -> None:
        """End all processes that are kept."""
        while self._kept:
            self._kept.popitem()[1].close()

    def __enter__(self) -> Stages:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def run_episode(
    world: Stage,
    make_agent: Callable[[], object],
    name: str = "agent",
    *,
    max_steps: int = MAX_STEPS,
    results: Path | None = None,
    **settings: Any,
) -> dict[str, Any]:
    """Let an agent work in a copy; ``settings`` are those of ``Orchestrator``. Returns what ``start_problem`` does.

    What ``make_agent`` gives is told the problem by its ``init_context``, if it has one.
    Ctrl-C at the terminal reaches it, too: the session is recorded, and the copy ends.
    """
    if world.posed is None:
        raise ValueError("No problem stands ready in this copy: take one from Stages.episode.")
    # Copies ignore both; but an agent may be a child of theirs, and a session wants to end in a record.
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    orchestrator = Orchestrator(results, probs=world.registry, **settings)
    orchestrator.take(world.posed)
    orchestrator.register_agent(make_agent(), name, introduce=True)
    return asyncio.run(orchestrator.start_problem(max_steps))


def first_look(world: Stage) -> None:
    """What every session does at first, for a rehearsal: an agent is asked, looks, and is told what it saw."""
    assert world.posed is not None
    task, environment = world.posed.task, world.posed.environment
    began_s = environment.now
    session = Session(task.id, "rehearsal", environment.seed, 1, began_s, began_s, max_steps=1)
    look = f'exec_shell("kubectl get pods -n {environment.namespace}")'
    pace = Pace(thinking_s=0.0)
    agent = link(lambda _state: look, session.agent_name, timeout_s=pace.agent_timeout_s)
    asyncio.run(Episode(world.posed, session, pace).run(agent))
