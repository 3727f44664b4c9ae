"""The command line, by the door a user uses."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryFile

from aiopslab.cli import main

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
    """Run a command that ends at once in a fork of this process, which need not import everything first."""
    with TemporaryFile() as out, TemporaryFile() as err:
        if (pid := os.fork()) == 0:
            os.dup2(out.fileno(), 1)
            os.dup2(err.fileno(), 2)
            os.environ |= env
            _run_main(args)
        _, status = os.waitpid(pid, 0)
        out.seek(0)
        err.seek(0)
        return subprocess.CompletedProcess(
            args, os.waitstatus_to_exitcode(status), out.read().decode(), err.read().decode()
        )


def _run_main(args: tuple[str, ...]) -> None:
    """Run the command line as this process, and end it."""
    sys.argv = ["aiopslab", *args]
    sys.stdout, sys.stderr = os.fdopen(1, "w"), os.fdopen(2, "w")
    code: object = 70
    try:
        os.chdir(ROOT)
        main()
    except SystemExit as end:
        code = end.code or 0
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code if isinstance(code, int) else 1)
