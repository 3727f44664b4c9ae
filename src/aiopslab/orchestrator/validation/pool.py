"""Validates many problems, in several processes if wanted."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from itertools import groupby
from multiprocessing import get_context
from multiprocessing.util import Finalize
from pathlib import Path

from aiopslab.orchestrator.oracles import Finding
from aiopslab.orchestrator.problems import ProblemRegistry
from aiopslab.orchestrator.supervision import end_with_parent
from aiopslab.orchestrator.validation.validator import Validator
from aiopslab.utils import ProgressCallback, ignore_progress

_validators: list[Validator] = []
"""The validator of a worker process."""


def validate_many(
    problems: ProblemRegistry,
    wanted: Sequence[str],
    seed: int = 0,
    *,
    twice: bool = False,
    jobs: int = 1,
    tell: ProgressCallback = ignore_progress,
) -> Iterator[tuple[str, list[Finding]]]:
    """Yield each problem with its findings. Those that share a world come one after the other, in one process."""
    tasks = [problems.get_problem_instance(pid, seed) for pid in wanted]
    worlds = {task.id: (task.seed, task.app.name, repr(task.noise), repr(task.faults)) for task in tasks}
    groups = [
        list(ids) for _, ids in groupby(sorted(worlds, key=lambda pid: worlds[pid]), worlds.__getitem__)
    ]
    if jobs == 1:
        with Validator(seed, problems=problems, tell=tell, twice=twice) as validator:
            for ids in groups:
                yield from ((pid, validator.validate(pid)) for pid in ids)
        return
    # Workers must not inherit threads, which copies of worlds forbid.
    start = (seed, problems.loaded, twice)
    with ProcessPoolExecutor(jobs, get_context("spawn"), _start_worker, start) as pool:
        for done in as_completed([pool.submit(_validate_group, ids) for ids in groups]):
            yield from done.result()


def _start_worker(seed: int, loaded: Sequence[Path], twice: bool) -> None:
    end_with_parent()
    problems = ProblemRegistry()
    for path in loaded:
        problems.load(path)
    _validators.append(Validator(seed, problems=problems, twice=twice))
    Finalize(None, _validators[0].close, exitpriority=1)


def _validate_group(ids: Sequence[str]) -> list[tuple[str, list[Finding]]]:
    return [(pid, _validators[0].validate(pid)) for pid in ids]
