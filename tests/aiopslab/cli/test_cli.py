"""The command line, by the door a user uses."""

from __future__ import annotations

import re

import pytest

from tests.aiopslab.cli.command_line import aiopslab, call_aiopslab


def test_one_line_in_the_shell_gives_its_output_and_its_exit_code() -> None:
    done = aiopslab("shell", "-c", "hostname; echo oops >&2; exit 3", "--machine", "node-2")
    assert (done.stdout, done.stderr, done.returncode) == ("node-2\n", "oops\n", 3)


def test_a_person_types_lines_until_exit() -> None:
    done = aiopslab("shell", stdin="x=1; echo $((x+1))\nfalse\nexit\necho never\n")
    assert "2\n" in done.stdout
    assert "never" not in done.stdout
    assert done.returncode == 1


def test_a_shell_beside_an_application() -> None:
    line = "kubectl get deployments -n test-hotel-reservation --no-headers | grep -cE '1/1|2/2'"
    done = aiopslab("shell", "--app", "hotel-reservation", "-c", line)
    assert (done.returncode, done.stdout) == (0, "19\n")


@pytest.mark.parametrize("args", [("shell", "--machine", "moon"), ("nonsense",), ("demo", "--seed", "x")])
def test_a_wrong_call_is_told_with_a_way_out(args: tuple[str, ...]) -> None:
    done = call_aiopslab(*args)
    assert done.returncode == 2
    assert "node-1" in done.stderr or "--help" in done.stderr


@pytest.mark.parametrize(
    "command", ["list", "run", "play", "validate", "export", "shell", "demo", "new", "fidelity", "cleanup"]
)
def test_help_has_an_example(command: str) -> None:
    done = call_aiopslab(command, "--help")
    assert done.returncode == 0
    assert re.search(rf"Examples?:\n +aiopslab {command}", done.stdout)


def test_one_line_at_the_operators_host_of_a_fresh_cluster() -> None:
    done = aiopslab(
        "shell", "-c", "kubectl get nodes -o name | wc -l; kubectl get pod nosuch", "--nodes", "2"
    )
    assert (done.stdout, done.returncode) == ("2\n", 1)
    assert done.stderr == 'Error from server (NotFound): pods "nosuch" not found\n'


def test_a_reader_may_only_read() -> None:
    lines = "kubectl get ns default -o name\nkubectl delete ns default\n"
    done = aiopslab("shell", "--policy", "read-only", stdin=lines)
    assert done.stdout.startswith("namespace/default\nError from server (Forbidden): ")  # one terminal
    assert done.returncode == 1


def test_an_unknown_policy_is_told_with_the_known_ones() -> None:
    done = call_aiopslab("shell", "--policy", "king", "-c", "true")
    assert done.returncode == 2
    assert "read-only, operator, admin" in done.stderr
