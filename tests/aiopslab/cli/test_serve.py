"""``aiopslab serve`` from the command line: the address it prints, wrong options, and its end by a signal."""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import sys
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import pytest
from typer.testing import CliRunner

from aiopslab.cli.main import cli

ROOT = Path(__file__).parents[3]
COMMAND = [sys.executable, "-c", "from aiopslab.cli import main; main()", "serve", "--port", "0"]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_server_prints_its_address_and_ends_with_a_signal(tmp_path: Path, number: signal.Signals) -> None:
    server = subprocess.Popen(
        [*COMMAND, "--results", str(tmp_path / "results")],
        env={**os.environ, "PYTHONPATH": str(ROOT / "src")},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert server.stdout is not None
    try:
        url, token = re.fullmatch(
            r"(http://127\.0\.0\.1:\d+/)\?token=(\S+)\n", server.stdout.readline()
        ).groups()
        request = Request(f"{url}api/sessions", headers={"Authorization": f"Bearer {token}"})
        assert urlopen(request).read() == b"[]"
        with pytest.raises(HTTPError, match="401"):
            urlopen(f"{url}api/sessions")
    finally:
        server.send_signal(number)
        _, errors = server.communicate(timeout=120)
    assert server.returncode == 0, errors
    assert errors == f"Every session is recorded in {tmp_path / 'results'}.\n"


def test_wrong_options_are_explained(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    runner = CliRunner()
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        done = runner.invoke(cli, ["serve", "--port", port, "--results", str(tmp_path)])
        assert (done.exit_code, "Choose another --port" in done.output) == (2, True)
    monkeypatch.setenv("AIOPSLAB_SERVE_TOKEN", "short")
    done = runner.invoke(cli, ["serve", "--port", "0", "--results", str(tmp_path)])
    assert (done.exit_code, "shorter than 16" in done.output) == (2, True)
