"""Benchmarks on a genuine Ray cluster on this machine: every episode once, also when workers die."""

from __future__ import annotations

import os
import signal
import time
from collections import Counter
from pathlib import Path

import pytest

from aiopslab.benchmark.runner import Status
from aiopslab.benchmark.store import SESSIONS
from aiopslab.orchestrator.supervision.family import Process, find_descendants
from tests.aiopslab.benchmark.fake import make_jobs, run_fake
from tests.aiopslab.benchmark.test_runner import read_keys
from tests.aiopslab.cli.command_line import aiopslab
from tests.aiopslab.cli.test_bench import PROBLEMS, read_verdicts

pytestmark = pytest.mark.slow


@pytest.fixture(autouse=True)
def own_cluster(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("ray", reason="the extra ray is not installed")
    monkeypatch.setenv("RAY_ADDRESS", "local")


def find_actors() -> list[Process]:
    """The processes of Ray that hold a worker."""
    return [
        process
        for process in find_descendants(os.getpid())
        if b"_Actor" in Path(f"/proc/{process.pid}/cmdline").read_bytes()
    ]


def test_a_worker_that_is_killed_loses_nothing(tmp_path: Path) -> None:
    killed: list[int] = []
    children: list[int] = []

    def kill_a_worker(status: Status) -> None:
        if status.new >= 5 and not killed:
            actor = find_actors()[0]
            children.extend(process.pid for process in find_descendants(actor.pid))
            os.kill(actor.pid, signal.SIGKILL)
            killed.append(actor.pid)

    jobs = make_jobs(("a", "b"), 10, 2)
    status = run_fake(tmp_path, jobs, on_ray=True, pause_s=0.1, observe=kill_a_worker).status
    assert killed and children
    assert Counter(read_keys(tmp_path)) == Counter(tuple(job.key) for job in jobs)
    assert {episode.ending for episode in status.episodes} == {"submitted"}
    assert len(list((tmp_path / SESSIONS).iterdir())) == len(jobs)
    deadline = time.monotonic() + 20
    while (
        left := [pid for pid in children if Path(f"/proc/{pid}").exists()]
    ) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert not left


def test_an_episode_that_kills_its_process_becomes_an_error_of_its_own_kind(tmp_path: Path) -> None:
    runner = run_fake(tmp_path, make_jobs(("a",), 4), on_ray=True, deadly="problem-2")
    endings = {episode.problem: episode.ending for episode in runner.status.episodes}
    assert endings.pop("problem-2") == "worker died"
    assert set(endings.values()) == {"submitted"}


def test_a_benchmark_on_the_command_line(tmp_path: Path) -> None:
    out = tmp_path / "bench"
    done = aiopslab(
        "bench", *PROBLEMS, "--agent", "idle,alarmist", "--executor", "ray", "--jobs", "1", "--out", str(out)
    )
    assert done.returncode == 0, done.stderr
    assert read_verdicts(out)[("alarmist", PROBLEMS[0])] is True
    assert len(list((out / "sessions").iterdir())) == 4
    done = aiopslab("verify", str(out), "--jobs", "1")
    assert "4 of 4 verdicts are the same" in done.stdout


def test_a_cluster_that_is_not_there_is_reported(tmp_path: Path) -> None:
    done = aiopslab(
        "bench",
        *PROBLEMS,
        "--agent",
        "idle",
        "--executor",
        "ray",
        "--out",
        str(tmp_path),
        RAY_ADDRESS="127.0.0.1:1",
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert "There is no Ray cluster at 127.0.0.1:1" in done.stderr
    assert "Traceback" not in done.stderr
