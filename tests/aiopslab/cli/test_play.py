"""A person at a problem: what is typed is done, answered and recorded as an agent's actions are."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from aiopslab.benchmark import Store
from aiopslab.orchestrator import PreparedProblem
from simcloud.world.copies import Copy
from tests.aiopslab.cli.command_line import aiopslab
from tests.aiopslab.cli.posed_world import Called, called, list_progress
from tests.aiopslab.cli.test_shell import Person
from tests.aiopslab.orchestrator.models.endpoint import Answer, open_endpoint

PROBLEM = "revoke_auth_mongodb-localization-1"


@pytest.fixture(scope="module")
def world(copy_problem: Callable[[str], Copy[PreparedProblem]]) -> Copy[PreparedProblem]:
    return copy_problem(PROBLEM)


def play(world: Copy[PreparedProblem], results: Path, *lines: str, options: Sequence[str] = ()) -> Called:
    command = ("play", PROBLEM, "--seed", "3", "--results", str(results), *options)
    with world.branch() as copy:
        return copy.call(called, *command, stdin="\n".join((*lines, "")))


def record(results: Path) -> dict[str, Any]:
    (path,) = results.glob("*.json")
    found: dict[str, Any] = json.loads(path.read_text())
    return found


def test_a_person_looks_around_and_submits(world: Copy[PreparedProblem], tmp_path: Path) -> None:
    done = play(
        world,
        tmp_path,
        "kubectl get ns -o name | head -1",
        "get_logs test-hotel-reservation geo",
        "submit mongodb-geo",
    )
    assert done.code == 0, done.err
    assert "Namespace: test-hotel-reservation" in done.out
    assert "\nnamespace/default\n" in done.out
    assert "not authorized" in done.out
    kept = record(tmp_path)
    assert (kept["agent"], kept["solution"], kept["results"]["success"]) == ("human", ["mongodb-geo"], True)
    assert [step["api_name"] for step in kept["steps"]] == ["exec_shell", "get_logs", "submit"]


def test_help_history_and_the_problem_cost_no_step(world: Copy[PreparedProblem], tmp_path: Path) -> None:
    lines = ("help", "help get_logs", "help nonsense", "echo one", "history", "problem", "submit mongodb-geo")
    done = play(world, tmp_path, *lines)
    assert "get_logs(namespace: str, service: str)" in done.out
    assert "There is no action 'nonsense'. Available actions: get_logs," in done.out
    assert "exec_shell('echo one')" in done.out
    assert done.out.count("You are on call for hotel-reservation") == 2
    assert len(record(tmp_path)["steps"]) == 2


def test_an_answer_of_the_wrong_form_is_told_and_the_session_goes_on(
    world: Copy[PreparedProblem], tmp_path: Path
) -> None:
    done = play(world, tmp_path, "submit nobody-knows-this", "submit mongodb-geo")
    kept = record(tmp_path)
    assert kept["ending"] == "submitted"
    assert done.code == 0


@pytest.mark.parametrize(
    "lines", [("echo seen", "quit", "echo never"), ("echo seen",)], ids=["quit", "end of input"]
)
def test_who_leaves_leaves_a_record(
    world: Copy[PreparedProblem], tmp_path: Path, lines: tuple[str, ...]
) -> None:
    done = play(world, tmp_path, *lines)
    assert done.code == 0
    assert "How it ended: agent gone: You left without submitting an answer.\nRecord: " in done.out
    assert "never" not in done.out
    kept = record(tmp_path)
    assert (kept["ending"], len(kept["steps"])) == ("agent gone", 1)


def test_a_person_who_gives_up_sees_what_was_wrong(world: Copy[PreparedProblem], tmp_path: Path) -> None:
    done = play(world, tmp_path, "hint", "echo looking", "hint", "give  up", "echo never")
    assert done.code == 0, done.err
    assert "Hint 1 of 6: Look at what users do: search (100% failed or slow)." in done.out
    assert "How it ended: gave up.\nRecord: " in done.out
    assert "never" not in done.out
    told = [line.strip() for line in done.out.splitlines()]
    assert "An operator revokes a role that is still needed in a database of HotelReservation." in told
    assert "From the front door, follow frontend -> search -> geo -> mongodb-geo." in told
    assert "Then answer: mongodb-geo" in told
    assert "1 step changed nothing. You used 2 hints." in told
    assert not any(line.startswith("tokens") for line in told)
    kept = record(tmp_path)
    assert (kept["ending"], kept["results"]["success"]) == ("gave up", False)
    assert [(hint["number"], hint["at_s"] > 0) for hint in kept["agent_settings"]["hints"]] == [
        (1, False),
        (2, True),
    ]


@pytest.mark.parametrize(
    ("answer", "shown"),
    [
        (Answer("It is like a\n\x1b[2Jlibrary."), "  It is like a\n  \ufffd[2Jlibrary."),
        (Answer(status=400, error="no such thing"), "  small gave none: "),
    ],
)
def test_a_debrief_ends_with_an_analogy_if_a_model_is_given(
    world: Copy[PreparedProblem], tmp_path: Path, answer: Answer, shown: str
) -> None:
    with open_endpoint() as endpoint:
        endpoint.answers = [answer]
        done = play(world, tmp_path, "give up", options=("--model", f"small?base_url={endpoint.url}"))
    assert done.code == 0, done.err
    debrief, _, analogy = done.out.partition("\nAn analogy\n")
    assert "What was wrong" in debrief and shown in analogy
    system, user = endpoint.asked[-1].body["messages"]
    assert "analogy" in system["content"] and "revokes a role" in user["content"]


def test_hints_become_more_telling_and_end_with_the_answer(
    world: Copy[PreparedProblem], tmp_path: Path
) -> None:
    done = play(world, tmp_path, *["hint"] * 7, "quit")
    hints = [line for line in done.out.splitlines() if line.startswith("Hint ")]
    named = ["mongodb-geo" in hint for hint in hints]
    assert named == [False, False, False, True, False, True]
    assert hints[-1] == "Hint 6 of 6: The right answer: mongodb-geo."
    assert "There are no more hints." in done.out
    assert "What was wrong" not in done.out, "who comes back later is not told"


def test_the_plots_of_a_debrief_show_users_severity_and_steps(
    world: Copy[PreparedProblem], tmp_path: Path
) -> None:
    line = "kubectl -n test-hotel-reservation scale deploy/profile --replicas=0"
    done = play(world, tmp_path, line, "sleep 20", "submit mongodb-geo")
    rows = {row[:15].strip(): row[16:] for row in done.out.splitlines() if row.startswith("  ")}
    served, severity, steps = rows["users served"], rows["severity"], rows["your steps"]
    assert served[0] == "█", "the fault was injected about a minute before the session"
    assert "█" not in served[served.index(served[30]) + 40 :]
    assert severity.strip()[0] in "▆▇"
    assert steps.split() == ["1", "2", "s"]
    assert any(
        row.split()[0] == "1" and "[deployments/profile" in row for row in done.out.splitlines() if row
    )


def test_the_status_line_has_time_severity_and_users(world: Copy[PreparedProblem], tmp_path: Path) -> None:
    done = play(world, tmp_path, "sleep 10", "quit")
    shown = [line for line in done.out.splitlines() if "into the session" in line]
    assert len(shown) == 2
    assert ", 0 s into the session | severity 0.8" in shown[0]
    assert "of users' requests succeed" in shown[1]
    assert ", 15 s into the session" in shown[1]


def test_preparation_reports_how_far_it_is(world: Copy[PreparedProblem]) -> None:
    told = world.call(list_progress)
    assert "recording a baseline with users (60 of 120 simulated seconds)" in told
    assert "letting time pass before the session begins (30 of 60 simulated seconds)" in told
    assert "deploying hotel-reservation (19 of 19 Deployments are ready)" in told


def test_a_person_needs_a_terminal(tmp_path: Path) -> None:
    for command in (("run", PROBLEM), ("bench", PROBLEM, "--out", str(tmp_path / "bench"))):
        done = aiopslab(*command, "--agent", "human")
        assert (done.returncode, done.stdout) == (2, "")
        assert done.stderr.startswith("The agent human needs a terminal")
        assert len(done.stderr.splitlines()) == 1
    assert not (tmp_path / "bench").exists()
    done = aiopslab("run", PROBLEM, "--agent", "human", "--model", "gpt-5-mini", "--json")
    assert done.stderr == "The agent human is a person; leave out --model and --json.\n"


@pytest.mark.slow
def test_a_person_is_the_agent_of_a_run(tmp_path: Path) -> None:
    person = Person("run", PROBLEM, "--agent", "human", "--results", str(tmp_path), "--max-steps", "7")
    try:
        person.sees("step 1 of 7]")
        person.sees("# ")
        person.type("\x04")
        person.sees("Leave without an answer? [y/N] ")
        person.type("n\n")
        person.sees("# ")
        person.type("submit mongodb-geo\n")
        person.sees("What an expert would have done")
        assert person.left_with() == 0
    finally:
        person.close()
    kept = record(tmp_path)
    assert (kept["agent"], kept["results"]["success"]) == ("human", True)


@pytest.mark.slow
def test_a_person_is_an_agent_of_a_benchmark(tmp_path: Path) -> None:
    out = str(tmp_path / "bench")
    person = Person("bench", PROBLEM, "--agent", "human,noop", "--repeat", "2", "--out", out)
    try:
        person.sees("Session 1 of 2.")
        person.sees("# ")
        person.type("submit mongodb-geo\n")
        person.sees("Session 2 of 2.")
        person.sees("# ")
        person.type("quit\n")
        person.sees("1 of 4 episodes are stored")
        assert person.left_with() == 130
    finally:
        person.close()
    with Store.open(tmp_path / "bench") as store:
        (episode,) = store.list_episodes()
    assert (episode.agent, episode.success, episode.in_tokens) == ("human", True, 0)
    assert (tmp_path / "bench" / episode.record).exists()


@pytest.mark.slow
def test_control_c_ends_a_command_and_not_the_session(tmp_path: Path) -> None:
    person = Person("play", PROBLEM, "--results", str(tmp_path))
    try:
        person.sees("'quit' to leave.")
        person.sees("# ")
        person.type("echo half a li")
        person.sees("half a li")
        person.interrupt()
        person.sees("# ")
        person.type('exec_shell("while true; do sleep 1; done", 600)\n')  # seconds of work for the host
        person.sees("600)\r\n")
        person.interrupt()
        person.sees("# ")
        person.type("echo still here\n")
        person.sees("still here\r\nstill here")
        person.sees("# ")
        person.type("quit\n")
        person.sees("You left")
        assert person.left_with() == 0
    finally:
        person.close()
    assert [step["api_name"] for step in record(tmp_path)["steps"]] == ["exec_shell", "exec_shell"]


def test_an_unknown_problem_is_told_with_the_nearest() -> None:
    done = aiopslab("play", "revoke_auth_mongodb-localisation-1")
    assert done.returncode == 2
    assert PROBLEM in done.stderr
