"""A cluster served by the command line, and genuine kubectls that talk to it."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest

CLIENTS = Path(sys.prefix) / "clients"
PATIENCE_S = 300.0
"""What takes so long hangs, on the slowest machine too; it is no measure of how fast anything is."""

CURRENT = "1.36.4"
NEW = (CURRENT, pytest.param("1.37.1", marks=pytest.mark.slow))
OLD = "1.20"


@dataclass(frozen=True)
class Result:
    """What a command printed and how it ended."""

    stdout: str
    stderr: str
    exit: int


@dataclass
class Served:
    """A running cluster. ``kubectl(...)`` runs one genuine client against it."""

    kubeconfig: Path
    home: Path
    version: str = CURRENT
    env: Mapping[str, str] = field(default_factory=dict)
    pid: int = 0
    """The server's process."""

    def kubectl(self, *arguments: str, stdin: str = "", env: Mapping[str, str] | None = None) -> Result:
        """One command line of kubectl."""
        return self.run([str(CLIENTS / f"kubectl-{self.version}"), *arguments], stdin, env)

    def run(self, argv: list[str], stdin: str = "", env: Mapping[str, str] | None = None) -> Result:
        """One process with the cluster's kubeconfig in its environment, and nothing of ours."""
        clean = {
            "PATH": os.environ["PATH"],
            "TZ": "UTC",
            "KUBECTL_EXTERNAL_DIFF": str(write_diff(self.home)),
            "HOME": str(self.home),
            "KUBECONFIG": str(self.kubeconfig),
            **self.env,
            **(env or {}),
        }
        done = subprocess.run(
            argv,
            input=stdin,
            env=clean,
            cwd=self.home,
            capture_output=True,
            text=True,
            timeout=PATIENCE_S,
            check=False,
        )
        return Result(done.stdout, done.stderr, done.returncode)

    def ok(self, *arguments: str, stdin: str = "") -> str:
        """What a command prints that must succeed."""
        result = self.kubectl(*arguments, stdin=stdin)
        assert result.exit == 0, f"kubectl {' '.join(arguments)}: {result.stderr}{result.stdout}"
        return result.stdout

    def until(self, wanted: Callable[[str], bool], *arguments: str) -> str:
        """What a command prints once it is what was waited for."""
        deadline = time.monotonic() + PATIENCE_S
        while not wanted(output := self.ok(*arguments)):
            assert time.monotonic() < deadline, output
        return output


def write_diff(folder: Path) -> Path:
    """The program with which a genuine kubectl shows differences, in a folder."""
    path = folder / "diff"
    if not path.exists():
        path.write_text(f'#!/bin/sh\nexec {sys.executable} -I {Path(__file__).with_name("diff.py")} "$@"\n')
        path.chmod(0o755)
    return path


@contextmanager
def cluster(folder: Path, *options: str, ends: bool = False) -> Iterator[Served]:
    """``aiopslab cluster up`` in a process of its own, until the block ends; with ``ends`` it ends by itself."""
    kubeconfig = folder / "kubeconfig"
    command = [
        sys.executable, "-c", "from aiopslab.cli import main; main()",
        "cluster", "up", "--kubeconfig", str(kubeconfig), *options,
    ]  # fmt: skip
    with (folder / "server.log").open("w") as log:
        server = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT)
    try:
        deadline = time.monotonic() + PATIENCE_S
        while not kubeconfig.exists():
            if server.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError(f"the cluster did not come up: {(folder / 'server.log').read_text()}")
            time.sleep(0.02)
        yield Served(kubeconfig, folder, pid=server.pid)
        if ends:
            server.wait(PATIENCE_S)
        else:
            assert server.poll() is None, f"the server ended: {(folder / 'server.log').read_text()}"
    finally:
        server.terminate()
        try:
            server.wait(PATIENCE_S)
        except subprocess.TimeoutExpired:
            server.kill()
            server.wait()
