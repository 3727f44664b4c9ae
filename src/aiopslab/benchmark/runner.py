"""Runs the episodes of a plan over the workers of an executor, and stores each as soon as it has finished.

Episodes that the store holds are not run again. A worker that dies is replaced and its episode is run again; after ``MAX_DEATHS``
deaths it is stored as an error of its own kind, because something in it may be what kills workers.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Final

from aiopslab.benchmark.episodes import WORKER_DIED, Episode, EpisodeKey
from aiopslab.benchmark.executor import Executor, Finished, Worker
from aiopslab.benchmark.plan import Job, WorkQueue
from aiopslab.benchmark.store import Store
from aiopslab.benchmark.worlds import describe_failure

MAX_DEATHS: Final = 2
PREPARATION_S: Final = 8.0
"""About what it takes to prepare a world, on the host's clock."""
TICK_S: Final = 0.25
"""Interval at which the observer is called while nothing ends."""


@dataclass
class Status:
    """How far a benchmark is."""

    episodes: list[Episode]
    """All that are stored, those of earlier runs included."""
    total: int
    new: int = 0
    """Episodes that this process has run."""
    running: list[Job] = field(default_factory=list)
    latest: Episode | None = None
    is_over_budget: bool = False

    @property
    def cost_usd(self) -> float:
        """What agents report to have cost."""
        return sum(episode.cost_usd or 0.0 for episode in self.episodes)


Observer = Callable[[Status], None]


class Runner:
    """One benchmark in progress."""

    def __init__(
        self,
        store: Store,
        jobs: Sequence[Job],
        make_executor: Callable[[int], Executor[Job]],
        *,
        workers: int = 1,
        max_cost_usd: float | None = None,
        observe: Observer = lambda _status: None,
    ) -> None:
        """``make_executor`` gets the maximum number of workers.

        ``observe`` is called after each episode, with ``latest`` set, and in between.
        """
        wanted = {job.key for job in jobs}
        stored = [episode for episode in store.list_episodes() if episode.key in wanted]
        done = {episode.key for episode in stored}
        self.status = Status(stored, len(wanted))
        self._store = store
        self._queue = WorkQueue(job for job in jobs if job.key not in done)
        self._make_executor = make_executor
        self._workers = min(workers, max(len(self._queue), 1))
        self._max_cost_usd = max_cost_usd
        self._observe = observe
        self._wall_s = sum(episode.wall_s for episode in stored)
        self._ask_again_s: dict[Worker[Job], float] = {}
        """When to look again for a job for workers that found none."""
        self._deaths: Counter[EpisodeKey] = Counter()

    def run(self) -> Status:
        """Run all episodes that are missing. An interrupt ends the workers at once and is raised; all that has finished is stored."""
        with self._make_executor(self._workers) as executor:
            while True:
                self._distribute(executor)
                self.status.running = executor.running
                self._report(None)
                if not executor.running:
                    return self.status
                for finished in executor.wait(TICK_S):
                    self._finish(finished)

    def _distribute(self, executor: Executor[Job]) -> None:
        limit = self._max_cost_usd
        if limit is not None and len(self._queue) and self.status.cost_usd >= limit:
            self.status.is_over_budget = True
            return
        now_s, is_busy = time.monotonic(), bool(executor.running)
        for worker in executor.list_idle():
            if is_busy and now_s < self._ask_again_s.get(worker, 0.0):
                continue  # with many workers, asking for all of them after each episode would take longer than the episodes
            others = [
                other.last for other in executor.workers if other is not worker and other.last is not None
            ]
            if job := self._queue.take(worker.last, others, self._count_worthwhile()):
                worker.start(job)
            else:
                self._ask_again_s[worker] = now_s + TICK_S
        while executor.has_room:
            others = [worker.last for worker in executor.workers if worker.last is not None]
            job = self._queue.take(None, others, self._count_worthwhile())
            if job is None:
                return
            executor.add_worker().start(job)

    def _count_worthwhile(self) -> int:
        """Return the number of episodes that take longer than preparing a world for them."""
        mean_s = self._wall_s / len(self.status.episodes) if self.status.episodes else 1.0
        return max(1, round(PREPARATION_S / max(mean_s, 0.1)))

    def _finish(self, finished: Finished[Job]) -> None:
        job = finished.job
        if finished.is_lost:
            self._deaths[job.key] += 1
            if self._deaths[job.key] < MAX_DEATHS:
                self._queue.put(job)
                return
            why = f"The worker process died {MAX_DEATHS} times: it was killed or ran out of memory."
            episode = Episode(*job.key, facts=job.facts, ending=WORKER_DIED, why=why)
        elif finished.error:
            ending, why = describe_failure(finished.error)
            episode = Episode(*job.key, facts=job.facts, ending=ending, why=why)
        else:
            episode = finished.result
        if self._store.add(episode):
            self.status.episodes.append(episode)
            self._wall_s += episode.wall_s
            self.status.new += 1
            self._report(episode)

    def _report(self, latest: Episode | None) -> None:
        self.status.latest = latest
        self._observe(self.status)
