"""Operators' lines on this host: with kubectl and a few tools, and without any other program."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from aiopslab.cloud.kubernetes.kubeconfig import Access, NoAccess
from aiopslab.cloud.kubernetes.operator_shell import KUBECTL, OperatorShell

ACCESS = Access("https://127.0.0.1:1", "here", None, {}, "kind: Config\n")
PATIENCE_S = 60.0


@pytest.fixture
def shell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[OperatorShell]:
    kubectl = tmp_path / "kubectl"
    kubectl.write_text('#!/bin/sh\nread line; echo "$KUBECONFIG: $line"\n')
    kubectl.chmod(0o755)
    monkeypatch.setenv(KUBECTL, str(kubectl))
    opened = OperatorShell(ACCESS)
    yield opened
    opened.close()


def test_kubectl_gets_the_kubeconfig_and_the_input(shell: OperatorShell) -> None:
    done = shell.run("kubectl apply -f - | sed 's/^.*: //'; cat $KUBECONFIG", PATIENCE_S, "a manifest\n")
    assert (done.status, done.stdout) == (0, b"a manifest\nkind: Config\n")


@pytest.mark.parametrize("program", ["ssh", "python3", "rm", "curl"])
def test_other_programs_are_not_found(shell: OperatorShell, program: str) -> None:
    done = shell.run(program, PATIENCE_S)
    assert done.status == 127
    assert b"command not found" in done.stderr


def test_a_line_that_takes_too_long_is_killed_with_all_that_it_started(shell: OperatorShell) -> None:
    done = shell.run("echo begun; sleep 1000 | cat", 1.0)
    assert (done.status, done.stdout) == (124, b"begun\n")


def test_without_kubectl_it_is_said_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(KUBECTL, raising=False)
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(NoAccess, match="kubectl is needed on this host"):
        OperatorShell(ACCESS)
