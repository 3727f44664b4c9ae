"""Agents of a worker come from one nursery, which is replaced when an agent has failed and when it is gone."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from aiopslab.benchmark.episodes import Episode
from aiopslab.benchmark.plan import Job
from aiopslab.benchmark.worlds import AgentPerformer, EpisodeOptions
from aiopslab.orchestrator import Nursery, NurseryLink
from tests.aiopslab.benchmark.fake import make_episode, make_jobs
from tests.aiopslab.orchestrator.test_subprocess_agent import ends

pytestmark = pytest.mark.skipif(not Nursery.is_supported(), reason="this kernel cannot protect a nursery")


class FakeStages:
    """Prepared worlds without a world: episodes end as the problem's name says, and the nursery of each is noted."""

    def __init__(self) -> None:
        self.pids: list[int] = []

    @contextmanager
    def episode(self, problem: str) -> Iterator[FakeStages]:
        yield self

    def pass_file(self, descriptor: int) -> int:
        return descriptor

    def call(self, function: Any, job: Job, options: EpisodeOptions, nursery: NurseryLink) -> Episode:
        self.pids.append(nursery.pid)
        return make_episode(
            job.key, None, ending="agent gone" if job.key.problem == "problem-1" else "submitted"
        )

    def close(self) -> None:
        pass


def test_a_nursery_is_kept_until_an_agent_fails_or_it_is_gone(tmp_path: Path) -> None:
    performer, stages = AgentPerformer(EpisodeOptions(tmp_path)), FakeStages()
    performer._stages = {0: stages}  # type: ignore[dict-item]
    good, failing = make_jobs(("a",), 2)
    for job in (good, failing, good):
        performer.perform(job)
    first, second, third = stages.pids
    assert first == second != third
    assert ends(first)
    os.kill(third, signal.SIGKILL)
    assert ends(third)
    performer.perform(good)
    assert stages.pids[-1] != third
    performer.close()
    assert ends(stages.pids[-1])
