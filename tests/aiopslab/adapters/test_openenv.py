"""OpenEnv's own server and client play an episode, and its validator accepts the running server."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator

import pytest

pytest.importorskip("openenv", reason="the extra openenv is not installed")

from aiopslab.adapters.openenv import IncidentAction, IncidentClient

NOOP = "noop_detection_hotel_reservation-1"


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    address = f"http://127.0.0.1:{port}"
    command = ["uvicorn", "--factory", "aiopslab.adapters.openenv:make_app", "--port", str(port)]
    environ = {**os.environ, "AIOPSLAB_PROBLEMS": NOOP}
    server = subprocess.Popen([sys.executable, "-m", *command, "--log-level", "warning"], env=environ)
    try:
        for _ in range(600):
            try:
                urllib.request.urlopen(f"{address}/health", timeout=5).close()
                break
            except OSError:
                assert server.poll() is None, "the server has ended"
                time.sleep(0.1)
        yield address
    finally:
        server.terminate()
        server.wait(30)


def test_a_client_plays_an_episode(url: str) -> None:
    with IncidentClient(base_url=url).sync() as client:
        first = client.reset(seed=3)
        assert "exec_shell(command: str" in first.observation.text
        look = client.step(IncidentAction(text='exec_shell("kubectl get nodes")'))
        assert "control-plane" in look.observation.text
        assert (look.reward, look.done) == (0.0, False)
        assert client.state().step_count == 1
        end = client.step(IncidentAction(text='submit("No")'))
        assert (end.reward, end.done) == (1.0, True)


def test_openenv_accepts_the_server(url: str) -> None:
    command = [sys.executable, "-m", "openenv.cli", "validate", "--url", url, "--json"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert json.loads(done.stdout)["passed"] is True
