"""``IncidentEnv``: one incident at a time, with the interface of reinforcement learning.

An action is the text of an agent's answer, which contains one call; an observation is the text that an agent would get. An episode
terminates with an accepted submission, and is truncated at the step limit or the time limit; either way it is judged. ``fork``
branches the same state: both environments go on from it independently, for tree search, best of n, or counterfactuals.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from concurrent.futures import Future
from pathlib import Path
from random import Random
from types import TracebackType
from typing import Any, TypeVar

from aiopslab.env.pool import WorldPool
from aiopslab.env.rewards import Reward, RewardFunction, Transition
from aiopslab.env.rollout import Start, StepResult, begin, finish, renumber, take_step
from aiopslab.orchestrator import FIRST, ProgressCallback, Stage, ignore_progress
from aiopslab.orchestrator.problems import ProblemRegistry, list_suite
from aiopslab.utils import AIOpsLabError
from simcloud.world import Copy, CopyFailed

E = TypeVar("E", bound="IncidentEnv")
Info = dict[str, Any]


class EnvironmentFailed(AIOpsLabError):
    """The world of an environment has ended, or its framework failed; ``reset`` begins a new episode."""


class IncidentEnv:
    """Problems as episodes."""

    def __init__(
        self,
        problems: str | Sequence[str] = "smoke",
        seed: int = 0,
        *,
        max_steps: int = 30,
        reward: RewardFunction | None = None,
        records: Path | str | None = None,
        registry: ProblemRegistry | None = None,
        tell: ProgressCallback = ignore_progress,
        pool: WorldPool | None = None,
        **settings: Any,
    ) -> None:
        """``problems`` is the name of a suite, or ids. ``seed`` chooses the worlds and the order of the problems.

        ``reward`` is a function of a ``Transition``. ``records`` is a folder for the records of finished episodes. ``settings`` are
        those of ``Orchestrator``: ``thinking_s``, ``time_limit_s``, ``action_timeout_s``. Environments with the same ``pool`` share
        prepared worlds. Raises ``NoSuchSuite`` and ``UnknownProblem``.
        """
        self._pool = (pool or WorldPool(seed, registry or ProblemRegistry(), tell)).join()
        known = self._pool.registry
        self.problems = list_suite(known, problems) if isinstance(problems, str) else list(problems)
        for problem_id in self.problems:
            known.is_drawn(problem_id)  # raises an error for an unknown id
        self.max_steps = max_steps
        self.reward = reward or Reward()
        self._records = None if records is None else Path(records)
        self._settings = settings
        self._random = Random(seed)
        self._order: list[str] = []
        self._next: tuple[str, Future[Copy[Stage]]] | None = None
        """The problem of the next episode, which is being prepared."""
        self._world: Copy[Stage] | None = None
        self._severity = 0.0
        self._problem_id = ""
        self._closed = False

    def reset(self, seed: int | None = None, problem: str | None = None) -> tuple[str, Info]:
        """Begin an episode: on this problem, or on the next one in an order drawn from the seed.

        With another ``seed`` all later episodes have other worlds, whose preparation takes seconds. Returns the first observation, which
        has all that an agent gets before it begins, and an info with the same in parts. Raises ``EnvironmentFailed``.
        """
        self._end_episode()
        if seed is not None:
            self._reseed(seed)
        try:
            self._world, self._problem_id = self._take_world(problem)
            start = self._world.call(begin, next(self._pool.numbers), self._records, self._settings)
        except CopyFailed as error:
            self._end_episode()
            raise EnvironmentFailed(f"The problem could not be prepared: {_get_reason(error)}") from error
        self._severity = start.severity
        if problem is None:
            self._prepare_next()
        return _format_start(start), {"problem": self._problem_id, "seed": self._pool.seed, **vars(start)}

    def step(self, action: str) -> tuple[str, float, bool, bool, Info]:
        """Take a step. Returns observation, reward, whether the episode terminated, whether it was truncated, and an info.

        At the end the info has ``results``, the evaluation. Raises ``EnvironmentFailed`` if no episode is under way, or its
        world has ended.
        """
        try:
            result = self._get_world().call(take_step, action, self.max_steps)
        except CopyFailed as error:
            self._end_episode()
            raise EnvironmentFailed(f"The episode was lost: {_get_reason(error)} Call reset().") from error
        reward = self.reward(_make_transition(self._severity, result))
        self._severity = result.severity
        ended = result.ending is not None
        if ended:
            self._end_episode()
        terminated = result.ending == "submitted"
        return result.observation, reward, terminated, ended and not terminated, dict(vars(result))

    def finish(self) -> Info:
        """Judge the episode as it stands, without a submission, and end it. Returns ``results`` and ``record``.

        Raises ``EnvironmentFailed``.
        """
        try:
            results, record = self._get_world().call(finish)
        except CopyFailed as error:
            raise EnvironmentFailed(f"The episode was lost: {_get_reason(error)}") from error
        finally:
            self._end_episode()
        return {"results": results, "record": record}

    def fork(self: E) -> E:
        """Return an environment that goes on from the same state; both must be closed. Raises ``EnvironmentFailed``."""
        world = self._get_world()
        fork = type(self)(
            self.problems,
            self._pool.seed,
            max_steps=self.max_steps,
            reward=self.reward,
            records=self._records,
            pool=self._pool,
            **self._settings,
        )
        try:
            fork._world = world.branch(renumber, next(self._pool.numbers))
        except CopyFailed as error:
            fork.close()
            raise EnvironmentFailed(f"The world could not be forked: {_get_reason(error)}") from error
        fork._random.setstate(self._random.getstate())
        fork._order = list(self._order)
        fork._severity, fork._problem_id = self._severity, self._problem_id
        return fork

    async def reset_async(self, seed: int | None = None, problem: str | None = None) -> tuple[str, Info]:
        """Do what ``reset`` does, without blocking the event loop."""
        return await asyncio.to_thread(self.reset, seed, problem)

    async def step_async(self, action: str) -> tuple[str, float, bool, bool, Info]:
        """Do what ``step`` does, without blocking the event loop."""
        return await asyncio.to_thread(self.step, action)

    def close(self) -> None:
        """End the episode, and all worlds if no other environment shares them. Idempotent."""
        if self._closed:
            return
        self._closed = True
        self._end_episode()
        self._drop_next()
        self._pool.leave()

    def __enter__(self: E) -> E:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _get_world(self) -> Copy[Stage]:
        if self._world is None:
            raise EnvironmentFailed("No episode is under way. Call reset() first.")
        return self._world

    def _end_episode(self) -> None:
        if self._world is not None:
            self._world.close()
            self._world = None

    def _reseed(self, seed: int) -> None:
        self._random, self._order = Random(seed), []
        self._drop_next()
        if seed != self._pool.seed:
            pool = WorldPool(seed, self._pool.registry, self._pool.tell).join()
            self._pool.leave()
            self._pool = pool

    def _take_world(self, problem: str | None) -> tuple[Copy[Stage], str]:
        if problem is not None:
            return self._pool.take(problem), problem
        if self._next is None:
            self._prepare_next()
        assert self._next is not None
        (problem_id, world), self._next = self._next, None
        return world.result(), problem_id

    def _prepare_next(self) -> None:
        """Draw the next problem and prepare it in the background. Every problem comes once before one comes again."""
        if self._next is None:
            if not self._order:
                self._order = self._random.sample(self.problems, len(self.problems))
            problem_id = self._order.pop()
            self._next = problem_id, self._pool.prepare(problem_id)

    def _drop_next(self) -> None:
        if self._next is not None:
            self._next[1].add_done_callback(_close_prepared)
            self._next = None


def _close_prepared(world: Future[Copy[Stage]]) -> None:
    if world.exception() is None:
        world.result().close()


def _format_start(start: Start) -> str:
    actions = "\n\n".join(f"{name}\n{text}" for name, text in start.actions.items())
    return "\n\n".join((start.description, start.instructions, actions, FIRST))


def _make_transition(severity_before: float, result: StepResult) -> Transition:
    results = result.results or {}
    harm = results.get("harm") or {}
    return Transition(
        severity_before,
        result.severity,
        result.valid,
        result.ending is not None,
        results.get("success"),
        len(harm.get("regressions") or ()),
        len(harm.get("changes_beyond_need") or ()),
    )


def _get_reason(error: CopyFailed) -> str:
    """Return the last line of a traceback, as a sentence."""
    line = error.last_line
    return line if line.endswith(".") else f"{line}."
