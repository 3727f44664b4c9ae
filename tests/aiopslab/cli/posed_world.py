"""Commands about a problem, called in copies of one world in which it stands ready: preparing it is the costly part."""

from __future__ import annotations

import io
import signal
import sys
from contextlib import redirect_stderr, redirect_stdout
from typing import NamedTuple

import click

from aiopslab.cli import play, run
from aiopslab.cli.main import cli
from aiopslab.cli.problems import load_problems, prepare_problem
from aiopslab.orchestrator import PreparedProblem

PROGRESS: list[str] = []


class Called(NamedTuple):
    """How a command ended, and what it printed."""

    code: int
    out: str
    err: str


def posed(pid: str, seed: int = 3) -> PreparedProblem:
    """A problem that stands ready."""
    return prepare_problem(load_problems(), pid, seed, None, PROGRESS.append)


def list_progress(_world: PreparedProblem) -> list[str]:
    """The progress that was reported while the problem was prepared, in the copy's process."""
    return PROGRESS


def called(world: PreparedProblem, *args: str, stdin: str = "") -> Called:
    """Call a command as the shell would, except that its problem stands ready already."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    for module in (run, play):
        module.prepare_problem = lambda *_: world  # type: ignore[attr-defined]
    out, err = io.StringIO(), io.StringIO()
    sys.stdin = io.StringIO(stdin)
    with redirect_stdout(out), redirect_stderr(err):
        try:
            code = cli(args=list(args), standalone_mode=False) or 0
        except click.exceptions.Exit as error:
            code = error.exit_code
    return Called(int(code), out.getvalue(), err.getvalue())
