"""The runner: every episode exactly once, whatever dies."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest

from aiopslab.benchmark.plan import Job, WorkQueue
from aiopslab.benchmark.runner import MAX_DEATHS, Status
from aiopslab.benchmark.store import SESSIONS, Store, StoreError, lock_folder
from aiopslab.orchestrator.supervision.family import find_descendants
from tests.aiopslab.benchmark.fake import make_jobs, run_fake

ROOT = Path(__file__).parents[3]
SCRIPT = """
import sys
from pathlib import Path
from tests.aiopslab.benchmark.fake import make_jobs, run_fake

if __name__ == "__main__":
    began = lambda status: status.new or print("began", flush=True)
    run_fake(Path(sys.argv[1]), make_jobs(("a", "b"), 8, 3), pause_s=0.2, observe=began)
"""


def read_keys(folder: Path) -> list[tuple[object, ...]]:
    with Store.open(folder) as store:
        return [tuple(episode.key) for episode in store.list_episodes()]


def list_processes_of(folder: Path) -> list[int]:
    """The processes whose command line or parents name the folder."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            if str(folder).encode() in path.read_bytes():
                found.append(int(path.parent.name))
        except OSError:
            continue
    return [*found, *(child.pid for pid in found for child in find_descendants(pid))]


def test_all_episodes_run_once_and_are_stored(tmp_path: Path) -> None:
    jobs = make_jobs(("a", "b"), 5, 2)
    status = run_fake(tmp_path, jobs).status
    assert (len(status.episodes), status.total, status.new) == (20, 20, 20)
    assert Counter(read_keys(tmp_path)) == Counter(tuple(job.key) for job in jobs)


def test_a_second_run_runs_only_what_is_new(tmp_path: Path) -> None:
    run_fake(tmp_path, make_jobs(("a",), 4))
    status = run_fake(tmp_path, make_jobs(("a", "b"), 4)).status
    assert (status.new, len(status.episodes)) == (4, 8)


def test_an_episode_that_kills_its_worker_becomes_an_error_of_its_own_kind(tmp_path: Path) -> None:
    runner = run_fake(tmp_path, make_jobs(("a",), 6), deadly="problem-2")
    by_problem = {episode.problem: episode for episode in runner.status.episodes}
    assert by_problem["problem-2"].ending == "worker died"
    assert f"died {MAX_DEATHS} times" in by_problem["problem-2"].why
    assert by_problem["problem-2"].success is None
    assert {episode.ending for name, episode in by_problem.items() if name != "problem-2"} == {"submitted"}


def test_a_defect_of_the_harness_is_stored_with_its_reason_and_ends_nothing_else(tmp_path: Path) -> None:
    runner = run_fake(tmp_path, make_jobs(("a",), 4), failing="problem-1")
    (failed,) = [episode for episode in runner.status.episodes if episode.problem == "problem-1"]
    assert (failed.ending, failed.why) == ("harness error", "ValueError: the fake harness fails")
    assert not failed.is_counted
    assert len(runner.status.episodes) == 4


def test_no_episode_starts_once_the_cost_is_reached(tmp_path: Path) -> None:
    runner = run_fake(tmp_path, make_jobs(("a",), 20), workers=1, max_cost_usd=1.0, cost_usd=0.25)
    assert runner.status.is_over_budget
    assert (runner.status.new, runner.status.cost_usd) == (4, 1.0)


def test_two_runners_do_not_share_a_folder(tmp_path: Path) -> None:
    with lock_folder(tmp_path), pytest.raises(StoreError, match="Another benchmark is running"):
        run_fake(tmp_path, make_jobs(("a",), 1))


def run_until_killed(folder: Path, random_: random.Random) -> None:
    """Run for a moment after the store was opened, then kill the runner, or its workers and the runner."""
    command = [sys.executable, "-c", SCRIPT, str(folder)]
    env = {**os.environ, "PYTHONPATH": f"{ROOT / 'src'}{os.pathsep}{ROOT}"}
    with subprocess.Popen(command, env=env, cwd=ROOT, stdout=subprocess.PIPE) as runner:
        assert runner.stdout is not None
        runner.stdout.readline()
        time.sleep(random_.uniform(0, 1.5))
        if random_.random() < 0.5:
            for process in find_descendants(runner.pid):
                os.kill(process.pid, signal.SIGKILL)
        runner.kill()


def wait_until_gone(folder: Path) -> None:
    for _ in range(500):
        if not list_processes_of(folder):
            return
        time.sleep(0.02)
    raise AssertionError(f"processes are left: {list_processes_of(folder)}")


@pytest.mark.parametrize(
    ("seed", "kills"), [(1, 2), *(pytest.param(seed, 4, marks=pytest.mark.slow) for seed in range(2, 7))]
)
def test_after_kills_at_random_moments_every_episode_is_there_once(
    tmp_path: Path, seed: int, kills: int
) -> None:
    random_ = random.Random(seed)
    for _ in range(kills):
        run_until_killed(tmp_path, random_)
        wait_until_gone(tmp_path)
    jobs = make_jobs(("a", "b"), 8, 3)
    assert len(read_keys(tmp_path)) == len(set(read_keys(tmp_path))) < len(jobs)
    run_fake(tmp_path, jobs)
    assert Counter(read_keys(tmp_path)) == Counter(tuple(job.key) for job in jobs)
    assert len(list((tmp_path / SESSIONS).iterdir())) == len(jobs)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["benchmark.sqlite", SESSIONS]


def take_all(queue: WorkQueue, last: Job | None, others: list[Job]) -> list[str]:
    taken = []
    while job := queue.take(last, others):
        taken.append(job.key.problem)
        last = job
    return taken


def test_a_worker_stays_with_its_world_and_leaves_others_theirs() -> None:
    jobs = make_jobs(("a",), 8)
    first, second = jobs[0], jobs[4]
    queue = WorkQueue([job for job in jobs if job not in (first, second)])
    assert take_all(queue, first, [second])[:3] == ["problem-1", "problem-2", "problem-3"]
    queue = WorkQueue([job for job in jobs if job not in (first, second)])
    assert take_all(queue, second, [first])[:3] == ["problem-5", "problem-6", "problem-7"]


def test_a_world_is_prepared_twice_only_if_enough_is_waiting_for_it() -> None:
    jobs = make_jobs(("a",), 4)
    queue = WorkQueue(jobs[1:])
    assert queue.take(None, [jobs[0]], worthwhile=4) is None
    assert len(queue) == 3
    assert queue.take(None, [jobs[0]], worthwhile=3) is not None


def test_an_interrupt_leaves_what_is_finished(tmp_path: Path) -> None:
    def interrupt(status: Status) -> None:
        if status.new == 5:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_fake(tmp_path, make_jobs(("a",), 40), workers=1, observe=interrupt)
    assert len(read_keys(tmp_path)) == 5
