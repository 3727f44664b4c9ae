"""The command line, by the door a user uses."""

from __future__ import annotations

import io
import os
import subprocess
import sys
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

from aiopslab.cli import main
from simcloud.world.copies import call_in_copy

ROOT = Path(__file__).parents[3]


def aiopslab(*args: str, stdin: str = "", **env: str) -> subprocess.CompletedProcess[str]:
    """Run a command in a process of its own."""
    command = [sys.executable, "-c", "from aiopslab.cli import main; main()", *args]
    return subprocess.run(
        command,
        input=stdin,
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
        cwd=ROOT,
        env={**os.environ, **env},
    )


def call_aiopslab(*args: str, **env: str) -> subprocess.CompletedProcess[str]:
    """Run a command that ends at once in a copy of this process, which need not import everything first."""
    return call_in_copy(_call_main, args, env)


def _call_main(args: tuple[str, ...], env: dict[str, str]) -> subprocess.CompletedProcess[str]:
    sys.argv = ["aiopslab", *args]
    os.environ |= env
    os.chdir(ROOT)
    out, err, code = io.StringIO(), io.StringIO(), 0
    with redirect_stdout(out), redirect_stderr(err):
        try:
            main()
        except SystemExit as end:
            code = int(end.code or 0)
    return subprocess.CompletedProcess(args, code, out.getvalue(), err.getvalue())
