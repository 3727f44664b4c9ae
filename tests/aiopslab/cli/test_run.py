"""Agents at work from the command line: what is shown, what is recorded, and with which code it ends."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from aiopslab.orchestrator import PreparedProblem
from simcloud.world.copies import Copy
from tests.aiopslab.cli.command_line import ROOT, call_aiopslab
from tests.aiopslab.cli.posed_world import Called, called

PROBLEM = "revoke_auth_mongodb-detection-1"

RAISES = "def get_action(state):\n    raise OSError('the agent fell over')\n"


@pytest.fixture(scope="module")
def world(copy_problem: Callable[[str], Copy[PreparedProblem]]) -> Copy[PreparedProblem]:
    return copy_problem(PROBLEM)


def run(world: Copy[PreparedProblem], results: Path, *args: str) -> Called:
    with world.branch() as copy:
        return copy.call(called, "run", PROBLEM, "--seed", "3", "--results", str(results), *args)


def record(results: Path) -> dict[str, Any]:
    (path,) = results.glob("*.json")
    found: dict[str, Any] = json.loads(path.read_text())
    return found


def test_transactions_are_offered_and_recorded(world: Copy[PreparedProblem], tmp_path: Path) -> None:
    script = tmp_path / "actions.txt"
    script.write_text(
        'begin_transaction()\nexec_shell("kubectl label ns default a=b")\nabort_transaction()\nsubmit("Yes")\n'
    )
    done = run(world, tmp_path / "results", "--agent", f"scripted:{script}", "--tnr")
    assert done.code == 0, done.err
    assert "Transaction 1 was aborted. The system is as it was before" in done.out
    (entry,) = record(tmp_path / "results")["transactions"]
    assert (entry["commands"], entry["left"]) == (["kubectl label ns default a=b"], [])


def test_the_status_line_of_a_person_does_not_answer_a_detection(
    world: Copy[PreparedProblem], tmp_path: Path
) -> None:
    with world.branch() as copy:
        done = copy.call(called, "play", PROBLEM, "--results", str(tmp_path), stdin="quit\n")
    assert ", 0 s into the session]" in done.out
    assert "severity" not in done.out


def test_steps_evaluation_and_record_are_shown(world: Copy[PreparedProblem], tmp_path: Path) -> None:
    script = tmp_path / "actions.txt"
    script.write_text('exec_shell("kubectl get ns -o name | head -1")\nsubmit("Yes")\n')
    done = run(world, tmp_path / "results", "--agent", f"scripted:{script}")
    assert done.code == 0, done.err
    assert "exec_shell('kubectl get ns -o name | head -1')\n              namespace/default\n" in done.out
    assert "Correct" in done.out
    kept = record(tmp_path / "results")
    assert str(next((tmp_path / "results").glob("*.json"))) in done.out
    assert (kept["agent"], kept["problem_id"], kept["seed"]) == ("scripted", PROBLEM, 3)
    assert kept["results"]["success"] is True


@pytest.mark.parametrize("how", [(), ("--verbose",)])
def test_what_is_shown_has_no_secrets_and_does_not_steer_the_screen(
    world: Copy[PreparedProblem], tmp_path: Path, how: tuple[str, ...]
) -> None:
    script = tmp_path / "actions.txt"
    script.write_text(
        'exec_shell("tail -1 /root/.kube/config")\n'
        """exec_shell("printf 'a\\033[2Jb'")\n"""
        'exec_shell("echo my key is sk-0123456789abcdef0123")\nsubmit("Yes")\n'
    )
    done = run(world, tmp_path / "results", "--agent", f"scripted:{script}", *how)
    assert done.code == 0, done.err
    assert "client-key-data: [redacted]" in done.out
    assert "a\ufffd[2Jb" in done.out
    assert "my key is [redacted]" in done.out
    assert "sk-0123456789abcdef0123" not in done.out


def test_a_wrong_answer_is_no_failure_of_the_run(world: Copy[PreparedProblem], tmp_path: Path) -> None:
    done = run(world, tmp_path, "--agent", "noop", "--json")
    assert done.code == 0, done.err
    told = json.loads(done.out)
    assert (told["ending"], told["results"]["success"]) == ("submitted", False)
    assert Path(told["record"]).is_file()


SLOW_TO_LEARN = """
class Agent:
    def init_context(self, problem, instructions, actions):
        raise ValueError("too much to read")

    def get_action(self, state):
        return "submit()"
"""


def test_an_agent_that_cannot_be_told_its_problem_has_failed_and_not_we(
    world: Copy[PreparedProblem], tmp_path: Path
) -> None:
    (tmp_path / "own.py").write_text(SLOW_TO_LEARN)
    done = run(world, tmp_path / "results", "--agent", f"{tmp_path / 'own.py'}:Agent")
    assert done.code == 1
    assert "agent error: The agent Agent raised ValueError: too much to read" in done.out
    assert record(tmp_path / "results")["ending"] == "agent error"


TALKS = "def get_action(state):\n    print('I think aloud')\n    return 'submit(\"Yes\")'\n"


def test_what_an_agent_prints_does_not_stand_among_what_programs_read(
    world: Copy[PreparedProblem], tmp_path: Path
) -> None:
    (tmp_path / "own.py").write_text(TALKS)
    done = run(world, tmp_path / "results", "--agent", f"{tmp_path / 'own.py'}:get_action", "--json")
    assert json.loads(done.out)["results"]["success"] is True
    assert "I think aloud" in done.err


def test_text_is_shown_as_it_is_and_tables_without_blanks_at_the_end(
    world: Copy[PreparedProblem], tmp_path: Path
) -> None:
    script = tmp_path / "actions.txt"
    script.write_text('exec_shell("echo main.cpp:100:main [bold]")\nsubmit("Yes")\n')
    done = run(world, tmp_path / "results", "--agent", f"scripted:{script}", "-v")
    assert "\nmain.cpp:100:main [bold]\n" in done.out
    assert not [line for line in done.out.splitlines() if line.endswith(" ")]


@pytest.mark.parametrize(
    ("args", "way_out"),
    [
        (("--agent", "noop", "--results", "/proc/none"), "--results"),
        (("--agent", "llm", "--model", "some-model"), "OPENAI_API_KEY"),
        (("--agent", "noop", "--judge", "some-model"), "OPENAI_API_KEY"),
    ],
)
def test_what_cannot_end_well_does_not_begin(args: tuple[str, ...], way_out: str) -> None:
    done = call_aiopslab("run", PROBLEM, *args, OPENAI_API_KEY="", OPENAI_BASE_URL="")
    assert (done.returncode, done.stdout) == (2, "")
    assert way_out in done.stderr
    assert "cluster comes up" not in done.stderr


@pytest.mark.slow
def test_when_nobody_reads_any_more_the_session_is_interrupted_and_recorded(tmp_path: Path) -> None:
    script = tmp_path / "actions.txt"
    script.write_text('exec_shell("seq 1 100")\n' * 5 + 'submit("Yes")\n')
    command = [sys.executable, "-c", "from aiopslab.cli import main; main()", "run", PROBLEM, "--agent",
               f"scripted:{script}", "--results", str(tmp_path / "results"), "-v"]  # fmt: skip
    with subprocess.Popen(
        command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as running:
        assert running.stdout is not None
        running.stdout.close()
        assert running.stderr is not None
        told = running.stderr.read()
    assert running.returncode == 130
    assert "Traceback" not in told
    kept = record(tmp_path / "results")
    assert (kept["ending"], str(tmp_path / "results") in told) == ("interrupted", True)


def test_in_full_everything_is_shown(world: Copy[PreparedProblem], tmp_path: Path) -> None:
    script = tmp_path / "actions.txt"
    script.write_text('exec_shell("seq 1 100")\nsubmit("Yes")\n')
    done = run(world, tmp_path / "results", "--agent", f"scripted:{script}", "-v")
    assert "\n17\n18\n" in done.out
    assert "… 60 more lines" in done.out


def test_an_agent_that_raises_fails_the_run_and_leaves_a_record(
    world: Copy[PreparedProblem], tmp_path: Path
) -> None:
    own = tmp_path / "own.py"
    own.write_text(RAISES)
    done = run(world, tmp_path / "results", "--agent", f"{own}:get_action")
    assert done.code == 1
    assert "agent error" in done.out
    assert "the agent fell over" in done.out
    assert "Traceback" not in done.out + done.err
    assert record(tmp_path / "results")["ending"] == "agent error"


def test_a_step_limit_is_an_end_like_any_other(world: Copy[PreparedProblem], tmp_path: Path) -> None:
    script = tmp_path / "actions.txt"
    script.write_text('exec_shell("true")\n' * 3)
    done = run(world, tmp_path / "results", "--agent", f"scripted:{script}", "--max-steps", "2")
    assert done.code == 0
    assert "step limit" in done.out


@pytest.mark.parametrize(
    ("args", "told"),
    [
        (
            ("revoke_auth_mongodb-detction-1", "--agent", "noop"),
            "Did you mean revoke_auth_mongodb-detection-1",
        ),
        ((PROBLEM, "--agent", "nop"), "Did you mean 'noop'?"),
        ((PROBLEM, "--agent", "noop", "--policy", "king"), "Choose one of: read-only, operator, admin."),
        ((PROBLEM, "--agent", "noop", "--thinking", "soon"), "or 'wall', not 'soon'"),
        ((PROBLEM, "--agent", "noop", "--load", "nosuch.py"), "There is no file 'nosuch.py'"),
        ((PROBLEM,), "--agent"),
        ((PROBLEM, "--agent", "idle", "--tnr", "--undo", "magic"), "--undo takes one of inverse, copy"),
    ],
)
def test_a_wrong_call_costs_no_time_and_says_a_way_out(args: tuple[str, ...], told: str) -> None:
    done = call_aiopslab("run", *args)
    assert (done.returncode, done.stdout) == (2, "")
    assert told in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.slow
def test_an_interrupt_leaves_a_record(tmp_path: Path) -> None:
    own = tmp_path / "own.py"
    own.write_text(
        f"import time\ndef get_action(state):\n    open({str(tmp_path / 'asked')!r}, 'w')\n    time.sleep(600)\n"
    )
    code = "from aiopslab.cli import main; main()"
    args = ["run", PROBLEM, "--agent", f"{own}:get_action", "--results", str(tmp_path / "results")]
    process = subprocess.Popen(
        [sys.executable, "-c", code, *args], cwd=ROOT, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        env=os.environ,
    )  # fmt: skip
    deadline = time.monotonic() + 600
    while not (tmp_path / "asked").exists():
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < deadline
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=300)
    assert process.returncode == 130
    assert "Interrupted." in err
    assert "Traceback" not in err
    kept = record(tmp_path / "results")
    assert kept["ending"] == "interrupted"
    assert str(next((tmp_path / "results").glob("*.json"))) in err
