"""Prepared worlds for the sessions of a server: one pool for each of the latest seeds."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from concurrent.futures import Executor
from functools import partial
from typing import TYPE_CHECKING, Final

from aiopslab.env import WorldPool
from aiopslab.orchestrator import Stage, ignore_progress, prepare_on_cluster
from aiopslab.orchestrator.problems import ProblemRegistry
from aiopslab.servers.http_api import session_process
from simcloud.world import Copy, CopyLost

if TYPE_CHECKING:
    from aiopslab.cloud.kubernetes import KubernetesOptions

MAX_SEEDS: Final = 3
"""Seeds whose worlds are kept; the least recently used one is given up first."""
MAX_PROCESSES: Final = 16
"""Processes with prepared worlds, for each seed."""


class Worlds:
    """Prepares worlds in processes of their own."""

    def __init__(
        self, registry: ProblemRegistry, threads: Executor, cluster: KubernetesOptions | None = None
    ) -> None:
        """On a real ``cluster``, which cannot be copied, every problem is prepared when it is taken."""
        self._registry = registry
        self._threads = threads
        self._cluster = cluster
        self._pools: OrderedDict[int, WorldPool] = OrderedDict()

    async def take(self, problem: str, seed: int) -> Copy[Stage]:
        """Return a fresh copy of a problem, which the caller closes; raises ``UnknownProblem`` and ``CopyFailed``."""
        if self._cluster is not None:
            prepare = partial(
                Copy.of_imported, prepare_on_cluster, problem, seed, self._registry.loaded, self._cluster
            )
            return await asyncio.get_running_loop().run_in_executor(self._threads, prepare)
        try:
            return await self._take(problem, seed)
        except CopyLost:  # a prepared world was killed, and all that depend on it are useless
            if seed in self._pools:
                self._leave(self._pools.pop(seed))
            return await self._take(problem, seed)

    async def _take(self, problem: str, seed: int) -> Copy[Stage]:
        pool = self._get_pool(seed).join()
        try:
            return await asyncio.wrap_future(pool.prepare(problem))
        finally:
            self._leave(pool)

    def close(self) -> None:
        """End all worlds that are kept ready; sessions go on."""
        while self._pools:
            self._leave(self._pools.popitem()[1])

    def _get_pool(self, seed: int) -> WorldPool:
        if seed not in self._pools:
            pool = WorldPool(
                seed,
                self._registry,
                ignore_progress,
                max_processes=MAX_PROCESSES,
                modules=[session_process.__name__],
            )
            self._pools[seed] = pool.join()
            while len(self._pools) > MAX_SEEDS:
                self._leave(self._pools.popitem(last=False)[1])
        self._pools.move_to_end(seed)
        return self._pools[seed]

    def _leave(self, pool: WorldPool) -> None:
        self._threads.submit(pool.leave)  # the last one waits for worlds that are being prepared
