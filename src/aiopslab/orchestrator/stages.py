"""Prepared problems, copied by fork: what several episodes need is prepared once.

    with Stages(seed=7) as stages:
        with stages.episode("scale_pod_zero_social_net-detection-1") as copy:
            result = copy.call(run_episode, make_agent)

Behind it is a tree of processes: an application's baseline is shared by all its faults, a fault by its four tasks, a
problem by its episodes. Problems are passed to these processes by id, with the files they were loaded from. An episode
changes only its own copy, and has the same outcome as if ``Orchestrator`` had prepared the problem itself.
"""

from __future__ import annotations

import asyncio
import signal
from collections import OrderedDict
from collections.abc import Callable, Hashable, Sequence
from importlib import import_module
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Final

from aiopslab.orchestrator.agent import link
from aiopslab.orchestrator.episode import Episode, Pace
from aiopslab.orchestrator.orchestrator import MAX_STEPS, Orchestrator
from aiopslab.orchestrator.preparation import (
    PreparedProblem,
    deploy,
    deploy_on_cluster,
    get_baseline_key,
    get_fault_key,
    open_problem,
    stage,
)
from aiopslab.orchestrator.problems import ProblemRegistry
from aiopslab.orchestrator.records import get_version
from aiopslab.orchestrator.session import Session
from aiopslab.orchestrator.tasks import Task
from aiopslab.utils import ProgressCallback, ignore_progress, list_extensions
from simcloud.world import Copy

if TYPE_CHECKING:
    from aiopslab.cloud import IncidentSite
    from aiopslab.cloud.kubernetes import KubernetesOptions

MAX_PROCESSES: Final = 48
"""Maximum number of processes that hold prepared worlds; the least recently used one ends first."""
INTERPRETERS: Final = (
    "simcloud.datastores.mongodb.shell",
    "simcloud.userland.awk.command",
    "simcloud.userland.jq.command",
    "simcloud.userland.yq.command",
)
"""Modules that are otherwise imported when somebody runs these programs."""


class Stage:
    """The content of one such process: a world on its way to an episode. Each step is taken in a copy of its own."""

    def __init__(
        self,
        problem_id: str,
        seed: int,
        files: Sequence[Path] = (),
        modules: Sequence[str] = (),
        cluster: KubernetesOptions | None = None,
    ) -> None:
        """Deploy the baseline of a problem, which may be defined in one of these files.

        ``modules`` and interpreters are imported here, and installed packages looked up, because every copy would have to do it again.
        On a real ``cluster``, which cannot be copied, the caller closes the environment.
        """
        for module in (*INTERPRETERS, *modules):
            import_module(module)
        list_extensions("aiopslab.metrics")
        get_version()
        self.registry = ProblemRegistry()
        for file in files:
            self.registry.load(file)
        self.seed = seed
        task = self.get_task(problem_id)
        self.environment: IncidentSite = (
            deploy(task, task.seed) if cluster is None else deploy_on_cluster(task, task.seed, cluster)
        )
        self.task: Task | None = None
        """The task whose fault is injected here, once it is."""
        self.problem: PreparedProblem | None = None
        """The problem that is ready, once it is."""
        self.thinking_s = 0.0
        """How far the world is ahead of the beginning of its session."""
        self.orchestrator: Orchestrator | None = None
        """Runs the session of this copy, if its caller takes the steps."""

    def get_task(self, problem_id: str) -> Task:
        """Return a new instance of a problem, drawn from this world's seed."""
        return self.registry.get_problem_instance(problem_id, self.seed)

    def inject_fault(self, problem_id: str) -> None:
        """Inject the problem's fault."""
        self.task = self.get_task(problem_id)
        stage(self.task, self.environment)
        self.environment.world.emitter.settle()  # here once, instead of for each task and in every copy

    def open_problem(self, problem_id: str, thinking_s: float = 0.0) -> None:
        """Open the agent's terminal, for the task whose fault was injected or for another of the same fault.

        ``thinking_s`` is the simulated time that every session on this world will give its agent for the first answer. It passes
        here once, because nothing that an agent does can change it, instead of in every copy.
        """
        assert self.task is not None
        if self.task.id != problem_id:
            injected, self.task = self.task, self.get_task(problem_id)
            self.task.environment = self.environment
            self.task.faults = injected.faults  # they may hold state from before the injection
        self.problem = open_problem(self.task)
        self.thinking_s = thinking_s
        if thinking_s:
            self.environment.run_for(thinking_s)
            self.environment.world.emitter.settle()


def prepare_on_cluster(
    problem_id: str, seed: int, files: Sequence[Path], cluster: KubernetesOptions
) -> Stage:
    """Prepare a problem on a real cluster. The caller closes the environment, which removes everything from there."""
    world = Stage(problem_id, seed, files, cluster=cluster)
    try:
        world.inject_fault(problem_id)
        world.open_problem(problem_id)
    except BaseException:
        world.environment.close()
        raise
    return world


class Stages:
    """Prepares problems on demand, and keeps what others can share."""

    def __init__(
        self,
        seed: int = 0,
        *,
        registry: ProblemRegistry | None = None,
        tell: ProgressCallback = ignore_progress,
        max_processes: int = MAX_PROCESSES,
        modules: Sequence[str] = (),
        with_script: bool = True,
        thinking_s: float = 0.0,
    ) -> None:
        """``registry`` holds the problems, with the files that were loaded into it. ``modules`` are imported before any copy.

        ``thinking_s`` is the thinking time of all episodes, if they have the same: copies are faster when it is known in advance.
        The caller's script is imported, too, so that its functions can be called in copies; unless ``with_script`` is false.
        """
        self._seed = seed
        self._registry = registry or ProblemRegistry()
        self._tell = tell
        self.max_processes = max_processes
        self._modules = tuple(modules)
        self._with_script = with_script
        self._thinking_s = thinking_s
        self._kept: OrderedDict[Hashable, Copy[Stage]] = OrderedDict()
        self._with_spare: Copy[Stage] | None = None
        """The most recent problem: the only one that keeps a spare copy ready."""

    def episode(self, problem_id: str) -> Copy[Stage]:
        """Return a fresh copy of a prepared problem, which the caller closes. The next copy is made in the background."""
        problem = self._get_problem(self._registry.get_problem_instance(problem_id, self._seed))
        copy = problem.branch()
        if problem is not self._with_spare:
            if self._with_spare is not None:
                self._with_spare.keep_spare(None)
            problem.keep_spare(rehearse_session)
            self._with_spare = problem
        return copy

    def copy_baseline(self, problem_id: str) -> Copy[Stage]:
        """Return a fresh copy of a problem's world before any fault, which the caller closes."""
        return self._get_baseline(self._registry.get_problem_instance(problem_id, self._seed)).branch()

    def _get_problem(self, task: Task) -> Copy[Stage]:
        fault = self._get_fault(task)

        def make() -> Copy[Stage]:
            return fault.branch(Stage.open_problem, task.id, self._thinking_s)

        return self._get_or_make(("problem", task.id), make)

    def _get_fault(self, task: Task) -> Copy[Stage]:
        baseline = self._get_baseline(task)

        def make() -> Copy[Stage]:
            self._tell(f"{task.id}: preparing the problem, {task.soak_s:g} simulated seconds pass")
            return baseline.branch(Stage.inject_fault, task.id)

        return self._get_or_make(("fault", get_fault_key(task, task.seed)), make)

    def _get_baseline(self, task: Task) -> Copy[Stage]:
        def make() -> Copy[Stage]:
            self._tell(f"{task.app.name}: deploying the cluster, starting users, recording a baseline")
            files = self._registry.loaded
            start = Copy.of if self._with_script else Copy.of_imported
            return start(Stage, task.id, task.seed, files, self._modules)

        return self._get_or_make(("baseline", get_baseline_key(task, task.seed)), make)

    def _get_or_make(self, key: Hashable, make: Callable[[], Copy[Stage]]) -> Copy[Stage]:
        if key not in self._kept:
            self._kept[key] = make()
            while len(self._kept) > self.max_processes:
                self._kept.popitem(last=False)[1].close()
        self._kept.move_to_end(key)
        return self._kept[key]

    def close(self) -> None:
        """End all kept processes."""
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
    """Run an agent in a copy; ``settings`` are those of ``Orchestrator``. Returns what ``start_problem`` returns.

    The agent from ``make_agent`` gets the problem by its ``init_context``, if it has one.
    Ctrl-C at the terminal interrupts the copy too: the session is recorded, and the copy ends.
    """
    if world.problem is None:
        raise ValueError("No problem is prepared in this copy: take one from Stages.episode.")
    if world.thinking_s not in (0.0, settings.get("thinking_s", Pace.thinking_s)):
        raise ValueError(f"This copy was prepared for episodes with thinking_s={world.thinking_s:g}.")
    # Copies ignore both signals; but an agent may be a child process, and an interrupted session must be recorded.
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    orchestrator = Orchestrator(results, probs=world.registry, **{"tell": ignore_progress, **settings})
    orchestrator.use_problem(world.problem)
    orchestrator.register_agent(make_agent(), name, introduce=True)
    return asyncio.run(orchestrator.start_problem(max_steps))


def rehearse_session(world: Stage) -> None:
    """Do what every session does first: ask an agent, run a command, return the observation.

    If the thinking time is known, it passes once more: until the second step, a session writes to most of what it will ever write to.
    """
    assert world.problem is not None
    task, environment = world.problem.task, world.problem.environment
    began_s, steps = environment.now, 2 if world.thinking_s else 1
    session = Session(task.id, "rehearsal", environment.seed, 1, began_s, began_s, max_steps=steps)
    action = f'exec_shell("kubectl get pods -n {environment.namespace}")'
    pace = Pace(thinking_s=world.thinking_s)
    agent = link(lambda _state: action, session.agent_name, timeout_s=pace.agent_timeout_s)
    asyncio.run(Episode(world.problem, session, pace).run(agent))
