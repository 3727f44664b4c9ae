"""The examples of docs/serve.md run as they stand; the limits on the page are those of the program."""

from __future__ import annotations

import os
import re
import shutil
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from aiopslab.servers.http_api.app import ENDPOINTS

ROOT = Path(__file__).parents[4]
PAGE = (ROOT / "docs" / "serve.md").read_text()


def find_free_port() -> str:
    with socket.create_server(("127.0.0.1", 0)) as bound:
        return str(bound.getsockname()[1])


@pytest.mark.slow
def test_the_examples_run(tmp_path: Path) -> None:
    if not (shutil.which("curl") and shutil.which("openssl") and shutil.which("bash")):
        pytest.skip("needs curl, openssl and bash")
    (shell,) = re.findall(r"```sh\n(.*?)```", PAGE, re.DOTALL)
    (python,) = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    begin, _, end = shell.partition("kill ")
    programs = tmp_path / "bin"
    programs.mkdir()
    command = programs / "aiopslab"
    command.write_text(f'#!/bin/sh\nexec {sys.executable} -c "from aiopslab.cli import main; main()" "$@"\n')
    command.chmod(0o755)
    port = find_free_port()
    (tmp_path / "client.py").write_text(python.replace("8765", port))
    script = f"set -e\n{begin}{sys.executable} client.py\nkill {end}".replace("8765", port)
    done = subprocess.run(
        ["bash", "-c", script],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT / "src"), "PATH": f"{programs}:{os.environ['PATH']}"},
        capture_output=True,
        text=True,
        timeout=500,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert '"ended": true' in done.stdout
    assert done.stdout.rstrip().endswith("True True")
    assert len(list((tmp_path / "results").glob("*.json"))) == 2


def test_every_request_is_on_the_page() -> None:
    for endpoint in ENDPOINTS:
        path = re.sub(r":\w+\}", "}", endpoint.path)
        assert f"`{endpoint.method} {path}" in PAGE or path == "/openapi.json", endpoint
