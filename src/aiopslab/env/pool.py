"""Prepared worlds for environments: copies on demand, and the next problem prepared in the background."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import count
from threading import Lock

from aiopslab.orchestrator import MAX_PROCESSES, ProgressCallback, Stage, Stages
from aiopslab.orchestrator.problems import ProblemRegistry
from simcloud.world import Copy


class WorldPool:
    """Worlds of one seed, shared by an environment, its forks, and the members of a vector. Ends with the last of them."""

    def __init__(
        self,
        seed: int,
        registry: ProblemRegistry,
        tell: ProgressCallback,
        *,
        max_processes: int = MAX_PROCESSES,
        modules: Sequence[str] = (),
    ) -> None:
        """At most ``max_processes`` hold worlds. ``modules`` are imported before any copy is made."""
        self.seed = seed
        self.registry = registry
        self.tell = tell
        self.numbers = count(1)
        """Numbers of the sessions, which make their records differ."""
        self._stages = Stages(
            seed,
            registry=registry,
            tell=tell,
            max_processes=max_processes,
            modules=modules,
            with_script=False,  # training scripts import libraries that start threads, which copies forbid
        )
        self._thread = ThreadPoolExecutor(1, "worlds")
        """Prepares worlds one at a time: they share baselines."""
        self._users = 0
        self._lock = Lock()

    def join(self) -> WorldPool:
        """Add a user, who calls ``leave`` at the end."""
        with self._lock:
            self._users += 1
        return self

    def leave(self) -> None:
        """Remove a user; the last one ends all worlds that are kept ready."""
        with self._lock:
            self._users -= 1
            if self._users:
                return
        self._thread.shutdown()
        self._stages.close()

    def prepare(self, problem_id: str) -> Future[Copy[Stage]]:
        """Prepare a copy of a problem in the background; the caller closes it."""
        return self._thread.submit(self._stages.episode, problem_id)

    def take(self, problem_id: str) -> Copy[Stage]:
        """Return a fresh copy of a problem, which the caller closes; raises ``UnknownProblem`` and ``CopyFailed``."""
        return self.prepare(problem_id).result()
