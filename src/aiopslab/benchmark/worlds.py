"""Runs episodes in copies of prepared worlds, in a worker process."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Final

from aiopslab.agents import make_process
from aiopslab.benchmark.episodes import Episode, build_episode
from aiopslab.benchmark.plan import Job
from aiopslab.benchmark.pool import WorkerBroken
from aiopslab.benchmark.store import SESSIONS
from aiopslab.orchestrator import (
    Redactor,
    Stage,
    Stages,
    end_with_parent,
    find_secrets,
    run_episode,
    shield_harness,
)
from aiopslab.orchestrator.problems import ProblemRegistry
from simcloud.world import CopyLost

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

    @property
    def settings(self) -> dict[str, Any]:
        """What decides the outcome of an episode, for the store."""
        return {
            "max_steps": self.max_steps,
            "thinking_s": self.thinking_s,
            "agent_timeout_s": self.agent_timeout_s,
            "isolate": self.isolate,
        }


WorldFunction = Callable[[Stage, Job, EpisodeOptions], Any]


@dataclass
class WorldPerformer:
    """Calls a function in a fresh copy of each job's problem. Worlds are prepared when they are first needed."""

    function: WorldFunction
    options: EpisodeOptions
    _stages: dict[int, Stages] = field(default_factory=dict)
    """The prepared worlds of one seed."""

    def perform(self, job: Job) -> Any:
        """Return what the function returns; raises ``CopyFailed`` for its errors and ``WorkerBroken`` for a lost process."""
        try:
            with self._get_stages(job.key.seed).episode(job.key.problem) as copy:
                return copy.call(self.function, job, self.options)
        except (CopyLost, OSError) as error:
            raise WorkerBroken from error

    def _get_stages(self, seed: int) -> Stages:
        if seed not in self._stages:
            self.close()
            registry = ProblemRegistry()
            for file in self.options.files:
                registry.load(file)
            module = self.function.__module__
            self._stages[seed] = Stages(seed, registry=registry, max_processes=MAX_WORLDS, modules=[module])
        return self._stages[seed]

    def close(self) -> None:
        """End the prepared worlds."""
        while self._stages:
            self._stages.popitem()[1].close()


def run_agent(world: Stage, job: Job, options: EpisodeOptions) -> Episode:
    """Run an agent in a process of its own on the problem of a copy, and return the episode."""
    end_with_parent()
    shield_harness()
    contestant = job.contestant
    sessions = options.folder / SESSIONS
    name, agent = make_process(
        contestant.spec, contestant.model, options.env, isolate=options.isolate, hidden=[options.folder]
    )
    result = run_episode(
        world,
        lambda: agent,
        name,
        max_steps=options.max_steps,
        results=sessions,
        thinking_s=options.thinking_s,
        agent_timeout_s=options.agent_timeout_s,
        episodes=job.key.repeat,
    )
    record = result["record"]
    return build_episode(job.key, job.facts, result, f"{SESSIONS}/{record.name}" if record else "")


def make_world_performer(function: WorldFunction, options: EpisodeOptions) -> partial[WorldPerformer]:
    """Return a function that creates the performer in a worker."""
    return partial(WorldPerformer, function, options)


def describe_failure(trace: str) -> tuple[str, str]:
    """Return ending and explanation of an episode for a traceback of the harness."""
    last = trace.strip().splitlines()[-1] if trace.strip() else "no reason is known"
    ending = "harness timed out" if "HarnessTimedOut" in last else "harness error"
    return ending, Redactor(find_secrets(os.environ)).redact(last)
