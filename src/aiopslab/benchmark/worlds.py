"""Runs episodes in a worker process: in copies of prepared worlds, or on a real cluster."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from aiopslab.agents import make_process, start_nursery
from aiopslab.benchmark.episodes import Episode, build_episode
from aiopslab.benchmark.executor import WorkerBroken
from aiopslab.benchmark.plan import Job
from aiopslab.benchmark.store import SESSIONS
from aiopslab.benchmark.variations import vary_prompt
from aiopslab.orchestrator import (
    AGENT_FAILURES,
    LIVE_TIMEOUT_S,
    Nursery,
    NurseryLink,
    Pace,
    Redactor,
    Stage,
    Stages,
    end_on_signals,
    end_with_parent,
    find_secrets,
    prepare_on_cluster,
    run_episode,
    shield_harness,
)
from aiopslab.orchestrator.problems import ProblemRegistry
from simcloud.world import Copy, CopyLost

if TYPE_CHECKING:
    from aiopslab.cloud.kubernetes import KubernetesOptions

MAX_WORLDS: Final = 8
"""Processes with prepared worlds per worker: a baseline, a fault, its tasks, and the previous fault."""


@dataclass(frozen=True)
class EpisodeOptions:
    """What all episodes of a run have in common."""

    folder: Path
    """Folder of the store."""
    max_steps: int = 30
    thinking_s: float = 5.0
    agent_timeout_s: float = 600.0
    env: Sequence[str] = ()
    """Names of further environment variables that agents get."""
    isolate: bool = False
    files: Sequence[Path] = ()
    """Files with problems."""
    cluster: KubernetesOptions | None = None
    """The real cluster to run on; None for the embedded cloud."""

    @property
    def settings(self) -> dict[str, Any]:
        """What decides the outcome of an episode, for the store."""
        return {
            "max_steps": self.max_steps,
            "thinking_s": self.thinking_s,
            "agent_timeout_s": self.agent_timeout_s,
            "isolate": self.isolate,
            "cloud": "embedded" if self.cluster is None else "kubernetes",
        }


WorldFunction = Callable[[Stage, Job, EpisodeOptions], Any]


class WorldPerformer:
    """Calls a function in a fresh copy of each job's problem. Worlds are prepared when they are first needed.

    ``thinking_s`` is the thinking time of the episodes that the function runs, if all have the same.
    """

    def __init__(self, function: WorldFunction, options: EpisodeOptions, thinking_s: float = 0.0) -> None:
        self.options = options
        self._function = function
        self._thinking_s = thinking_s
        self._stages: dict[int, Stages] = {}
        """The prepared worlds of one seed."""

    def perform(self, job: Job) -> Any:
        """Return what the function returns; raises ``CopyFailed`` for its errors and ``WorkerBroken`` for a lost process."""
        try:
            problem = job.contestant.get_problem_id(job.key.problem)
            with self._get_stages(job.key.seed).episode(problem) as copy:
                return self.call(copy, job)
        except (CopyLost, OSError) as error:
            raise WorkerBroken from error

    def call(self, copy: Copy[Stage], job: Job) -> Any:
        """Call the function in a copy."""
        return copy.call(self._function, job, self.options)

    def _get_stages(self, seed: int) -> Stages:
        if seed not in self._stages:
            self._end_worlds()
            registry = ProblemRegistry()
            for file in self.options.files:
                registry.load(file)
            module = self._function.__module__
            self._stages[seed] = Stages(
                seed,
                registry=registry,
                max_processes=MAX_WORLDS,
                modules=[module],
                thinking_s=self._thinking_s,
            )
        return self._stages[seed]

    def _end_worlds(self) -> None:
        while self._stages:
            self._stages.popitem()[1].close()

    def close(self) -> None:
        """End what the performer holds."""
        self._end_worlds()


class AgentPerformer(WorldPerformer):
    """Runs agents, in processes that a nursery forks where there can be one."""

    def __init__(self, options: EpisodeOptions) -> None:
        super().__init__(run_agent, options, options.thinking_s)
        self._nursery: Nursery | None = None

    def perform(self, job: Job) -> Any:
        if self._nursery is None or not self._nursery.is_alive:
            self._end_nursery()
            self._nursery = start_nursery()  # imports agents while the first world is prepared
        episode = super().perform(job)
        if episode.ending in AGENT_FAILURES:  # it cannot reach the nursery, but may have tried
            self._end_nursery()
        return episode

    def call(self, copy: Copy[Stage], job: Job) -> Any:
        link = None
        if self._nursery is not None:
            descriptor, pid = self._nursery.link
            link = NurseryLink(copy.pass_file(descriptor), pid)
        return copy.call(run_agent, job, self.options, link)

    def _end_nursery(self) -> None:
        if self._nursery is not None:
            self._nursery.close()
            self._nursery = None

    def close(self) -> None:
        super().close()
        self._end_nursery()


class ClusterPerformer:
    """Runs agents on a real cluster. Each episode deploys the application and removes it again, also after a signal to end."""

    def __init__(self, options: EpisodeOptions) -> None:
        self._options = options

    def perform(self, job: Job) -> Episode:
        """Return the episode; raises ``ClusterFailed`` if it is void."""
        options = self._options
        assert options.cluster is not None
        with end_on_signals():
            world = prepare_on_cluster(job.key.problem, job.key.seed, options.files, options.cluster)
            with closing(world.environment):
                return run_agent(world, job, options)

    def close(self) -> None:
        """Hold nothing between two episodes, so that there is nothing to end."""


def run_agent(world: Stage, job: Job, options: EpisodeOptions, nursery: NurseryLink | None = None) -> Episode:
    """Run an agent in a process of its own on a prepared problem, and return the episode."""
    end_with_parent()
    shield_harness()
    contestant = job.contestant
    sessions = options.folder / SESSIONS
    if contestant.variation:
        problem = world.problem
        assert problem is not None
        world.problem = replace(problem, prompt=vary_prompt(contestant.variation, problem.prompt, job.key))
    name, agent = make_process(
        contestant.spec,
        contestant.model,
        options.env,
        isolate=options.isolate,
        hidden=[options.folder],
        nursery=nursery,
    )
    result = run_episode(
        world,
        lambda: agent,
        name,
        max_steps=options.max_steps,
        results=sessions,
        thinking_s=options.thinking_s,
        agent_timeout_s=options.agent_timeout_s,
        action_timeout_s=Pace.action_timeout_s if options.cluster is None else LIVE_TIMEOUT_S,
        episodes=job.key.repeat,
        tnr=contestant.transactions,
    )
    record = result["record"]
    return build_episode(job.key, job.facts, result, f"{SESSIONS}/{record.name}" if record else "")


def make_remote_performer(options: EpisodeOptions, folder: Path) -> AgentPerformer:
    """Return a performer on another machine, with a folder there."""
    return AgentPerformer(replace(options, folder=folder))


def describe_failure(trace: str) -> tuple[str, str]:
    """Return ending and explanation of an episode for a traceback of the harness."""
    last = trace.strip().splitlines()[-1] if trace.strip() else "no reason is known"
    ending = "harness timed out" if "HarnessTimedOut" in last else "harness error"
    return ending, Redactor(find_secrets(os.environ)).redact(last)
