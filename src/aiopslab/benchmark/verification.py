"""Verifies stored benchmarks: recorded answers are replayed in fresh worlds, and the verdicts must be the same.

What an agent did is replayed, not the agent: no model is asked. A store whose rows do not match their records, or whose verdicts
cannot be reproduced, was changed by hand or produced by another version of this package.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Final

from aiopslab.agents import HUMAN
from aiopslab.benchmark.episodes import Episode, EpisodeKey
from aiopslab.benchmark.executor import Executor, Finished
from aiopslab.benchmark.plan import Contestant, Job, Plan, WorkQueue, list_jobs
from aiopslab.benchmark.pool import Pool
from aiopslab.benchmark.variations import split_agent
from aiopslab.benchmark.worlds import EpisodeOptions, WorldPerformer
from aiopslab.orchestrator import NotARecord, Stage, end_with_parent, read_record, run_episode
from aiopslab.orchestrator.problems import ProblemRegistry
from aiopslab.orchestrator.transactions import TransactionOptions

USAGE: Final = ("in_tokens", "out_tokens", "tokens_estimated", "cached_tokens", "cost_usd")
"""Results that an agent reports, which a replay cannot know."""
JUDGED_BY_MODEL: Final = ("reasoning_judgement", "reasoning_score", "judge", "diagnosis_judge")
TICK_S: Final = 1.0


@dataclass(frozen=True)
class Check:
    """What the replay of an episode has shown."""

    key: EpisodeKey
    difference: str = ""
    """What differs, in a sentence; empty if nothing does."""
    is_skipped: bool = False
    """Whether it was not replayed: the session has no verdict, or was a person's."""


@dataclass(frozen=True)
class ReplayJob(Job):
    """A recorded session to replay."""

    record: str = ""
    """Path of its record."""


class Replayer:
    """An agent that repeats recorded answers."""

    def __init__(self, responses: Sequence[str]) -> None:
        self._responses = iter(responses)

    def get_action(self, state: str) -> str:
        """Return the next recorded answer; raises ``RuntimeError`` when the session goes on longer than recorded."""
        response = next(self._responses, None)
        if response is None:
            raise RuntimeError("The session goes on after the last recorded answer.")
        return response


class Verifier:
    """Replays the episodes of a store over worker processes."""

    def __init__(
        self, folder: Path, episodes: Sequence[Episode], registry: ProblemRegistry, *, workers: int = 1
    ) -> None:
        self._folder = folder
        self._registry = registry
        self._workers = workers
        self._episodes = {episode.key: episode for episode in episodes}

    def run(self) -> Iterator[Check]:
        """Yield the check of each episode, as they finish."""
        jobs = []
        for episode in self._episodes.values():
            try:
                reason = self._compare_with_record(episode)
            except NotARecord as error:
                reason = str(error)
            if reason:
                yield Check(episode.key, reason)
            elif episode.success is None or episode.agent.partition("+")[0] == HUMAN:
                # A person's lines run in one shell, which a replay does not have.
                yield Check(episode.key, is_skipped=True)
            else:
                jobs.append(self._make_job(episode))
        options = EpisodeOptions(self._folder, files=tuple(self._registry.loaded))
        yield from _replay_all(
            sorted(jobs, key=lambda job: (job.baseline, job.fault)),
            options,
            min(self._workers, max(len(jobs), 1)),
        )

    def _compare_with_record(self, episode: Episode) -> str:
        """Return how a row of the store differs from its record; empty if it does not."""
        if not episode.record:
            return "" if episode.success is None else "The store has a verdict but no session record."
        record = read_record(self._folder / episode.record)
        problem = _make_contestant(episode).get_problem_id(episode.problem)
        stored = (problem, episode.ending, episode.success, episode.steps)
        recorded = (
            record["problem_id"],
            record["ending"],
            record["results"].get("success"),
            len(record["steps"]),
        )
        return "" if stored == recorded else f"The store says {stored}, the session record {recorded}."

    def _make_job(self, episode: Episode) -> ReplayJob:
        contestant = _make_contestant(episode)
        (job,) = list_jobs(Plan([contestant], [episode.problem], [episode.seed]), self._registry)
        record = str(self._folder / episode.record)
        return ReplayJob(episode.key, contestant, job.facts, job.baseline, job.fault, 0, record)


def _make_contestant(episode: Episode) -> Contestant:
    return Contestant(episode.agent, episode.agent, variation=split_agent(episode.agent)[1])


def _replay_all(jobs: Sequence[ReplayJob], options: EpisodeOptions, workers: int) -> Iterator[Check]:
    queue = WorkQueue(_number(jobs))
    with Pool[Job](workers, partial(WorldPerformer, replay, options)) as pool:
        while True:
            for worker in pool.list_idle():
                if job := queue.take(worker.last, _list_last(pool)):
                    worker.start(job)
            while pool.has_room and (job := queue.take(None, _list_last(pool))):
                pool.add_worker().start(job)
            if not pool.running:
                return
            yield from map(_build_check, pool.wait(TICK_S))


def _number(jobs: Sequence[ReplayJob]) -> Iterator[Job]:
    for index, job in enumerate(jobs):
        yield ReplayJob(job.key, job.contestant, job.facts, job.baseline, job.fault, index, job.record)


def _list_last(pool: Executor[Job]) -> list[Job]:
    return [worker.last for worker in pool.workers if worker.last is not None]


def _build_check(finished: Finished[Job]) -> Check:
    if finished.is_lost:
        return Check(finished.job.key, "The worker process died: it was killed or ran out of memory.")
    if finished.error:
        return Check(finished.job.key, f"The replay failed: {finished.error.strip().splitlines()[-1]}")
    return Check(finished.job.key, str(finished.result))


def replay(world: Stage, job: Job, options: EpisodeOptions) -> str:
    """Replay a recorded session in a copy; return how its outcome differs, empty if it does not."""
    end_with_parent()
    assert isinstance(job, ReplayJob)
    record = read_record(Path(job.record))
    settings = record["settings"]
    responses = [step["response"] for step in record["steps"]]
    result = run_episode(
        world,
        lambda: Replayer(responses),
        record["agent"],
        max_steps=settings["max_steps"],
        thinking_s=settings["thinking_s"],
        time_limit_s=settings["time_limit_s"],
        tnr=TransactionOptions(**settings["tnr"]) if "tnr" in settings else False,
    )
    return describe_difference(record, result["session"])


def describe_difference(recorded: Mapping[str, Any], replayed: Mapping[str, Any]) -> str:
    """Return the most important difference of two records in a sentence; empty if verdict, results and observations are equal."""
    for name, get in _ASPECTS.items():
        before, after = get(recorded), get(replayed)
        if before != after:
            return f"{name}: {before!r} was recorded, {after!r} was replayed.{_find_first_step(recorded, replayed)}"
    return ""


def _find_first_step(recorded: Mapping[str, Any], replayed: Mapping[str, Any]) -> str:
    for before, after in zip(recorded["steps"], replayed["steps"], strict=False):
        if before["observation"] != after["observation"]:
            return f" The observation of step {before['number']} is the first that differs."
    return ""


def _select_results(record: Mapping[str, Any]) -> dict[str, Any]:
    left_out = (*USAGE, *JUDGED_BY_MODEL)
    return {name: value for name, value in record["results"].items() if name not in left_out}


_ASPECTS: Final[Mapping[str, Callable[[Mapping[str, Any]], object]]] = {
    "The verdict differs": lambda record: record["results"].get("success"),
    "The ending differs": lambda record: record["ending"],
    "The number of steps differs": lambda record: len(record["steps"]),
    "The results differ": lambda record: sorted(map(str, _select_results(record).items())),
    "The simulated duration differs": lambda record: record["simulated"]["duration_s"],
}
"""What is compared, the most important first."""
