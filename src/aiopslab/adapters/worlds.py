"""Environments that share prepared worlds, for frameworks that make one environment for each episode."""

from __future__ import annotations

import atexit
from threading import Lock
from typing import Any

from aiopslab.env import IncidentEnv, WorldPool
from aiopslab.orchestrator import ignore_progress
from aiopslab.orchestrator.problems import NoSuchSuite, ProblemRegistry, list_suite

_pools: dict[int, WorldPool] = {}
_lock = Lock()


def open_env(problem: str, seed: int, **options: Any) -> IncidentEnv:
    """Return an environment with one problem. All of one seed share prepared worlds, until this process ends."""
    with _lock:
        pool = _pools.get(seed)
        if pool is None:
            pool = _pools[seed] = WorldPool(seed, ProblemRegistry(), ignore_progress).join()
            atexit.register(pool.leave)
    return IncidentEnv([problem], seed, pool=pool, **options)


def list_problems(problems: str) -> list[str]:
    """Return the problems of a suite, or those of ids with commas between them. Raises ``UnknownProblem``."""
    registry = ProblemRegistry()
    try:
        return list_suite(registry, problems)
    except NoSuchSuite:
        ids = problems.split(",")
    for problem_id in ids:
        registry.is_drawn(problem_id)  # raises an error for an unknown id
    return ids
