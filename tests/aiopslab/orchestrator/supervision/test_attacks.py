"""Hostile agents, each run by ``aiopslab run``: none changes its verdict, all leave a record, and no process is left.

All of it holds for agents that are executed, and for those that a nursery forks, as ``aiopslab bench`` does.
"""

from __future__ import annotations

import json
import os
import shlex
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from functools import partial
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from aiopslab.agents import make_process, start_nursery
from aiopslab.cli import run
from aiopslab.orchestrator import Nursery, NurseryLink, PreparedProblem, list_records, read_record
from aiopslab.orchestrator.supervision import kernel
from simcloud.world.copies import Copy, CopyFailed
from tests.aiopslab.cli.posed_world import Called, called
from tests.aiopslab.orchestrator.test_subprocess_agent import ends

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="limits and namespaces are Linux'")

PROBLEM = "revoke_auth_mongodb-detection-1"
HOSTILE = Path(__file__).with_name("hostile_agents.py")


class Harness(NamedTuple):
    """A prepared problem, and the nursery that forks its agents; None if they are executed."""

    problem: Copy[PreparedProblem]
    nursery: Nursery | None

    def run(self, folder: Path, env: dict[str, str], *args: str) -> Called:
        """Run a command in a copy of the problem."""
        with self.problem.branch() as copy:
            link = self.nursery and NurseryLink(
                copy.pass_file(self.nursery.link.descriptor), self.nursery.link.pid
            )
            return copy.call(call, str(folder), env, link, *args)


@pytest.fixture(scope="module")
def prepared(copy_problem: Callable[[str], Copy[PreparedProblem]]) -> Copy[PreparedProblem]:
    return copy_problem(PROBLEM)


@pytest.fixture(scope="module", params=["executed", pytest.param("forked", marks=pytest.mark.slow)])
def world(request: pytest.FixtureRequest, prepared: Copy[PreparedProblem]) -> Iterator[Harness]:
    if request.param == "executed":
        yield Harness(prepared, None)
    elif (nursery := start_nursery()) is None:
        pytest.skip("this kernel cannot protect a nursery")
    else:
        yield Harness(prepared, nursery)
        assert nursery.is_alive
        nursery.close()


def call(
    world: PreparedProblem, folder: str, env: dict[str, str], nursery: NurseryLink | None, *args: str
) -> Called:
    """Run a command in a copy, as a harness whose process id is known."""
    run.make_process = partial(make_process, nursery=nursery)  # type: ignore[attr-defined]
    os.chdir(folder)
    Path("harness").write_text(str(os.getpid()))
    os.environ |= {"NOTES": f"{folder}/notes", "RECORDS": f"{folder}/results", **env}
    names = ("NOTES", "RECORDS", *env)
    return called(world, "run", PROBLEM, *args, *(word for name in names for word in ("--env", name)))


def attack(
    world: Harness, folder: Path, agent: str, *options: str, **env: str
) -> tuple[Called, dict[str, Any]]:
    """Run an agent in a copy; return how the command ended, and the record."""
    spec = agent if agent.startswith("cmd:") else f"{HOSTILE}:{agent}"
    done = world.run(folder, env, "--agent", spec, "--results", "results", *options)
    (path,) = list_records(folder / "results")
    return done, read_record(path)


def check_processes(folder: Path) -> None:
    """Check that the processes ended whose ids an agent has noted."""
    pids = [int(pid) for pid in (folder / "notes").read_text().split()]
    assert pids
    assert all(ends(pid) for pid in pids)


def found(record: dict[str, Any]) -> str:
    """What an agent has found, by its first answer."""
    return str(record["steps"][0]["response"])


needs_landlock = pytest.mark.skipif(
    sys.platform != "linux" or not kernel.can_restrict_signals(), reason="this kernel cannot restrict signals"
)


def check_wrong(done: Called, record: dict[str, Any]) -> None:
    """Check that a session ran to its end, and was judged as it deserved."""
    assert (done.code, record["ending"]) == (0, "submitted"), (done, record["why"])
    assert record["results"]["success"] is False


def test_nothing_of_a_world_is_in_the_process_of_an_agent(world: Harness, tmp_path: Path) -> None:
    done, record = attack(world, tmp_path, "SearchesHeap")
    check_wrong(done, record)
    assert found(record).startswith("Found: ([], [])")


def test_a_judge_cannot_be_replaced(world: Harness, tmp_path: Path) -> None:
    done, record = attack(world, tmp_path, "ReplacesJudge")
    check_wrong(done, record)
    assert "replaced" in found(record)


def test_nothing_on_the_side_of_an_agent_names_the_problem(world: Harness, tmp_path: Path) -> None:
    done, record = attack(world, tmp_path, "LooksForNames")
    check_wrong(done, record)
    assert "revoke" not in found(record)


def test_parents_can_neither_be_read_nor_traced(world: Harness, tmp_path: Path) -> None:
    done, record = attack(world, tmp_path, "ReadsParents")
    check_wrong(done, record)
    assert "revoke" not in found(record)
    assert found(record).count("refused: ") == 5
    if world.nursery is None:
        assert "'cmdline': 'aiopslab run'" in found(record)


def test_parents_cannot_be_traced(world: Harness, tmp_path: Path) -> None:
    done, record = attack(world, tmp_path, "TracesParents")
    check_wrong(done, record)
    assert found(record).startswith("Found: [-1, -1]")


@needs_landlock
def test_parents_cannot_be_killed(world: Harness, tmp_path: Path) -> None:
    done, record = attack(world, tmp_path, "KillsParents")
    check_wrong(done, record)
    assert found(record).startswith("Found: ['refused']")


@pytest.mark.parametrize("agent", ["LeavesProcesses", "NeverEndingThread"])
def test_no_process_stays(world: Harness, tmp_path: Path, agent: str) -> None:
    check_wrong(*attack(world, tmp_path, agent))
    check_processes(tmp_path)


def test_a_forged_record_is_not_the_record(world: Harness, tmp_path: Path) -> None:
    done, record = attack(world, tmp_path, "ForgesRecords")
    check_wrong(done, record)
    assert "forged" in found(record)
    assert "revoke" not in found(record)  # neither by the name nor by the content of the journal


@pytest.mark.slow(keep=3)
@pytest.mark.parametrize(
    ("agent", "ending", "why"),
    [
        ("close_files", "agent gone", "exited with code"),
        ("exit_at_once", "agent gone", "exited with code 0 before it answered"),
        ("speak_for_supervisor", "agent gone", "exited with code 0 before it answered"),
        ("exit_politely", "agent gone", "exited with code 0 before it answered"),
        ("recurse", "agent error", f"RecursionError: maximum recursion depth exceeded ({HOSTILE}, line"),
        ("take_memory", "agent error", f"MemoryError ({HOSTILE}, line"),
        ("fill_disk", "agent error", "OSError: [Errno 27] File too large"),
        ("start_many_processes", "agent gone", "had more than 40 processes and was ended"),
    ],
)  # fmt: skip
def test_a_failure_is_an_error_of_its_own_kind(
    world: Harness, tmp_path: Path, agent: str, ending: str, why: str
) -> None:
    limits = ("--limit", "memory_mb=512", "--limit", "file_mb=2", "--limit", "processes=40")
    done, record = attack(world, tmp_path, agent, *limits, BIG=str(tmp_path / "big"))
    assert (done.code, record["ending"]) == (1, ending)
    assert why in record["why"]
    assert (record["results"]["success"], record["results"]["error"]) == (None, ending)
    assert "Traceback" not in done.err
    if agent == "fill_disk":
        assert (tmp_path / "big").stat().st_size <= 2 * 1024 * 1024


def test_an_agent_that_stops_itself_times_out(world: Harness, tmp_path: Path) -> None:
    done, record = attack(world, tmp_path, "stop_itself", "--agent-timeout", "5")
    assert (done.code, record["ending"], record["results"]["success"]) == (1, "agent timed out", None)
    check_processes(tmp_path)


def test_a_giant_answer_costs_a_step(world: Harness, tmp_path: Path) -> None:
    done, record = attack(world, tmp_path, "answer_at_length")
    check_wrong(done, record)
    assert [step["valid"] for step in record["steps"]] == [False, True]


@pytest.mark.slow(keep=2)
@pytest.mark.parametrize(
    ("source", "ending", "why"),
    [
        ("while True: os.write(1, b'x' * 65536)", "agent error", "more than 2097152 bytes"),
        ("print('{]', flush=True); time.sleep(10000)", "agent error", "was expected"),
        ("[print(json.dumps({'action': 'submit(\"No\")'}), flush=True) for _ in range(1000)]; time.sleep(10000)",
         "submitted", ""),
        ("print(json.dumps({'ready': 'x', 'ended': True, 'success': True}), flush=True); time.sleep(10000)",
         "agent error", "was expected"),
        ("print(json.dumps({'error': 'ValueError: oh dear'}), flush=True); time.sleep(10000)",
         "agent error", "oh dear"),
        ("os.close(0); os.close(1); time.sleep(10000)", "agent gone", "closed its standard output"),
    ],
)  # fmt: skip
def test_programs_that_break_the_protocol(
    world: Harness, tmp_path: Path, source: str, ending: str, why: str
) -> None:
    code = f"import json, os, sys, time\n{source}"
    _, record = attack(world, tmp_path, f"cmd:{sys.executable} -c {shlex.quote(code)}")
    assert record["ending"] == ending
    assert why in record["why"]
    assert not record["results"]["success"]


@pytest.mark.slow(keep=1)
@pytest.mark.parametrize(
    ("number", "code", "ending"),
    [
        (signal.SIGINT, 130, "interrupted"),
        (signal.SIGTERM, 143, "interrupted"),
        (signal.SIGHUP, 129, "interrupted"),
        (signal.SIGKILL, None, "cut off"),
    ],
)
def test_signals_to_the_harness(
    world: Harness, tmp_path: Path, number: signal.Signals, code: int | None, ending: str
) -> None:
    notes = tmp_path / "notes"

    def send() -> None:
        while not notes.exists() or notes.read_text().count("\n") < 2:
            time.sleep(0.02)
        os.kill(int((tmp_path / "harness").read_text()), number)

    sender = threading.Thread(target=send)
    sender.start()
    try:
        done, record = attack(world, tmp_path, "wait")
    except CopyFailed:
        assert code is None
        check_processes(tmp_path)
        time.sleep(0.1)  # the supervisor has ended the agent, and writes the last line of the journal
        (path,) = list_records(tmp_path / "results")
        record = read_record(path)
    else:
        assert done.code == code
        check_processes(tmp_path)
    finally:
        sender.join()
    assert (record["ending"], record["problem_id"], record["agent"]) == (ending, PROBLEM, "wait")
    assert not record["results"].get("success")


def test_a_supervisor_that_is_killed_leaves_no_process(world: Harness, tmp_path: Path) -> None:
    notes = tmp_path / "notes"

    def kill() -> None:
        while not notes.exists() or notes.read_text().count("\n") < 2:
            time.sleep(0.02)
        agent = notes.read_text().split()[0]
        os.kill(int(Path(f"/proc/{agent}/stat").read_text().rpartition(")")[2].split()[1]), signal.SIGKILL)

    killer = threading.Thread(target=kill)
    killer.start()
    done, record = attack(world, tmp_path, "wait")
    killer.join()
    assert (done.code, record["ending"]) == (1, "agent gone")
    check_processes(tmp_path)


@pytest.mark.parametrize(
    ("args", "told"),
    [
        (("--agent", "cmd:./no-such-program"), "There is no program './no-such-program'"),
        (("--agent", f"{HOSTILE}:no_such_agent"), "has no 'no_such_agent'"),
        (("--agent", "noop", "--limit", "memory=5"), "--limit takes NAME=NUMBER"),
        (("--agent", "noop", "--isolate", "--endpoint", "somewhere"), "HOST:PORT"),
    ],
)
def test_what_cannot_start_is_reported_before_a_world_is_prepared(
    world: Harness, tmp_path: Path, args: tuple[str, ...], told: str
) -> None:
    done = world.run(tmp_path, {}, *args, "--results", "results")
    assert (done.code, done.out) == (2, "")
    assert told in done.err
    assert list_records(tmp_path / "results") == []


def isolated(world: Harness, folder: Path, agent: str, *options: str, **env: str) -> dict[str, Any]:
    """Run an isolated agent; return its record. Skips the test where the host allows no namespaces."""
    (folder / "results").mkdir()
    args = ("--agent", f"{HOSTILE}:{agent}", "--results", "results", "--isolate", *options)
    done = world.run(folder, env, *args)
    if "cannot be isolated on this host" in done.err:
        pytest.skip(done.err)
    (path,) = list_records(folder / "results")
    check_wrong(done, record := read_record(path))
    return record


def test_an_isolated_agent_sees_no_records(world: Harness, tmp_path: Path) -> None:
    record = isolated(world, tmp_path, "ForgesRecords")
    assert found(record).startswith("Found: ([], '', 'Read-only file system')")


def test_an_isolated_agent_sees_no_other_processes(world: Harness, tmp_path: Path) -> None:
    record = isolated(world, tmp_path, "ListsProcesses")
    assert found(record).startswith(("Found: (0,", "Found: (2,"))
    assert "revoke" not in found(record)


def test_an_isolated_agent_reaches_only_its_endpoints(world: Harness, tmp_path: Path) -> None:
    servers = [HTTPServer(("127.0.0.1", 0), Greeting) for _ in range(2)]
    for server in servers:
        threading.Thread(target=server.serve_forever, daemon=True).start()
    allowed, other = (f"127.0.0.1:{server.server_port}" for server in servers)
    record = isolated(world, tmp_path, "AsksNetwork", "--endpoint", allowed, ALLOWED=allowed, OTHER=other)
    for server in servers:
        server.shutdown()
        server.server_close()
    assert found(record).startswith("Found: ['hello', 'refused: HTTP Error 403: Forbidden']")


class Greeting(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b"hello")

    def log_message(self, *_: object) -> None:
        pass


def test_a_cut_off_session_is_shown(tmp_path: Path) -> None:
    draft = {
        "problem_id": PROBLEM,
        "agent": "wait",
        "seed": 3,
        "results": {},
        "simulated": {"began_s": 100.0},
    }
    step = {"response": "submit()", "observation": "done", "at_s": 5.0, "took_s": 1.5}
    journal = tmp_path / "unfinished-0123.jsonl"
    journal.write_text(f'{json.dumps({"step": step})}\n{json.dumps({"draft": draft})}\n{{"step": {{"resp')
    record = read_record(journal)
    assert (record["ending"], record["problem_id"], record["simulated"]["duration_s"]) == (
        "cut off",
        PROBLEM,
        6.5,
    )
    assert [turn["content"] for turn in record["trace"]] == ["submit()", "done"]
