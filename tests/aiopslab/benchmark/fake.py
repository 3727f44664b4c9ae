"""Episodes without a world, for tests of the runner and of reports."""

from __future__ import annotations

import os
import random
import signal
import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from aiopslab.benchmark.episodes import Action, Episode, EpisodeKey, Facts
from aiopslab.benchmark.executor import Executor
from aiopslab.benchmark.plan import Contestant, Job
from aiopslab.benchmark.pool import Pool
from aiopslab.benchmark.ray_pool import RayPool
from aiopslab.benchmark.runner import Observer, Runner, Status
from aiopslab.benchmark.store import FILE_NAME, LINK_NAME, SESSIONS, Run, Store, lock_folder

FACTS = Facts("detection", "hotel-reservation", "scale_pod_zero", "virtualization", "easy")


def make_jobs(agents: Sequence[str], problems: int, repeats: int = 1) -> list[Job]:
    """Jobs of which two problems each share a fault, and four a baseline."""
    jobs: list[Job] = []
    for number in range(problems):
        for agent in agents:
            for repeat in range(repeats):
                key = EpisodeKey(agent, f"problem-{number}", 0, repeat)
                contestant = Contestant(agent, agent)
                jobs.append(
                    Job(key, contestant, FACTS, f"baseline-{number // 4}", f"fault-{number // 2}", len(jobs))
                )
    return jobs


def make_episode(
    key: EpisodeKey, success: bool | None = True, facts: Facts = FACTS, **values: Any
) -> Episode:
    fields: dict[str, Any] = {
        "ending": "submitted",
        "steps": 3,
        "in_tokens": 100,
        "out_tokens": 10,
        "simulated_s": 20.0,
        "wall_s": 0.5,
        "actions": [Action("exec_shell", True, ("kubectl get",)), Action("submit", True)],
    }
    return Episode(*key, facts=facts, success=success, **(fields | values))


@dataclass
class FakePerformer:
    """Writes a line to a log and a record for each episode that it runs, and answers after a moment."""

    folder: Path
    pause_s: float = 0.0
    deadly: str = ""
    """A problem that kills its worker."""
    failing: str = ""
    """A problem whose harness fails."""
    cost_usd: float | None = None

    def perform(self, job: Job) -> Episode:
        time.sleep(random.uniform(0, 2 * self.pause_s))
        if job.key.problem == self.deadly:
            os.kill(os.getpid(), signal.SIGKILL)
        if job.key.problem == self.failing:
            raise ValueError("the fake harness fails")
        record = f"{SESSIONS}/{'-'.join(map(str, job.key))}.json"
        (self.folder / record).write_text("{}")
        return make_episode(job.key, wall_s=self.pause_s, record=record, cost_usd=self.cost_usd)

    def close(self) -> None:
        pass


def ignore(_status: Status) -> None:
    """Observe nothing."""


def run_fake(
    folder: Path,
    jobs: Sequence[Job],
    workers: int = 2,
    max_cost_usd: float | None = None,
    observe: Observer = ignore,
    url: str | None = None,
    on_ray: bool = False,
    **fake: Any,
) -> Runner:
    """Run or resume a benchmark of fake episodes to its end."""
    with lock_folder(folder):
        exists = any((folder / name).exists() for name in (FILE_NAME, LINK_NAME))
        run = Run("run", {}, {})
        with Store.open(folder, url) if exists else Store.create(folder, run, url) as store:
            store.remove_strays()

            def make_executor(size: int) -> Executor[Job]:
                if on_ray:
                    return RayPool(size, partial(FakePerformer, **fake), folder)
                return Pool(size, partial(FakePerformer, folder, **fake))

            runner = Runner(
                store, jobs, make_executor, workers=workers, max_cost_usd=max_cost_usd, observe=observe
            )
            runner.run()
            return runner
