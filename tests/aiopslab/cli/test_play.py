"""A person at a problem: what is typed is done, answered and recorded as an agent's actions are."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from aiopslab.orchestrator import PreparedProblem
from simcloud.world.copies import Copy
from tests.aiopslab.cli.posed_world import Called, called, posed
from tests.aiopslab.cli.test_cli import aiopslab
from tests.aiopslab.cli.test_shell import Person

PROBLEM = "revoke_auth_mongodb-localization-1"


@pytest.fixture(scope="module")
def world() -> Iterator[Copy[PreparedProblem]]:
    with Copy.of(posed, PROBLEM) as copy:
        yield copy


def play(world: Copy[PreparedProblem], results: Path, *lines: str) -> Called:
    with world.branch() as copy:
        return copy.call(
            called, "play", PROBLEM, "--seed", "3", "--results", str(results), stdin="\n".join((*lines, ""))
        )


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
