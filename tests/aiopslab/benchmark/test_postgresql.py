"""The store in a genuine PostgreSQL database: as in a file, each episode once; and its password is nowhere."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from aiopslab.benchmark.episodes import EpisodeKey
from aiopslab.benchmark.leaderboard import read_sources
from aiopslab.benchmark.store import LINK_NAME, Run, Store, StoreError
from tests.aiopslab.benchmark.fake import make_episode, make_jobs, run_fake
from tests.aiopslab.benchmark.postgres import PASSWORD, Server, run_server
from tests.aiopslab.benchmark.stored import list_stored
from tests.aiopslab.cli.command_line import ROOT, aiopslab

pytestmark = pytest.mark.live("postgresql")

NUMBERS = count()
KEY = EpisodeKey("a", "problem", 7, 0)
SCRIPT = """
import sys
from pathlib import Path
from aiopslab.cli.problems import run_command
from tests.aiopslab.benchmark.fake import make_jobs, run_fake

if __name__ == "__main__":
    folder, url, episodes = sys.argv[1:]
    show = lambda status: print(status.new, flush=True)
    work = lambda: run_fake(Path(folder), make_jobs(("a",), int(episodes)), pause_s=0.05, observe=show, url=url).status.new * 0
    sys.exit(run_command(work))
"""


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    pytest.importorskip("psycopg", reason="the extra postgresql is not installed")
    with run_server() as server:
        yield server


@pytest.fixture
def url(server: Server) -> str:
    """The URL of a new database."""
    import psycopg

    name = f"bench_{next(NUMBERS)}"
    with psycopg.connect(server.make_url("postgres"), autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}")
    return server.make_url(name)


@pytest.fixture(autouse=True)
def known_password(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a folder names has no password: it comes from the environment."""
    monkeypatch.setenv("PGPASSWORD", PASSWORD)


def test_an_episode_comes_back_as_it_was_and_is_stored_once(tmp_path: Path, url: str) -> None:
    episode = make_episode(KEY, None, results={"success": None, "text": "\0 \ud800"}, cost_usd=0.5)
    with Store.create(tmp_path, Run("run", {"max_steps": 5}, {"seeds": [7]}), url) as store:
        assert [store.add(episode), store.add(make_episode(KEY, False))] == [True, False]
    with Store.open(tmp_path) as store:
        assert store.run == Run("run", {"max_steps": 5}, {"seeds": [7]})
        assert store.list_episodes() == [episode]
        store.remove(KEY)
        assert store.add(make_episode(KEY, False, why="a null \0 and half \ud800 a character"))
        assert [episode.why for episode in store.list_episodes()] == ["a null \ufffd and half ? a character"]


def test_runs_share_a_database_and_are_reported_together(tmp_path: Path, url: str) -> None:
    def write(name: str) -> None:
        with Store.create(tmp_path / name / "bench", Run(name, {"max_steps": 30}, {}), url) as store:
            for episode in list_stored():
                store.add(episode)

    with ThreadPoolExecutor() as threads:  # both create the tables
        list(threads.map(write, ("first", "second")))
    stored = sorted(list_stored(), key=lambda episode: episode.key)
    assert [source.name for source in read_sources([url])] == ["bench first", "bench second"]
    assert read_sources([tmp_path / "first" / "bench"])[0].episodes == stored
    done = aiopslab("report", url, "--format", "markdown")
    assert done.returncode == 0, done.stderr
    assert "| good (bench first) | gpt-x | 4 | 16 | 88% [64, 97] |" in done.stdout
    assert PASSWORD not in done.stdout + done.stderr


def test_the_password_is_in_no_file_and_no_message(tmp_path: Path, url: str, server: Server) -> None:
    with Store.create(tmp_path, Run("run", {}, {}), url) as store:
        store.add(make_episode(KEY))
    assert PASSWORD not in (tmp_path / LINK_NAME).read_text()
    with pytest.raises(StoreError, match="holds a benchmark already"):
        Store.create(tmp_path, Run("run", {}, {}), url)
    wrong = server.make_url("postgres", "another-secret")
    for place in (wrong, wrong.replace("another", "an@other"), wrong.replace("another", "an/other")):
        done = aiopslab("report", place, PGPASSWORD="")
        assert (done.returncode, done.stdout) == (2, "")
        assert "secret" not in done.stderr
        assert "The store cannot be opened" in done.stderr


def start(folder: Path, url: str, episodes: int) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", SCRIPT, str(folder), url, str(episodes)]
    env = {**os.environ, "PYTHONPATH": f"{ROOT / 'src'}{os.pathsep}{ROOT}"}
    pipe: Any = subprocess.PIPE
    return subprocess.Popen(command, cwd=ROOT, env=env, stdout=pipe, stderr=pipe, text=True)


def read_until(running: subprocess.Popen[str], episodes: int) -> None:
    assert running.stdout is not None
    for line in running.stdout:
        if int(line) >= episodes:
            return


@pytest.mark.parametrize("killed", ["runner", "server"])
def test_what_is_killed_is_resumed_and_every_episode_is_there_once(
    killed: str, tmp_path: Path, url: str, server: Server
) -> None:
    with start(tmp_path, url, 60) as running:
        read_until(running, 5)
        if killed == "runner":
            running.kill()
        else:
            server.kill()
            _, errors = running.communicate()
            assert running.returncode == 1
            assert f"aiopslab bench --resume --out {tmp_path}" in errors
            assert "Traceback" not in errors
            server.start()
    with Store.open(tmp_path) as store:
        before = store.list_episodes()
    assert 5 <= len(before) < 60
    status = run_fake(tmp_path, make_jobs(("a",), 60), url=url).status
    assert status.new == 60 - len(before)
    with Store.open(tmp_path) as store:
        assert len(store.list_episodes()) == 60
    assert len(list((tmp_path / "sessions").iterdir())) == 60


@pytest.mark.slow
def test_a_benchmark_on_the_command_line(tmp_path: Path, url: str) -> None:
    out = tmp_path / "bench"
    problem = "noop_detection_hotel_reservation-1"
    done = aiopslab("bench", problem, "--agent", "idle", "--store", url, "--out", str(out), PGPASSWORD="")
    assert done.returncode == 0, done.stderr
    done = aiopslab("bench", "--resume", "--agent", "idle,alarmist", problem, "--out", str(out))
    assert done.returncode == 0, done.stderr
    assert "[2/2] alarmist" in done.stderr
    assert not (out / "benchmark.sqlite").exists()
    for path in out.rglob("*.*"):
        assert PASSWORD not in path.read_text()
    done = aiopslab("verify", str(out), "--jobs", "1")
    assert "2 of 2 verdicts are the same" in done.stdout
