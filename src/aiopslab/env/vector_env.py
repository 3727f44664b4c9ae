"""``VectorIncidentEnv``: several environments at once, which share prepared worlds.

Every world is a process of its own, so the members run in parallel, and the end of one (killed, out of memory) ends no other: its
episode is truncated with an ``error`` in its info, and its next one begins.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from types import TracebackType
from typing import Any

from aiopslab.env.incident_env import EnvironmentFailed, IncidentEnv, Info
from aiopslab.env.pool import WorldPool
from aiopslab.orchestrator import ProgressCallback, ignore_progress
from aiopslab.orchestrator.problems import ProblemRegistry

Steps = tuple[list[str], list[float], list[bool], list[bool], list[Info]]


class VectorIncidentEnv:
    """``count`` environments that are stepped together; a member whose episode has ended begins the next one at once."""

    def __init__(
        self,
        count: int,
        problems: str | Sequence[str] = "smoke",
        seed: int = 0,
        *,
        registry: ProblemRegistry | None = None,
        tell: ProgressCallback = ignore_progress,
        **options: Any,
    ) -> None:
        """``options`` are those of ``IncidentEnv``. The members draw their problems in orders of their own."""
        pool = WorldPool(seed, registry or ProblemRegistry(), tell)
        self.envs = [IncidentEnv(problems, seed + index, pool=pool, **options) for index in range(count)]
        self._threads = ThreadPoolExecutor(count, "env")

    def reset(self) -> tuple[list[str], list[Info]]:
        """Begin an episode in every member."""
        starts = list(self._threads.map(IncidentEnv.reset, self.envs))
        return [observation for observation, _ in starts], [info for _, info in starts]

    def step(self, actions: Sequence[str]) -> Steps:
        """Take a step in every member.

        Where an episode ended, the observation is the first of the next one, and the info has ``final_observation`` and
        ``final_info``. Raises ``ValueError`` if there is not one action for each member.
        """
        if len(actions) != len(self.envs):
            raise ValueError(f"{len(self.envs)} actions are needed, one for each member, not {len(actions)}.")
        taken = self._threads.map(_step_or_reset, self.envs, actions)
        observations, rewards, terminated, truncated, infos = map(list, zip(*taken, strict=True))
        return observations, rewards, terminated, truncated, infos

    def close(self) -> None:
        """End all members."""
        self._threads.shutdown()
        for env in self.envs:
            env.close()

    def __enter__(self) -> VectorIncidentEnv:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def _step_or_reset(env: IncidentEnv, action: str) -> tuple[str, float, bool, bool, Info]:
    try:
        observation, reward, terminated, truncated, info = env.step(action)
    except EnvironmentFailed as error:
        observation, reward, terminated, truncated, info = "", 0.0, False, True, {"error": str(error)}
    if not (terminated or truncated):
        return observation, reward, terminated, truncated, info
    first, start = env.reset()
    return (
        first,
        reward,
        terminated,
        truncated,
        start | {"final_observation": observation, "final_info": info},
    )
