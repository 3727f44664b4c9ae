"""Episodes of a benchmark in which a person is the agent: one after the other, at this terminal."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from aiopslab.agents import HUMAN
from aiopslab.benchmark import SESSIONS, EpisodeOptions, Job, Plan, Store, build_episode
from aiopslab.cli.problems import UsageError, check_terminal
from aiopslab.orchestrator.problems import ProblemRegistry


def check_person(plan: Plan, jobs: int | None) -> None:
    """Raise ``UsageError`` if a person is among the agents and cannot work here, or has to do several things at a time."""
    if all(contestant.spec != HUMAN for contestant in plan.contestants):
        return
    check_terminal()
    if jobs not in (None, 1):
        raise UsageError("The agent human works on one problem at a time; leave out --jobs or use --jobs 1.")


def play_jobs(jobs: Sequence[Job], store: Store, registry: ProblemRegistry, options: EpisodeOptions) -> bool:
    """Let a person work on the episodes of ``human`` that the store lacks, and store each; return False if they left.

    The session that they left is not stored, so it comes again when the benchmark is resumed.
    """
    done = {episode.key for episode in store.list_episodes()}
    waiting = [job for job in jobs if job.contestant.spec == HUMAN and job.key not in done]
    if not waiting:
        return True
    from aiopslab.cli.play import PlayOptions, play_session  # loads the cloud

    for number, job in enumerate(waiting, start=1):
        print(f"\nSession {number} of {len(waiting)}.", file=sys.stderr)
        settings = {
            "thinking_s": options.thinking_s,
            "episodes": job.key.repeat,
            "tnr": job.contestant.transactions,
        }
        folder = options.folder / SESSIONS
        played = PlayOptions(
            job.key.problem, job.key.seed, folder, max_steps=options.max_steps, settings=settings
        )
        result = play_session(registry, played)
        if result["ending"] == "agent gone":
            return False
        record = result["record"]
        path = f"{SESSIONS}/{record.name}" if record else ""
        store.add(build_episode(job.key, job.facts, result, path))
    return True
