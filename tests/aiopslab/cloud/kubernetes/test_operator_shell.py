"""Operators' lines: the embedded bash with a few tools and the kubectl of this host, without any other program."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from aiopslab.cloud.kubernetes.kubeconfig import Access, NoAccess
from aiopslab.cloud.kubernetes.operator_shell import KUBECTL, OperatorShell, reads_input

ACCESS = Access("https://127.0.0.1:1", "here", None, {}, "kind: Config\n")
PATIENCE_S = 60.0
FAKE = """#!/bin/sh
case "$1" in
    config) while read -r line; do echo "$line"; done < "$KUBECONFIG" ;;
    wait) echo $$ > "$2"; while :; do :; done ;;
    fail) echo refused >&2; exit 3 ;;
    *) while read -r line; do echo "$*: $line"; done ;;
esac
"""
"""A kubectl that needs nothing but the shell."""


@pytest.fixture
def shell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[OperatorShell]:
    kubectl = tmp_path / "kubectl"
    kubectl.write_text(FAKE)
    kubectl.chmod(0o755)
    monkeypatch.setenv(KUBECTL, str(kubectl))
    opened = OperatorShell(ACCESS)
    yield opened
    opened.close()


def is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def read_pid(path: Path) -> int:
    """Wait until a program has written its number."""
    deadline_s = time.monotonic() + PATIENCE_S
    while not (path.exists() and path.read_text()):
        assert time.monotonic() < deadline_s
        time.sleep(0.01)
    return int(path.read_text())


def test_kubectl_gets_the_kubeconfig_and_the_input(shell: OperatorShell) -> None:
    done = shell.run("kubectl apply -f - | sed 's/^.*: //'; kubectl config", PATIENCE_S, "a manifest\n")
    assert (done.status, done.stdout) == (0, b"a manifest\nkind: Config\n")


def test_kubectl_leaves_the_input_to_other_commands(shell: OperatorShell) -> None:
    done = shell.run("seq 2 | while read n; do kubectl get pods; echo $n; done", PATIENCE_S)
    assert done.stdout == b"1\n2\n"


@pytest.mark.parametrize(
    ("arguments", "reads"),
    [
        ("apply -f -", True),
        ("apply --filename=-", True),
        ("exec -i geo -- mongo", True),
        ("get pods", False),
        ("exec geo -- cat -", False),
    ],
)
def test_when_kubectl_reads_its_input(arguments: str, reads: bool) -> None:
    assert reads_input(arguments.split()) is reads


def test_status_and_messages_of_kubectl(shell: OperatorShell) -> None:
    done = shell.run("kubectl fail || echo failed with $?", PATIENCE_S)
    assert (done.stdout, done.stderr) == (b"failed with 3\n", b"refused\n")


@pytest.mark.parametrize("program", ["ssh", "python3", "rm", "curl"])
def test_other_programs_are_not_found(shell: OperatorShell, program: str) -> None:
    done = shell.run(program, PATIENCE_S)
    assert done.status == 127
    assert b"command not found" in done.stderr


def test_a_line_that_takes_too_long_is_killed_with_all_that_it_started(
    shell: OperatorShell, tmp_path: Path
) -> None:
    done = shell.run(f"echo begun; sleep 1000 | kubectl wait {tmp_path}/pid | cat", 1.0)
    assert (done.status, done.stdout) == (124, b"begun\n")
    assert not is_alive(read_pid(tmp_path / "pid"))


def test_a_job_in_the_background_goes_on_and_ends_with_the_shell(
    shell: OperatorShell, tmp_path: Path
) -> None:
    done = shell.run(f"{{ sleep 0.1 && kubectl wait {tmp_path}/pid; }} > log 2>&1 &", PATIENCE_S)
    assert done.status == 0
    assert not (tmp_path / "pid").exists()
    deadline_s = time.monotonic() + PATIENCE_S
    while not (tmp_path / "pid").exists():
        assert time.monotonic() < deadline_s
        shell.advance()
    pid = read_pid(tmp_path / "pid")
    assert is_alive(pid)
    shell.close()
    assert not is_alive(pid)


def test_without_kubectl_it_is_said_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(KUBECTL, raising=False)
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(NoAccess, match="kubectl is needed on this host"):
        OperatorShell(ACCESS)
